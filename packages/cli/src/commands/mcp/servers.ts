import { dirname } from "node:path";
import { didYouMean } from "@agent/core/toolkit";
import type { McpOptions, ServerOptions } from "@agent/tools-mcp";
import type * as Manage from "@agent/tools-mcp/manage";
import { CliError } from "../../process/errors.js";
import type { SettingsFlags } from "../../settings/flags.js";
import { loadSettings } from "../../settings/loadSettings.js";
import { loadOptional } from "../optionalPackage.js";

const PACK = "@agent/tools-mcp";

export interface McpFlags extends SettingsFlags {
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly scope?: string;
}

/** The servers of the config, and what is needed to look after them. */
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
  const { settings } = await loadSettings(flags);
  const pack = settings.packs.find(({ name }) => name === PACK);
  const directory = pack?.source ? dirname(pack.source.file) : process.cwd();
  const manage = await loadOptional<typeof Manage>("agent mcp", `${PACK}/manage`, [directory]);
  const options = manage.checkedOptions(pack?.options);
  return {
    manage,
    options,
    servers: options.servers ?? {},
    directory,
    lockFile: manage.lockPath(options, directory),
    host: manage.createConnectionHost(options, directory, undefined),
  };
}

/** The servers a command is about: the named one, or all. Throws for a name that the config does not have. */
export function selectServers(
  servers: Readonly<Record<string, ServerOptions>>,
  name: string | undefined,
): [name: string, server: ServerOptions][] {
  if (name === undefined) return Object.entries(servers);
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server !== undefined) return [[name, server]];
  const hint = didYouMean(name, Object.keys(servers));
  throw new CliError(`the config has no MCP server "${name}" among the options of ${PACK}. ${hint}`);
}
