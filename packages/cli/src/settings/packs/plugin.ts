import { existsSync, readdirSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isRecord, quote } from "@agent/core/toolkit";
import { canonicalPath, isInside, quotePath, readRegularFileInside } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { PACK_KEYWORD } from "./entry.js";

/** The manifest of a folder in the format Agent Plugins 1.0.0. */
export const PLUGIN_FILE = "plugin.json";
const SCHEMAS = "https://agent-plugins.org/schemas/";
const SCHEMA = `${SCHEMAS}1.0.0/plugin.schema.json`;
const MCP_SCHEMA = `${SCHEMAS}1.0.0/mcp.schema.json`;
const MAX_BYTES = 1024 * 1024;
const NAME = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/;
const TEXT_FIELDS = ["version", "description", "homepage", "repository", "license"];
const KNOWN_FIELDS = ["$schema", "name", "author", "keywords", "extensions", ...TEXT_FIELDS];
/** Folders and files that the format allows besides the two kinds of content that it defines. */
const COMMON_ENTRIES = /^(?:plugin\.json|mcp\.json|skills|\.git.*|readme.*|license.*|changelog.*|notice.*)$/i;

export interface Plugin {
  readonly name: string;
  readonly version: string;
  readonly servers: PluginServers;
  /** Parts of the folder that have no effect, one line each. */
  readonly ignored: readonly string[];
}

/** MCP servers with their options in the config. */
export type PluginServers = Readonly<Record<string, PluginServer>>;

type PluginServer =
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
    };

/** Whether a folder is a plugin. A package with the keyword of packs is a pack, even with a plugin.json. */
export function isPluginFolder(folder: string): boolean {
  if (!existsSync(join(folder, PLUGIN_FILE))) return false;
  const schema = readObject(folder, PLUGIN_FILE)?.$schema;
  const keywords = existsSync(join(folder, "package.json"))
    ? readObject(folder, "package.json")?.keywords
    : undefined;
  if (Array.isArray(keywords) && keywords.includes(PACK_KEYWORD)) return false;
  return !existsSync(join(folder, "package.json")) || String(schema).startsWith(SCHEMAS);
}

/**
 * Reads a plugin. Throws for a manifest that the format refuses; anything else that is invalid is skipped and named.
 */
export function readPlugin(folder: string, data: string): Plugin {
  const place = quotePath(join(folder, PLUGIN_FILE));
  const manifest = readObject(folder, PLUGIN_FILE);
  if (manifest === undefined) throw new CliError(`${place} is not a JSON object of less than 1 MB.`);
  const { $schema: schema, name, version = "without a version" } = manifest;
  if (schema !== SCHEMA) {
    throw new CliError(
      `${place}: "$schema" must be ${quote(SCHEMA)}, got ${quote(String(schema))}. Only Agent Plugins 1.0.0 can be used.`,
    );
  }
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new CliError(
      `${place}: "name" must have 1 to 64 lower-case letters, digits, "-" and ".", and no two "-" or "." in a row.`,
    );
  }
  const wrong = TEXT_FIELDS.find(
    (field) => manifest[field] !== undefined && typeof manifest[field] !== "string",
  );
  if (wrong !== undefined) throw new CliError(`${place}: ${quote(wrong)} must be a string.`);
  checkAuthor(manifest, place);
  const unknown = Object.keys(manifest).filter((field) => !KNOWN_FIELDS.includes(field));
  const { servers, problems } = readServers(folder, data);
  return {
    name,
    version: String(version),
    servers,
    ignored: [
      ...unknown.map((field) => `the unknown field ${quote(field)} of plugin.json`),
      ...extensions(manifest.extensions),
      ...otherEntries(folder),
      ...problems,
    ],
  };
}

function checkAuthor({ author, keywords }: Record<string, unknown>, place: string): void {
  const isAuthor =
    author === undefined ||
    (isRecord(author) &&
      Object.entries(author).every(
        ([key, value]) => ["name", "email", "url"].includes(key) && typeof value === "string",
      ));
  if (!isAuthor) throw new CliError(`${place}: "author" must be an object with "name", "email" and "url".`);
  const isList = Array.isArray(keywords) && keywords.every((one) => typeof one === "string");
  if (keywords !== undefined && !isList)
    throw new CliError(`${place}: "keywords" must be an array of strings.`);
}

function extensions(value: unknown): string[] {
  if (value === undefined) return [];
  if (!isRecord(value)) return ['"extensions" of plugin.json, which is not an object'];
  return Object.keys(value).map((name) => `the extension ${quote(name)}`);
}

/** Folders that other programs use, such as `hooks`, `commands` and `agents`. */
function otherEntries(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => !COMMON_ENTRIES.test(name));
  const folders = names.filter((name) =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory(),
  );
  const isMeant = (name: string): boolean => /^(?:hooks|commands|agents)$|\./.test(name.replace(/^\./, ""));
  return folders.filter(isMeant).map((name) => `the folder ${quote(name)}`);
}

