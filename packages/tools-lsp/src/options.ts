import { typedSchema } from "@agent/core";
import { LANGUAGES, type Language } from "./server/languages.js";

export const PACK_NAME = "@agent/tools-lsp";

/** Your own server, or changes to a known one. */
export interface ServerOptions {
  /** The program and its arguments: `["pyright-langserver", "--stdio"]`. */
  readonly command?: readonly string[];
  /** The files it is for: `[".zig"]`, or with the protocol's language id, `{ ".zig": "zig" }`. */
  readonly extensions?: readonly string[] | Readonly<Record<string, string>>;
  /** Files that mark the root of a project: `["build.zig"]`. */
  readonly markers?: readonly string[];
  /** Sent to the server when it starts. */
  readonly initializationOptions?: unknown;
  /** The server's configuration, by section: `{ python: { … } }`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Environment variables for the server. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface LspOptions {
  /** Only files inside this directory have servers. Default: the working directory. */
  readonly root?: string;
  /**
   * Servers by name. `false` turns a known one off; a text or an object describes one: `{ zig: { command: ["zls"],
   * extensions: [".zig"] } }`. Known: typescript, python, go, rust, c.
   */
  readonly servers?: Readonly<Record<string, boolean | string | ServerOptions>>;
  /** Whether new errors are added to the result of a call that writes files. Default: true. */
  readonly diagnostics?: boolean;
  /** Milliseconds that the result of such a call waits for its errors. Default: 1500. */
  readonly waitMs?: number;
  /** The maximum number of errors added to a result. Default: 10. */
  readonly maxErrors?: number;
  /** Milliseconds that a server has to start. Default: 30000. */
  readonly startMs?: number;
  /** Milliseconds that a server has to answer one of the tools. Default: 30000. */
  readonly requestMs?: number;
  /** Milliseconds without use after which a server is stopped. Default: ten minutes. */
  readonly idleMs?: number;
  /** The memory limit of a server with all its child processes, in megabytes. Default: 3072. */
  readonly memoryMb?: number;
  /** The maximum number of running servers. The least recently used one is stopped. Default: 4. */
  readonly maxServers?: number;
}

export type LspSettings = Required<Omit<LspOptions, "root" | "servers">>;

const DEFAULTS: LspSettings = {
  diagnostics: true,
  waitMs: 1500,
  maxErrors: 10,
  startMs: 30_000,
  requestMs: 30_000,
  idleMs: 600_000,
  memoryMb: 3072,
  maxServers: 4,
};

const TEXTS = { type: "array", items: { type: "string" } };
const TEXT_MAP = { type: "object", additionalProperties: { type: "string" } };
const MS = { type: "integer", minimum: 1, maximum: 2 ** 31 - 1 };

const SERVER = {
  type: "object",
  properties: {
    command: { ...TEXTS, minItems: 1 },
    extensions: { anyOf: [TEXTS, TEXT_MAP] },
    markers: TEXTS,
    initializationOptions: {},
    settings: { type: "object" },
    env: TEXT_MAP,
  },
  additionalProperties: false,
};

export const OPTIONS = typedSchema<LspOptions>({
  type: "object",
  properties: {
    root: { type: "string" },
    servers: {
      type: "object",
      additionalProperties: { anyOf: [{ type: "boolean" }, { type: "string", minLength: 1 }, SERVER] },
    },
    diagnostics: { type: "boolean" },
    waitMs: { ...MS, maximum: 600_000 },
    maxErrors: { type: "integer", minimum: 1, maximum: 100 },
    startMs: MS,
    requestMs: MS,
    idleMs: MS,
    memoryMb: { type: "integer", minimum: 64 },
    maxServers: { type: "integer", minimum: 1, maximum: 32 },
  },
});

export interface CheckedOptions {
  readonly root: string | undefined;
  readonly languages: readonly Language[];
  readonly settings: LspSettings;
}

/** The servers and settings of valid options. Throws for a server without a command or files. */
export function readServers({ root, servers = {}, ...rest }: LspOptions): CheckedOptions {
  const settings = { ...DEFAULTS, ...definedOf(rest) };
  const known = LANGUAGES.filter(({ name }) => servers[name] === undefined || servers[name] === true);
  const own = Object.entries(servers).flatMap(([name, server]) => {
    if (typeof server === "boolean") {
      if (server && !LANGUAGES.some((one) => one.name === name)) throw unknownServer(name);
      return [];
    }
    return [describedServer(name, typeof server === "string" ? { command: words(server) } : server)];
  });
  // A server of the options comes first: it may take over files of a known one.
  return { root, languages: [...own, ...known], settings };
}

function describedServer(name: string, server: ServerOptions): Language {
  const known = LANGUAGES.find((one) => one.name === name);
  const { command, extensions, markers, initializationOptions, settings, env } = server;
  const [program, ...args] = command ?? [];
  if (program === undefined && !known) throw incomplete(name, "command", '["my-server", "--stdio"]');
  if (extensions === undefined && !known) throw incomplete(name, "extensions", '[".xyz"]');
  const initialization = initializationOptions ?? known?.initialization;
  const sections = settings ?? known?.settings;
  return {
    name,
    extensions: extensions === undefined ? (known?.extensions ?? {}) : extensionMap(name, extensions),
    ...((markers ?? known?.markers) && { markers: markers ?? known?.markers ?? [] }),
    ...(known?.outermost && { outermost: true }),
    candidates: program === undefined ? (known?.candidates ?? []) : [{ program, args }],
    ...(initialization !== undefined && { initialization }),
    ...(sections && { settings: sections }),
    ...(env && { env }),
    hint: program === undefined ? (known?.hint ?? "") : `the program ${program}`,
  };
}

function extensionMap(
  name: string,
  extensions: readonly string[] | Readonly<Record<string, string>>,
): Record<string, string> {
  const pairs = Array.isArray(extensions)
    ? (extensions as readonly string[]).map((one) => [one, one.slice(1)] as const)
    : Object.entries(extensions);
  for (const [extension] of pairs) {
    if (!/^\.[^./\\]+$/.test(extension)) {
      throw new Error(
        `${PACK_NAME}: servers.${name}.extensions has ${JSON.stringify(extension)}. An extension begins with a dot: ".zig".`,
      );
    }
  }
  return Object.fromEntries(pairs.map(([extension, id]) => [extension.toLowerCase(), id]));
}

function words(command: string): string[] {
  return command.trim().split(/\s+/);
}

function unknownServer(name: string): Error {
  const names = LANGUAGES.map((one) => one.name).join(", ");
  return new Error(
    `${PACK_NAME}: servers.${name} is not a known server (${names}). Describe it: { command: […], extensions: […] }.`,
  );
}

function incomplete(name: string, option: string, example: string): Error {
  return new Error(`${PACK_NAME}: servers.${name} needs ${option}, such as ${example}.`);
}

function definedOf<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}
