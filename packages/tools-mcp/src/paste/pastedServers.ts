import { errorMessage, isRecord, quote } from "@agent/core/toolkit";
import { parse, TomlError } from "smol-toml";
import { splitCommandLine } from "../config/commandLine.js";
import { checkServerOptions, type ServerOptions } from "../config/options.js";
import { readAddCommand } from "./addCommand.js";
import {
  assertNoSecretAddress,
  assertNoSecretArguments,
  isSecret,
  withoutSecretHeaders,
  withoutSecretVariables,
} from "./withoutSecrets.js";

/** A server that someone pasted, ready for a config. */
export interface PastedServer {
  readonly name: string;
  readonly options: ServerOptions;
  /** Variables that have to be set where the agent runs. */
  readonly variables: readonly string[];
  /** Values that were pasted for them; they are not written to a config. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Keys of the pasted block that have no meaning here. */
  readonly ignored: readonly string[];
}

/** Arguments besides the pasted text itself. */
export interface PasteOptions {
  readonly name?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The transport that another tool's command names. */
  readonly transport?: string | undefined;
}

/** The keys under which tools keep their servers: Claude, Cursor, Windsurf; VS Code; Zed; Codex; opencode. */
const GROUPS = ["mcpServers", "servers", "context_servers", "mcp_servers", "mcp"];
const KNOWN_KEYS = new Set([
  "command",
  "args",
  "env",
  "env_vars",
  "environment",
  "cwd",
  "url",
  "httpUrl",
  "serverUrl",
  "headers",
  "http_headers",
  "env_http_headers",
  "bearer_token_env_var",
  "type",
  "transport",
  "source",
  "enabled",
  "disabled",
  "name",
]);

/**
 * Parses what people paste: a command line, a URL, a block of another tool's settings, a link that installs a server in
 * an editor, or another tool's command to add one. Secrets in it are replaced with names of variables. Throws with the
 * problem and the accepted forms.
 */
export function readPasted(words: readonly string[], options: PasteOptions = {}): PastedServer[] {
  const [first = "", second] = words;
  const text = words.length === 1 ? withoutDecoration(first) : "";
  const block = blockIn(text);
  if (block !== undefined) return readBlock(block, options);
  const line = words.length === 1 ? splitCommandLine(oneLine(text)) : [...words];
  const added = readAddCommand(line);
  if (added) return readPasted(added.words, { ...added.options, ...defined(options) });
  if (line.length === 0) throw new Error("Nothing was pasted.");
  // `docs -- npx …` and `docs https://…`: the name first, as in other tools.
  if (second === "--") return readPasted(words.slice(2), { name: first, ...defined(options) });
  if (words.length === 2 && second !== undefined && isAddress(second)) {
    return readPasted([second], { name: first, ...defined(options) });
  }
  const [program = ""] = line;
  if (line.length === 1 && isAddress(program)) {
    return [toServer(options.name, { url: program, headers: options.headers, transport: options.transport })];
  }
  return [toServer(options.name, commandOf(line, options))];
}

