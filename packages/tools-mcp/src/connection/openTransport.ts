import { resolve } from "node:path";
import { isInside } from "@agent/internal";
import {
  type AuthProvider,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { splitCommandLine } from "../config/commandLine.js";
import { expand, serverEnvironment } from "../config/environment.js";
import {
  type HttpServerOptions,
  isHttp,
  type ServerOptions,
  type StdioServerOptions,
} from "../config/options.js";
import type { ErrorLog } from "../stdio/errorLog.js";
import type { ProcessGuard } from "../stdio/guard.js";
import { StdioTransport } from "../stdio/transport.js";
import { boundedFetch } from "./boundedFetch.js";

const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 2,
};

export interface TransportParts {
  readonly guard: ProcessGuard;
  readonly log: ErrorLog;
  /** Where relative directories start. */
  readonly directory: string;
  /** What must not be shown is added to it. */
  readonly secrets: string[];
  /** Gives tokens to the requests to a server on HTTP. */
  readonly auth: AuthProvider | undefined;
}

/** A transport, and why its connection ended in words, where the transport knows. */
export interface OpenTransport {
  readonly transport: Transport;
  endReason(): string;
}

/** Makes the transport of a server; nothing is started yet. Throws if a variable it needs is not set. */
export function openTransport(server: ServerOptions, parts: TransportParts): OpenTransport {
  return isHttp(server) ? httpTransport(server, parts) : stdioTransport(server, parts);
}

function stdioTransport(server: StdioServerOptions, parts: TransportParts): OpenTransport {
  const [command = "", ...args] =
    server.args === undefined ? splitCommandLine(server.command) : [server.command, ...server.args];
  const environment = serverEnvironment(server.env);
  parts.secrets.push(...environment.secrets);
  const cwd = workingDirectory(server.cwd, parts.directory);
  const program = { command, args, cwd, env: environment.variables };
  const transport = new StdioTransport(program, parts.guard, parts.log);
  return { transport, endReason: () => transport.reason };
}

/**
 * Where a server runs: in the directory of the config if the agent works in it. A config elsewhere, such as the
 * person's own, says nothing about the project.
 */
function workingDirectory(wanted: string | undefined, directory: string): string {
  if (wanted !== undefined) return resolve(directory, wanted);
  return isInside(directory, process.cwd()) ? directory : process.cwd();
}

function httpTransport({ url, headers = {} }: HttpServerOptions, parts: TransportParts): OpenTransport {
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, expand(text, process.env, parts.secrets)]),
  );
  // Someone who sends a token of their own wants no login in its place.
  const hasOwnToken = Object.keys(sent).some((name) => name.toLowerCase() === "authorization");
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: sent },
    fetch: boundedFetch(),
    reconnectionOptions: RECONNECTION,
    ...(parts.auth && !hasOwnToken && { authProvider: parts.auth }),
  });
  return { transport, endReason: () => "" };
}
