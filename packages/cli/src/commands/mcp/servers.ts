import { dirname } from "node:path";
import { didYouMean } from "@agent/internal";
import type { McpOptions, ServerOptions } from "@agent/tools-mcp";
import type * as Manage from "@agent/tools-mcp/manage";
import { trustedDirectories } from "../../assembly/packs/trustedDirectories.js";
import { CliError } from "../../process/errors.js";
import { configFile, newConfigFile } from "../../settings/config/editConfig.js";
import type { SettingsFlags } from "../../settings/flags.js";
import { loadSettings } from "../../settings/loadSettings.js";
import { loadOptional } from "../optionalPackage.js";

export const PACK = "@agent/tools-mcp";

export interface McpFlags extends SettingsFlags {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** The servers of the config, and the data needed to manage them. */
export interface ConfiguredServers {
  readonly manage: typeof Manage;
  readonly options: McpOptions;
  readonly servers: Readonly<Record<string, ServerOptions>>;
  /** Where the config is, and with it the lock. */
  readonly directory: string;
  readonly lockFile: string;
  readonly host: Manage.ConnectionHost;
}

export async function configuredServers(flags: SettingsFlags): Promise<ConfiguredServers> {
  const { settings, projectFile } = await loadSettings(flags);
  const pack = settings.packs.find(({ name }) => name === PACK);
  const trusted = trustedDirectories(pack?.source?.file, projectFile);
  return await withPack(pack?.options, pack?.source ? dirname(pack.source.file) : process.cwd(), trusted);
}

async function withPack(
  given: unknown,
  directory: string,
  trusted: readonly string[],
): Promise<ConfiguredServers> {
  const manage = await loadOptional<typeof Manage>("agent mcp", `${PACK}/manage`, trusted);
  const options = manage.checkedOptions(given);
  return {
    manage,
    options,
    servers: options.servers ?? {},
    directory,
    lockFile: manage.lockPath(options, directory),
    host: manage.createConnectionHost(options, directory, undefined),
  };
}

/** The servers of one writable config file, which may not exist yet. */
export interface EditableServers extends ConfiguredServers {
  readonly file: string;
}

/** The project's config, or with `user` the user's own. */
export async function editableServers(flags: SettingsFlags, user: boolean): Promise<EditableServers> {
  const { settings, projectFile } = await loadSettings(flags);
  const found = user ? configFile("", true) : (projectFile ?? configFile(process.cwd(), false));
  const file = found ?? newConfigFile(process.cwd(), user);
  const pack = settings.packs.find(({ name, source }) => name === PACK && source?.file === file);
  const trusted = trustedDirectories(pack?.source?.file, projectFile);
  return { file, ...(await withPack(pack?.options, dirname(file), trusted)) };
}

/** The approved state of a server. A server may be named `constructor`: only the lock's own entries count. */
export function lockedServer({ servers }: Manage.Lock, name: string): Manage.LockedServer | undefined {
  return Object.hasOwn(servers, name) ? servers[name] : undefined;
}

/** The servers of a command: the named one, or all. Throws for a name that is not in the config. */
export function selectServers(
  servers: Readonly<Record<string, ServerOptions>>,
  name: string | undefined,
): [name: string, server: ServerOptions][] {
  return name === undefined ? Object.entries(servers) : [[name, namedServer(servers, name)]];
}

/** A server of the config. Throws for a name that is not in the config. */
export function namedServer(servers: Readonly<Record<string, ServerOptions>>, name: string): ServerOptions {
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server !== undefined) return server;
  const hint = didYouMean(name, Object.keys(servers));
  throw new CliError(`the config has no MCP server "${name}" among the options of ${PACK}. ${hint}`);
}
