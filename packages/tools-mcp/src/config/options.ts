import { invalidArgument, packOptions, quote } from "@agent/core/toolkit";

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

const positive = { type: "number", exclusiveMinimum: 0 };
const texts = { type: "array", items: { type: "string", minLength: 1 } };
const textMap = { type: "object", additionalProperties: { type: "string" } };
const common = {
  enable: { anyOf: [{ const: true }, texts] },
  readOnly: texts,
  timeoutMs: positive,
  startTimeoutMs: positive,
  listTimeoutMs: positive,
};
const stdioServer = {
  type: "object",
  properties: {
    command: { type: "string", minLength: 1 },
    args: { type: "array", items: { type: "string" } },
    env: { anyOf: [texts, textMap] },
    cwd: { type: "string", minLength: 1 },
    ...common,
  },
  additionalProperties: false,
};

const httpServer = {
  type: "object",
  properties: {
    url: { type: "string", minLength: 1 },
    headers: textMap,
    oauth: {
      type: "object",
      properties: {
        clientId: { type: "string", minLength: 1 },
        clientSecretVariable: { type: "string", minLength: 1 },
        clientMetadataUrl: { type: "string", minLength: 1 },
        scope: { type: "string", minLength: 1 },
        callbackPort: { type: "integer", minimum: 1, maximum: 65535 },
      },
      additionalProperties: false,
    },
    ...common,
  },
  additionalProperties: false,
};

// A condition, not alternatives: the message about a wrong option then names that option.
// biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
const server = { if: { type: "object", required: ["url"] }, then: httpServer, else: stdioServer };

// One schema for all servers: compiling one for each is most of what ten servers add to a start.
const OPTIONS = {
  servers: { type: "object", additionalProperties: server },
  lockFile: { type: "string", minLength: 1 },
  loginFile: { type: "string", minLength: 1 },
  maxSchemaShare: { type: "number", exclusiveMinimum: 0, maximum: 1 },
};

/** Checks the options of the config. Throws on anything unknown or mistyped, naming the server. */
export function checkedOptions(options: unknown): McpOptions {
  const checked = packOptions<McpOptions>(packName, options, OPTIONS);
  for (const [name, one] of Object.entries(checked.servers ?? {})) checkServer(name, one);
  return checked;
}

/** Throws unless this is a name and a description of a server. */
export function checkServerOptions(name: string, server: unknown): asserts server is ServerOptions {
  checkedOptions({ servers: { [name]: server } });
}

/** Checks what the schema cannot say in words that help. */
function checkServer(name: string, server: ServerOptions): void {
  if (!SERVER_NAME.test(name)) {
    throw new Error(
      `${packName}: the server name ${quote(name)} must be 1 to 32 letters, digits, "-" or single "_", and begin with a letter or digit.`,
    );
  }
  const where = `${packName}: server ${quote(name)}`;
  if (isHttp(server)) checkUrl(where, server.url);
  else if (server.command === undefined)
    throw new Error(`${where} needs a "command" to start or a "url" to reach.`);
}

function checkUrl(where: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    throw invalidArgument(`${where} url`, "an http or https address", text);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error(
      `${where}: the url holds a password. Put it into "headers" as a variable: "Bearer \${NAME}".`,
    );
  }
}

export function isHttp(server: ServerOptions): server is HttpServerOptions {
  return "url" in server;
}