/** The settings in a text; `undefined` if it contains none. */
function blockIn(text: string): unknown {
  if (/^\[(?!\s*[{"])[^\]\n]+\]/m.test(text) && text.includes("=")) return readToml(text);
  if (/^[{["]/.test(text) && /[}\]]$/.test(text)) return parseLooseJson(text);
  return readInstallLink(text);
}

function readToml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [problem = ""] = error.message.replace("Invalid TOML document: ", "").split("\n");
    throw new Error(`This is not valid TOML, line ${error.line}: ${problem}`);
  }
}

function commandOf(line: readonly string[], options: PasteOptions): Record<string, unknown> {
  assertNoShell(line);
  const { env, rest } = leadingVariables(line);
  const [command = "", ...args] = rest;
  if (/^@[\w.-]+\/[\w.-]+/.test(command)) {
    throw new Error(
      `${quote(command)} is a package, not a program. Paste the command that starts it: npx -y ${command}`,
    );
  }
  return { command, args, env: { ...env, ...options.env } };
}

function defined(options: PasteOptions): PasteOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function readBlock(block: unknown, options: PasteOptions): PastedServer[] {
  if (Array.isArray(block)) return block.flatMap((one) => readBlock(one, options));
  if (!isRecord(block)) throw new Error("The JSON holds no server.");
  if (isServer(block)) return [toServer(options.name ?? textOf(block.name), withOptions(block, options))];
  for (const key of GROUPS) {
    const group = block[key];
    if (isRecord(group)) return readBlock(group, options);
  }
  const servers = Object.entries(block).filter(([, value]) => isRecord(value) && isServer(value));
  if (servers.length === 0) {
    throw new Error(
      `The JSON holds no server: ${GROUPS.slice(0, 3).map(quote).join(", ")}, or an object with "command" or "url", would be understood.`,
    );
  }
  return servers.map(([name, value]) => {
    const own = servers.length === 1 ? (options.name ?? name) : name;
    return toServer(own, withOptions(isRecord(value) ? value : {}, options));
  });
}

function isServer(value: Record<string, unknown>): boolean {
  return ["command", "url", "httpUrl", "serverUrl"].some((key) => {
    const found = value[key];
    return typeof found === "string" || Array.isArray(found) || (isRecord(found) && "path" in found);
  });
}

function withOptions(raw: Record<string, unknown>, { env, headers }: PasteOptions): Record<string, unknown> {
  return {
    ...raw,
    ...(env && { env: { ...textMap(raw.env), ...env } }),
    ...(headers && { headers: { ...textMap(raw.headers), ...headers } }),
  };
}

function toServer(wanted: string | undefined, raw: Record<string, unknown>): PastedServer {
  const address = [raw.url, raw.httpUrl, raw.serverUrl].find((one) => typeof one === "string");
  const ignored = Object.keys(raw).filter((key) => !KNOWN_KEYS.has(key));
  const made = typeof address === "string" ? toHttp(wanted, address, raw) : toProgram(wanted, raw);
  checkServerOptions(made.name, made.options);
  return { ...made, ignored };
}

function toHttp(
  wanted: string | undefined,
  address: string,
  raw: Record<string, unknown>,
): Omit<PastedServer, "ignored"> {
  if (raw.type === "sse" || raw.transport === "sse") {
    throw new Error(
      `${quote(address)} is given as a server of the type "sse", which the protocol gave up. Most of them answer on streamable HTTP, too: paste their address, often the one that ends in /mcp.`,
    );
  }
  if (!isAddress(address)) throw new Error(`${quote(address)} is not an http or https address.`);
  const url = new URL(address);
  assertNoSecretAddress(url);
  const name = allowedName(wanted ?? nameOfAddress(url));
  const { value, variables, secrets } = withoutSecretHeaders(name, headersOf(raw));
  const options = { url: address, ...(Object.keys(value).length > 0 && { headers: value }) };
  return { name, options, variables, secrets };
}

function toProgram(wanted: string | undefined, raw: Record<string, unknown>): Omit<PastedServer, "ignored"> {
  // Zed has the program in a separate object, opencode has a list.
  const nested = isRecord(raw.command) ? { ...raw.command, command: raw.command.path } : raw;
  const list = Array.isArray(nested.command) ? nested.command.map(String) : [String(nested.command)];
  const args = [...list.slice(1), ...(Array.isArray(nested.args) ? nested.args.map(String) : [])];
  const [first = ""] = list;
  const [command = "", ...more] = args.length === 0 ? splitCommandLine(first) : [first];
  const { words, env } = isContainer(command)
    ? containerVariables([...more, ...args].map(withoutFolder))
    : { words: [...more, ...args].map(withoutFolder), env: {} };
  assertNoSecretArguments(words);
  const { value, variables, secrets } = withoutSecretVariables({
    ...env,
    ...namesOf(raw.env_vars),
    ...textMap(nested.env),
    ...textMap(raw.environment),
  });
  const hasEnv = Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
  const cwd = textOf(nested.cwd);
  const options = {
    command: withoutFolder(command),
    args: words,
    ...(hasEnv && { env: value }),
    ...(cwd !== undefined && { cwd: withoutFolder(cwd) }),
  };
  return { name: allowedName(wanted ?? nameOfCommand([command, ...words])), options, variables, secrets };
}

/** The headers of an entry, including those that Codex writes as names of variables. */
function headersOf(raw: Record<string, unknown>): Record<string, string> {
  const named = Object.entries(textMap(raw.env_http_headers)).map(([name, variable]) => [
    name,
    `\${${variable}}`,
  ]);
  const token = textOf(raw.bearer_token_env_var);
  return {
    ...textMap(raw.headers),
    ...textMap(raw.http_headers),
    ...Object.fromEntries(named),
    ...(token !== undefined && { Authorization: `Bearer \${${token}}` }),
  };
}

/** A list of names as variables to pass on. */
function namesOf(value: unknown): Record<string, string> {
  const names = Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  return Object.fromEntries(names.map((name) => [name, `\${${name}}`]));
}

/** Editors' variable for the project's directory, in which the agent runs anyway. */
function withoutFolder(word: string): string {
  return word.replace(/\$\{(?:workspaceFolder|workspaceRoot)\}/g, ".");
}

function textMap(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)]));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

// The buttons "Add to Cursor" and "Install in VS Code" of project pages.
const LINK = /^(?:cursor:|vscode(?:-insiders)?:|https:).*\b(?:mcp\/install|install-mcp)\/?\?/i;

/** The server in a link that installs it in an editor; undefined for any other text. */
function readInstallLink(text: string): Record<string, unknown> | undefined {
  if (!LINK.test(text) || !URL.canParse(text)) return undefined;
  const { search, searchParams } = new URL(text);
  const config = searchParams.get("config") ?? decodeURIComponent(search.slice(1));
  const json = config.startsWith("{") ? config : Buffer.from(config, "base64").toString("utf8");
  const block = parseLooseJson(json);
  if (!isRecord(block)) return undefined;
  const name = searchParams.get("name");
  return name === null ? block : { name, ...block };
}

const FENCE = /^```\w*\n([\s\S]*?)\n?```$/;
// Words that only a shell understands: operators anywhere, its own commands at the front.
const OPERATOR = /^(?:&&?|\|\|?|;|[<>]{1,2})$/;
const BUILTIN = /^(?:export|set|cd|source|alias)$/;

/** Removes what surrounds a text on a page: a fence, code quotes, a shell's prompt, a trailing comma. */
function withoutDecoration(text: string): string {
  const plain = text.trim();
  const [, inner = plain] =
    FENCE.exec(plain) ?? /^`([^`]+)`$/.exec(plain) ?? /^<(https?:[^<>]+)>$/.exec(plain) ?? [];
  return inner
    .trim()
    .replace(/^[$%] /, "")
    .replace(/,$/, "");
}

/** Joins a command of several lines. Throws for lines that are not a command. */
function oneLine(text: string): string {
  const joined = text.replace(/\\\r?\n\s*/g, " ");
  if (/\n/.test(joined)) {
    throw new Error("These lines are not understood. Paste one command line, an address, JSON or TOML.");
  }
  return joined;
}

/** Throws for words that only a shell understands: a server is started without one. */
function assertNoShell(words: readonly string[]): void {
  const found = words.find((word, index) => OPERATOR.test(word) || (index === 0 && BUILTIN.test(word)));
  if (found === undefined) return;
  throw new Error(`"${found}" needs a shell. Paste the command that starts the server alone.`);
}

/** Removes leading variables of a command: `KEY=value npx …` and `env KEY=value npx …`. */
function leadingVariables(words: readonly string[]): {
  readonly env: Readonly<Record<string, string>>;
  readonly rest: readonly string[];
} {
  const from = words[0] === "env" ? 1 : 0;
  const env: Record<string, string> = {};
  for (const [index, word] of words.slice(from).entries()) {
    const [, name, value = ""] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    if (name === undefined)
      return index === 0 ? { env, rest: words } : { env, rest: words.slice(from + index) };
    env[name] = value;
  }
  return { env: {}, rest: words };
}

const MAX_LENGTH = 32;
/** Words that do not identify a server. */
const EMPTY_WORDS = new Set([
  "mcp",
  "server",
  "api",
  "www",
  "app",
  "com",
  "dev",
  "io",
  "org",
  "net",
  "ai",
  "sh",
]);
/** Programs that start other programs: the server is named after the following word. */
const LAUNCHERS = new Set([
  "npx",
  "bunx",
  "pnpx",
  "uvx",
  "pipx",
  "node",
  "bun",
  "deno",
  "python",
  "python3",
  "uv",
  "pnpm",
  "yarn",
  "npm",
]);
/** Subcommands of launchers: the name of the server comes later. */
const VERBS = new Set(["run", "exec", "dlx", "x", "tool", "start"]);

/** Converts a pasted name to an allowed one: letters, digits, "-" and single "_". */
function allowedName(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/_{2,}/g, "_")
    .replace(/^[-_]+/, "")
    .slice(0, MAX_LENGTH)
    .replace(/[-_]+$/, "");
  return plain === "" ? "server" : plain;
}

/** A name for a program: `npx -y @modelcontextprotocol/server-filesystem .` is `filesystem`. */
function nameOfCommand(words: readonly string[]): string {
  const [program = "", ...rest] = words;
  const base = program.split(/[\\/]/).at(-1) ?? program;
  if (!LAUNCHERS.has(base) && !isContainer(base)) return fromWords(base);
  const named = rest.filter((word) => !word.startsWith("-") && !word.includes("=") && !VERBS.has(word));
  const subject = (isContainer(base) ? imageOf(rest) : named[0]) ?? base;
  // Without version, tag, directory and extension; the scope names the server if the rest is generic.
  const path = subject.replace(/^(@[^/]+\/[^@]+|[^@]+)@.*$/, "$1").split(/[\\/]/);
  const last = (path.at(-1) ?? base).replace(/:[^:]*$/, "").replace(/\.[cm]?[jt]s$|\.py$/, "");
  const [scope = ""] = path;
  return fromWords(scope.startsWith("@") && tellingWords(last).length === 0 ? scope : last);
}

/** A name for an address: `https://mcp.linear.app/mcp` is `linear`. */
function nameOfAddress(url: URL): string {
  const isNumber = /^[\d.:[\]]+$/.test(url.hostname);
  return isNumber || url.hostname === "localhost" ? `local-${url.port || "http"}` : fromWords(url.hostname);
}

function fromWords(text: string): string {
  const telling = tellingWords(text);
  return allowedName((telling.length > 0 ? telling : wordsOf(text)).join("-"));
}

function tellingWords(text: string): string[] {
  return wordsOf(text).filter((word) => !EMPTY_WORDS.has(word));
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}

/** Options of `docker run` that take a value in the next word. */
const WITH_VALUE =
  /^(?:-[evpwulmh]|--(?:env|volume|mount|publish|workdir|user|label|memory|hostname|name|network|net|entrypoint|platform|env-file|pull|add-host|cpus|gpus|tmpfs|dns))$/;

const ENGINES = new Set(["docker", "podman", "nerdctl"]);

function isContainer(program: string): boolean {
  return ENGINES.has(program.split(/[\\/]/).at(-1) ?? program);
}

/** The image of `run`: the first word that is neither an option nor an option's value. */
function imageOf(words: readonly string[]): string | undefined {
  const from = words.indexOf("run") + 1;
  for (let index = from; index < words.length; index++) {
    const word = words[index] ?? "";
    if (WITH_VALUE.test(word)) index++;
    else if (!word.startsWith("-")) return word;
  }
  return undefined;
}

/**
 * The variables that `-e` passes to a container. The engine's client needs them itself, and a secret among them must
 * not be an argument: `-e KEY=value` becomes `-e KEY`.
 */
function containerVariables(words: readonly string[]): {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  const env: Record<string, string> = {};
  const kept = words.map((word, index) => {
    const isValue = /^(?:-e|--env)$/.test(words[index - 1] ?? "");
    const [, flag = "", entry = ""] = isValue ? ["", "", word] : (/^(--env=)(.*)$/s.exec(word) ?? []);
    const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(entry) ?? [];
    if (name === undefined || (value !== undefined && !isSecret(name, value))) return word;
    env[name] = value ?? `\${${name}}`;
    return `${flag}${name}`;
  });
  return { words: kept, env };
}

// Matches a whole string, or what JSON in editors' settings has in addition: comments and trailing commas. An unclosed
// comment extends to the end: searching again from each of its starts would take minutes.
const EXTRA = /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)|,(?=\s*[}\]])/g;

/**
 * Parses JSON as people paste it: with comments and trailing commas, and also without the surrounding braces, as when
 * one entry was copied out of a file. Throws with the problem.
 */
function parseLooseJson(text: string): unknown {
  const strip = (from: string): string => from.replace(EXTRA, (_, string?: string) => string ?? "");
  const bare = strip(strip(text)).trim().replace(/,$/, "");
  try {
    return JSON.parse(bare.startsWith('"') ? `{${bare}}` : bare);
  } catch (error) {
    throw new Error(`This is not JSON: ${errorMessage(error)}`);
  }
}
