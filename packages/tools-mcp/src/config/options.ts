import {
  check,
  checkOptions,
  errorMessage,
  invalidArgument,
  type OptionChecks,
  quote,
  type ValueCheck,
} from "@agent/core/toolkit";

export const packName = "@agent/tools-mcp";

/** What every server may be given, however it is reached. */
interface CommonServerOptions {
  /** The tools that are on without being named in `enable`: their names on the server, or `true` for all. Default: none. */
  readonly enable?: true | readonly string[];
  /** Tools of which you know that they only read. They run side by side and stay on under `--read-only`. */
  readonly readOnly?: readonly string[];
  /** Milliseconds a call may take without a sign of progress. Default 60,000. */
  readonly timeoutMs?: number;
  /** Milliseconds its start may take. Default 15,000. */
  readonly startTimeoutMs?: number;
  /** Milliseconds it may take to list its tools. Default 10,000. */
  readonly listTimeoutMs?: number;
}

/** A server that is a program on this machine and speaks over its standard input and output. */
export interface StdioServerOptions extends CommonServerOptions {
  /** The program. Without `args` it is split like a command line: `npx -y some-server --flag`. */
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * The environment besides a few harmless variables (`PATH`, `HOME`, `LANG`, …): names to pass on, or names with
   * values in which `${NAME}` stands for a variable of the agent's own environment.
   */
  readonly env?: readonly string[] | Readonly<Record<string, string>>;
  /** Where it runs, from the directory of the config. Default: that directory, or the agent's own if it works elsewhere. */
  readonly cwd?: string;
}

/** How to get a token for a server that wants a login. Most servers need none of these. */
export interface OAuthOptions {
  /** The id of a client registered by hand. Default: a client metadata document, or registration by the server. */
  readonly clientId?: string;
  /** The environment variable with the secret of that client. */
  readonly clientSecretVariable?: string;
  /** An https address of a client metadata document of yours. */
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
  /** The port of the address the browser comes back to. Default: any free one. */
  readonly callbackPort?: number;
}

/** A server reached over HTTP. */
export interface HttpServerOptions extends CommonServerOptions {
  readonly url: string;
  /** Sent with every request. `${NAME}` stands for a variable of the agent's environment. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly oauth?: OAuthOptions;
}

export type ServerOptions = StdioServerOptions | HttpServerOptions;

/** The pack's options block. */
export interface McpOptions {
  readonly servers?: Readonly<Record<string, ServerOptions>>;
  /** The file with the tools that were agreed to. Default: `mcp.lock.json` beside the config. */
  readonly lockFile?: string;
  /** Where logins are kept. Default: `agent/mcp-logins.json` in the user's configuration directory. */
  readonly loginFile?: string;
  /**
   * The part of the model's context that tool schemas may fill; beyond it the model searches for tools instead of
   * seeing all of them. Default 0.1.
   */
  readonly maxSchemaShare?: number;
}

const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}$/;

/** The default of `startTimeoutMs`. */
export const DEFAULT_START_MS = 15_000;

// Checks instead of a schema: to compile one takes longer than all else that ten servers add to a start.
const checkFilled: ValueCheck = (name, value) => {
  if (typeof value !== "string" || value === "")
    throw invalidArgument(name, "a text that is not empty", value);
};
const checkTexts: ValueCheck = (name, value) => {
  if (!Array.isArray(value)) throw invalidArgument(name, "an array of texts", value);
  for (const [index, item] of value.entries()) check.text(`${name}[${index}]`, item);
};
const checkNames: ValueCheck = (name, value) => {
  checkTexts(name, value);
  for (const [index, item] of (value as string[]).entries()) checkFilled(`${name}[${index}]`, item);
};
const checkTextMap: ValueCheck = (name, value) => {
  check.object(name, value);
  for (const [key, item] of Object.entries(value as object)) check.text(`${name}.${key}`, item);
};
const checkEnable: ValueCheck = (name, value) => {
  if (value !== true && !Array.isArray(value))
    throw invalidArgument(name, "true or an array of names", value);
  if (value !== true) checkNames(name, value);
};
const checkEnv: ValueCheck = (name, value) => (Array.isArray(value) ? checkNames : checkTextMap)(name, value);
const checkPort: ValueCheck = (name, value) => {
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > 65_535) {
    throw invalidArgument(name, "a whole number from 1 to 65535", value);
  }
};
const checkShare: ValueCheck = (name, value) => {
  check.positive(name, value);
  if (Number(value) > 1) throw invalidArgument(name, "at most 1", value);
};

const COMMON: OptionChecks<CommonServerOptions> = {
  enable: checkEnable,
  readOnly: checkNames,
  timeoutMs: check.positive,
  startTimeoutMs: check.positive,
  listTimeoutMs: check.positive,
};
const STDIO: OptionChecks<StdioServerOptions> = {
  command: checkFilled,
  args: checkTexts,
  env: checkEnv,
  cwd: checkFilled,
  ...COMMON,
};
const OAUTH: OptionChecks<OAuthOptions> = {
  clientId: checkFilled,
  clientSecretVariable: checkFilled,
  clientMetadataUrl: checkFilled,
  scope: checkFilled,
  callbackPort: checkPort,
};
const HTTP: OptionChecks<HttpServerOptions> = {
  url: checkFilled,
  headers: checkTextMap,
  oauth: (name, value) => checkOptions(name, value as OAuthOptions, OAUTH, `${name}.`),
  ...COMMON,
};
const OPTIONS: OptionChecks<McpOptions> = {
  servers: (name, value) => {
    check.object(name, value);
    for (const [key, server] of Object.entries(value as object)) checkServer(`${name}.${key}`, key, server);
  },
  lockFile: checkFilled,
  loginFile: checkFilled,
  maxSchemaShare: checkShare,
};

/** Checks the options of the config. Throws on anything unknown or mistyped, naming the server. */
export function checkedOptions(options: unknown = {}): McpOptions {
  try {
    checkOptions("it", options as McpOptions, OPTIONS);
    return options as McpOptions;
  } catch (error) {
    throw new Error(`${packName}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Throws unless this is a name and a description of a server. */
export function checkServerOptions(name: string, server: unknown): asserts server is ServerOptions {
  checkedOptions({ servers: { [name]: server } });
}

function checkServer(where: string, name: string, server: unknown): void {
  if (!SERVER_NAME.test(name)) {
    throw new Error(
      `the server name ${quote(name)} must be 1 to 32 letters, digits, "-" or single "_", and begin with a letter or digit.`,
    );
  }
  check.object(where, server);
  const { url, command } = server as { readonly url?: unknown; readonly command?: unknown };
  if (url === undefined) {
    checkOptions(where, server as StdioServerOptions, STDIO, `${where}.`);
    if (command === undefined) throw new Error(`${where} needs a "command" to start or a "url" to reach.`);
    return;
  }
  checkOptions(where, server as HttpServerOptions, HTTP, `${where}.`);
  checkUrl(where, url as string);
}

function checkUrl(where: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw invalidArgument(`${where}.url`, "an http or https address", text);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error(`${where}.url holds a password. Put it into "headers" as a variable: "Bearer \${NAME}".`);
  }
}

export function isHttp(server: ServerOptions): server is HttpServerOptions {
  return "url" in server;
}