/**
 * The MCP servers that a folder declares in `mcp.json`, in the format of Agent Plugins 1.0.0. `data` is the directory
 * for their files. A server that the format refuses is skipped and named.
 */
export function readServers(
  folder: string,
  data: string,
): { readonly servers: PluginServers; readonly problems: readonly string[] } {
  if (!existsSync(join(folder, "mcp.json"))) return { servers: {}, problems: [] };
  const config = readObject(folder, "mcp.json");
  const { $schema: schema, mcpServers, ...rest } = config ?? {};
  if (schema !== MCP_SCHEMA || !isRecord(mcpServers) || Object.keys(rest).length > 0) {
    const problem = `mcp.json: it must have "$schema": ${quote(MCP_SCHEMA)} and "mcpServers", and nothing else`;
    return { servers: {}, problems: [problem] };
  }
  const servers: Record<string, PluginServer> = {};
  const problems: string[] = [];
  for (const [name, entry] of Object.entries(mcpServers)) {
    const server = isRecord(entry) ? readServer(entry, canonicalPath(folder), data) : "it is not an object";
    if (typeof server === "string") problems.push(`the MCP server ${quote(name)}: ${server}`);
    else servers[name] = server;
  }
  return { servers, problems };
}

/** A server for `agent mcp add`, or the problem with it. */
function readServer(entry: Record<string, unknown>, root: string, data: string): PluginServer | string {
  const { type, ...fields } = entry;
  // In the config such a text refers to a variable of the user, which may be a key.
  const variable = /\$\{(?!PLUGIN_ROOT\}|PLUGIN_DATA\})[^}]*\}/.exec(JSON.stringify(fields))?.[0];
  if (variable !== undefined) return `${variable} is not defined in a plugin`;
  if (type === "sse") return 'the transport "sse" cannot be used';
  const allowed = type === "stdio" ? ["command", "args", "env", "cwd"] : ["url", "headers"];
  const unknown = Object.keys(fields).find((field) => !allowed.includes(field));
  if (type !== "stdio" && type !== "streamable-http") return `there is no transport ${quote(String(type))}`;
  if (unknown !== undefined) return `the field ${quote(unknown)} is unknown`;
  return type === "stdio" ? commandServer(fields, root, data) : addressServer(fields);
}

function commandServer(
  { command, args = [], env = {}, cwd = "./" }: Record<string, unknown>,
  root: string,
  data: string,
): PluginServer | string {
  if (typeof command !== "string" || command === "") return '"command" is missing';
  if (!Array.isArray(args) || !args.every((one) => typeof one === "string"))
    return '"args" must be an array of strings';
  if (!isTexts(env)) return '"env" must be an object of strings';
  if (typeof cwd !== "string") return '"cwd" must be a string';
  if ("PLUGIN_ROOT" in env || "PLUGIN_DATA" in env) return "PLUGIN_ROOT and PLUGIN_DATA cannot be set";
  const filled = (text: string): string =>
    text.replace(/\$\{(PLUGIN_ROOT|PLUGIN_DATA)\}/g, (_, name) => (name === "PLUGIN_ROOT" ? root : data));
  const program = command.startsWith("./") ? resolve(root, command) : command;
  if (program === command ? /[/\\]/.test(command) : !isBelow(root, program)) {
    return `the command ${quote(command)} is neither a name nor a path in the plugin that starts with "./"`;
  }
  const directory = cwd.startsWith("./") ? resolve(root, cwd) : filled(cwd);
  if (!isAbsolute(directory) || !(isBelow(root, directory) || isBelow(data, directory))) {
    return `the directory ${quote(cwd)} is not in the plugin`;
  }
  const variables = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
  return {
    command: program,
    args: args.map(filled),
    cwd: directory,
    env: { ...variables, PLUGIN_ROOT: root, PLUGIN_DATA: data },
  };
}

function addressServer({ url, headers = {} }: Record<string, unknown>): PluginServer | string {
  const address = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (typeof url !== "string" || address === undefined) return '"url" is not an address';
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(address.hostname);
  const isSafe = address.protocol === "https:" || (address.protocol === "http:" && isLocal);
  if (!isSafe || address.username !== "" || address.hash !== "") {
    return `the address ${quote(url)} must start with https:// and have no user or fragment`;
  }
  return isTexts(headers) ? { url, headers } : '"headers" must be an object of strings';
}

function isTexts(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((one) => typeof one === "string");
}

/** Whether a path is in a folder, after following symlinks. */
function isBelow(folder: string, path: string): boolean {
  return isInside(folder, path) && isInside(canonicalPath(folder), canonicalPath(path));
}

function readObject(folder: string, name: string): Record<string, unknown> | undefined {
  const bytes = readRegularFileInside(folder, join(folder, name), MAX_BYTES);
  if (bytes === undefined || bytes.length >= MAX_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString().replace(/^\uFEFF/, ""));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** How a config names a folder: relative to the config, with a leading dot. */
export function configPath(configDirectory: string, folder: string): string {
  const local = relative(configDirectory, folder).split(sep).join("/");
  return /^\.\.?(?:\/|$)/.test(local) ? local : `./${local}`;
}
