import { join, relative, resolve } from "node:path";
import { findRepository, isInside } from "@agent/core/toolkit";
import type { AuthProvider } from "@modelcontextprotocol/client";
import { splitCommandLine } from "../config/commandLine.js";
import { serverEnvironment } from "../config/environment.js";
import { isHttp, type ServerOptions, type StdioServerOptions } from "../config/options.js";
import { HttpLink } from "../http/httpLink.js";
import { loadSdk } from "../loading.js";
import type { ErrorLog } from "../stdio/errorLog.js";
import type { ProcessGuard } from "../stdio/guard.js";
import { StdioClient } from "../stdio/stdioClient.js";
import { StdioTransport } from "../stdio/transport.js";
import type { ServerLink } from "./protocolClient.js";

export interface LinkParts {
  /** The name of the server in the config. */
  readonly name: string;
  readonly guard: ProcessGuard;
  readonly log: ErrorLog;
  /** The base of relative directories. */
  readonly directory: string;
  /** Where the agent works, if not in the working directory of the process. */
  readonly agentDirectory: string | undefined;
  /** Values that must not be shown are added to it. */
  readonly secrets: string[];
  /** Provides tokens for the requests to a server on HTTP. */
  readonly auth: AuthProvider | undefined;
}

/**
 * Opens the transport to a server; a program is started. Rejects if a variable the server needs is not set, or the
 * program cannot be started.
 */
export async function openLink(server: ServerOptions, parts: LinkParts): Promise<ServerLink> {
  if (!isHttp(server)) return await stdioLink(server, parts);
  return new HttpLink(await loadSdk(), server, parts);
}

async function stdioLink(server: StdioServerOptions, parts: LinkParts): Promise<ServerLink> {
  const [command = "", ...args] =
    server.args === undefined ? splitCommandLine(server.command) : [server.command, ...server.args];
  const environment = serverEnvironment(server.env);
  parts.secrets.push(...environment.secrets);
  const cwd = workingDirectory(server.cwd, parts);
  const program = { command, args, cwd, env: environment.variables };
  const transport = new StdioTransport(program, parts.guard, parts.log);
  await transport.start();
  return {
    connect: (request, signal) => StdioClient.connect(transport, request, signal),
    endReason: () => transport.reason,
    close: () => transport.close(),
  };
}

/**
 * The working directory of a server: the directory of the config if the agent works in it. A config elsewhere, such as
 * the user's own, is unrelated to the project: what it names is not taken from there. An agent with its own directory has
 * its own servers in the corresponding places.
 */
function workingDirectory(
  wanted: string | undefined,
  { directory, agentDirectory }: Pick<LinkParts, "directory" | "agentDirectory">,
): string {
  const cwd = process.cwd();
  if (!isInside(directory, cwd))
    return wanted === undefined ? (agentDirectory ?? cwd) : resolve(directory, wanted);
  const base = agentDirectory === undefined ? directory : counterpart(directory, cwd, agentDirectory);
  return resolve(base, wanted ?? ".");
}

/** Where a directory above `cwd` is in the work tree in which `own` corresponds to `cwd`; `own` if it is not in the tree. */
function counterpart(directory: string, cwd: string, own: string): string {
  const place = resolve(own, relative(cwd, directory));
  const tree = findRepository(join(own, "file"))?.worktree ?? own;
  return isInside(tree, place) ? place : own;
}
