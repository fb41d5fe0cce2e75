import { typedSchema } from "@agent/core";
import { invalidArgument, packOptions, quote } from "@agent/core/toolkit";

export const PACK_NAME = "@agent/tools-mcp";

/** The options of every server, local or remote. */
interface CommonServerOptions {
  /**
   * The tools that are enabled without being named in the config's `enable`: their names on the server, or `true` for
   * all. Default: none.
   */
  readonly enable?: true | readonly string[];
  /** Tools that you know to be read-only. They run in parallel and stay enabled under `--read-only`. */
  readonly readOnly?: readonly string[];
  /** Milliseconds a call may take without progress. Default 60,000. */
  readonly timeoutMs?: number;
  /** Milliseconds the start may take. Default 15,000. */
  readonly startTimeoutMs?: number;
  /** Milliseconds listing the tools may take. Default 10,000. */
  readonly listTimeoutMs?: number;
}

/** A local program that communicates over its standard input and output. */
export interface StdioServerOptions extends CommonServerOptions {
  /** The program. Without `args` it is split like a command line: `npx -y some-server --flag`. */
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * The environment besides a few harmless variables (`PATH`, `HOME`, `LANG`, …): names to pass on, or names with
   * values in which `${NAME}` refers to a variable of the agent's own environment.
   */
  readonly env?: readonly string[] | Readonly<Record<string, string>>;
  /**
   * The working directory, relative to the config. Default: the directory of the config, or the agent's own if it works
   * elsewhere.
   */
  readonly cwd?: string;
}

/** How to get a token for a server that needs a login. Most servers need none of these. */
export interface OAuthOptions {
  /** The id of a client that you registered. Default: a client metadata document, or dynamic registration. */
  readonly clientId?: string;
  /** The environment variable with the secret of that client. */
  readonly clientSecretVariable?: string;
  /** An https URL of your client metadata document. */
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
  /** The port of the redirect URL. Default: any free one. */
  readonly callbackPort?: number;
}

/** A server reached over HTTP. */
export interface HttpServerOptions extends CommonServerOptions {
  readonly url: string;
  /** Sent with every request. `${NAME}` refers to a variable of the agent's environment. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly oauth?: OAuthOptions;
}

export type ServerOptions = StdioServerOptions | HttpServerOptions;

/** The pack's options. */
export interface McpOptions {
  readonly servers?: Readonly<Record<string, ServerOptions>>;
  /** The lock file with the approved tools. Default: `mcp.lock.json` next to the config. */
  readonly lockFile?: string;
  /** The file with logins. Default: `agent/mcp-logins.json` in the user's configuration directory. */
  readonly loginFile?: string;
  /**
   * The share of the model's context that tool schemas may fill; above it the model searches for tools instead of
   * seeing all of them. Default 0.1.
   */
  readonly maxSchemaShare?: number;
}

const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}$/;

/** The default of `startTimeoutMs`. */
export const DEFAULT_START_MS = 15_000;

const TEXT = { type: "string", minLength: 1 };
const NAMES = { type: "array", items: TEXT };
const TEXT_MAP = { type: "object", additionalProperties: { type: "string" } };
const MILLISECONDS = { type: "number", exclusiveMinimum: 0 };

const COMMON = {
  enable: { anyOf: [{ const: true }, NAMES] },
  readOnly: NAMES,
  timeoutMs: MILLISECONDS,
  startTimeoutMs: MILLISECONDS,
  listTimeoutMs: MILLISECONDS,
};
const STDIO = {
  command: TEXT,
  args: { type: "array", items: { type: "string" } },
  env: { anyOf: [NAMES, TEXT_MAP] },
  cwd: TEXT,
  ...COMMON,
};
const OAUTH = {
  clientId: TEXT,
  clientSecretVariable: TEXT,
  clientMetadataUrl: TEXT,
  scope: TEXT,
  callbackPort: { type: "integer", minimum: 1, maximum: 65_535 },
};
const HTTP = {
  url: TEXT,
  headers: TEXT_MAP,
  oauth: { type: "object", properties: OAUTH, additionalProperties: false },
  ...COMMON,
};
const PROPERTIES = {
  servers: {
    type: "object",
    additionalProperties: {
      type: "object",
      if: { required: ["url"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: HTTP, additionalProperties: false },
      else: { properties: STDIO, additionalProperties: false },
    },
  },
  lockFile: TEXT,
  loginFile: TEXT,
  maxSchemaShare: { type: "number", exclusiveMinimum: 0, maximum: 1 },
};

export const OPTIONS = typedSchema<McpOptions>({ type: "object", properties: PROPERTIES });

/** Checks the options of the config without a pack. Throws for anything unknown or mistyped, naming the server. */
export function checkedOptions(given: unknown): McpOptions {
  const options = packOptions<McpOptions>(PACK_NAME, given, PROPERTIES);
  checkServers(options);
  return options;
}

/** Checks what the schema of the options cannot express: the names of servers, and how they are reached. */
export function checkServers({ servers = {} }: McpOptions): void {
  for (const [name, server] of Object.entries(servers)) {
    if (!SERVER_NAME.test(name)) {
      throw new Error(
        `${PACK_NAME}: the server name ${quote(name)} must be 1 to 32 letters, digits, "-" or single "_", and begin with a letter or digit.`,
      );
    }
    if (isHttp(server)) checkUrl(name, server.url);
    else if (server.command === undefined) {
      throw new Error(`${PACK_NAME}: servers.${name} needs a "command" to start or a "url" to reach.`);
    }
  }
}

/** Throws unless this is a name and a description of a server. */
export function checkServerOptions(name: string, server: unknown): asserts server is ServerOptions {
  checkedOptions({ servers: { [name]: server } });
}

function checkUrl(name: string, text: string): void {
  const where = `${PACK_NAME}: servers.${name}.url`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw invalidArgument(where, "an http or https address", text);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error(`${where} holds a password. Put it into "headers" as a variable: "Bearer \${NAME}".`);
  }
}

export function isHttp(server: ServerOptions): server is HttpServerOptions {
  return "url" in server && server.url !== undefined;
}
