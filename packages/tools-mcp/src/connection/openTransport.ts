import { resolve } from "node:path";
import { isInside } from "@agent/internal";
import type { AuthProvider, Transport } from "@modelcontextprotocol/client";
import { splitCommandLine } from "../config/commandLine.js";
import { serverEnvironment } from "../config/environment.js";
import { isHttp, type ServerOptions, type StdioServerOptions } from "../config/options.js";
import type { ErrorLog } from "../stdio/errorLog.js";
import type { ProcessGuard } from "../stdio/guard.js";
import { StdioTransport } from "../stdio/transport.js";

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

/** A transport, and what is known about its end. */
export interface OpenTransport {
  readonly transport: Transport;
  /** Why the connection ended, in words; empty where the transport does not know. */
  endReason(): string;
  /** Resolves once nothing the server started is left, after the connection has ended. */
  gone(): Promise<void>;
}

/**
 * Makes the transport of a server. A program is started at once, so that it gets ready while the SDK is loaded. Rejects
 * if a variable the server needs is not set.
 */
export async function openTransport(server: ServerOptions, parts: TransportParts): Promise<OpenTransport> {
  if (!isHttp(server)) return stdioTransport(server, parts);
  const { httpTransport } = await import("./httpTransport.js");
  return httpTransport(server, parts);
}

function stdioTransport(server: StdioServerOptions, parts: TransportParts): OpenTransport {
  const [command = "", ...args] =
    server.args === undefined ? splitCommandLine(server.command) : [server.command, ...server.args];
  const environment = serverEnvironment(server.env);
  parts.secrets.push(...environment.secrets);
  const cwd = workingDirectory(server.cwd, parts.directory);
  const program = { command, args, cwd, env: environment.variables };
  const transport = new StdioTransport(program, parts.guard, parts.log);
  transport.launch();
  return { transport, endReason: () => transport.reason, gone: () => transport.close() };
}

/**
 * Where a server runs: in the directory of the config if the agent works in it. A config elsewhere, such as the
 * person's own, says nothing about the project.
 */
function workingDirectory(wanted: string | undefined, directory: string): string {
  if (wanted !== undefined) return resolve(directory, wanted);
  return isInside(directory, process.cwd()) ? directory : process.cwd();
}
