import type { AuthProvider } from "@modelcontextprotocol/client";
import { DEFAULT_START_MS, type HttpServerOptions, isHttp, type ServerOptions } from "../config/options.js";
import type { ConnectionHost } from "../connection/connectionHost.js";
import { failureText } from "../connection/failureText.js";
import { openLink } from "../connection/serverLink.js";
import { ServerSession } from "../connection/session.js";
import { examineInstructions, examinePrompts, examineTools } from "../lock/examine.js";
import type { LockedEra, LockedServer } from "../lock/lock.js";
import { sourceHash } from "../lock/lockFile.js";
import { InteractiveLogin } from "../oauth/login.js";
import { LoginNeededError, LoginProvider } from "../oauth/provider.js";
import { ErrorLog } from "../stdio/errorLog.js";

/** A server's current offer, in the form in which it would be locked. */
export interface InspectedServer {
  readonly locked: LockedServer;
  /** Milliseconds from its start until the first answer, and for listing everything. */
  readonly startMs: number;
  readonly listMs: number;
}

export interface InspectOptions {
  readonly signal?: AbortSignal;
  readonly auth?: AuthProvider;
  /**
   * Milliseconds the start may take. Default: from its options, or 15,000. Use more if a program has to be downloaded
   * first.
   */
  readonly startMs?: number;
}

/**
 * Starts a server, lists everything it has and stops it. Rejects with an error message; with a `LoginNeededError` if
 * the user has to log in first.
 */
export async function inspectServer(
  name: string,
  server: ServerOptions,
  host: ConnectionHost,
  options: InspectOptions = {},
): Promise<InspectedServer> {
  const auth =
    options.auth ?? (isHttp(server) ? new LoginProvider(name, server, host.logins, host.secrets) : undefined);
  try {
    return await inspectIn(undefined, name, server, host, auth, options);
  } catch (error) {
    // Servers built on some SDKs exit if the first message is not the handshake.
    if (isHttp(server) || !(error instanceof EndedError)) throw readableError(error, host);
  }
  try {
    return await inspectIn({ kind: "legacy", version: "" }, name, server, host, auth, options);
  } catch (error) {
    throw readableError(error, host);
  }
}

/** The server exited while it was being asked. */
class EndedError extends Error {}

async function inspectIn(
  era: LockedEra | undefined,
  name: string,
  server: ServerOptions,
  host: ConnectionHost,
  auth: AuthProvider | undefined,
  { signal: caller, startMs = server.startTimeoutMs ?? DEFAULT_START_MS }: InspectOptions,
): Promise<InspectedServer> {
  const { guard, directory, agentDirectory, secrets, redact, ask } = host;
  const log = new ErrorLog(redact);
  const link = await openLink(server, { name, guard, log, directory, agentDirectory, secrets, auth });
  const timer = AbortSignal.timeout(startMs);
  // A login waits for a user, and has its own time limit.
  const signal = AbortSignal.any([
    ...(auth instanceof LoginProvider || !auth ? [timer] : []),
    ...(caller ? [caller] : []),
  ]);
  const started = performance.now();
  try {
    const ignore = (): void => undefined;
    const { listTimeoutMs } = server;
    const parts = { server: name, era, ask, listTimeoutMs, onToolsChanged: ignore, onClose: ignore };
    const session = await ServerSession.open(link, parts, signal);
    const opened = performance.now();
    const { tools, setAside } = examineTools(name, await session.listTools(caller));
    const prompts = examinePrompts(await session.listPrompts(caller).catch(() => []));
    const instructions = examineInstructions(session.instructions);
    const locked: LockedServer = {
      source: sourceHash(server),
      era: session.era,
      ...(session.info && { info: session.info }),
      tools,
      prompts,
      hasResources: session.hasResources,
      ...(instructions !== undefined && { instructions }),
      setAside,
    };
    return { locked, startMs: opened - started, listMs: performance.now() - opened };
  } catch (error) {
    const reason = link.endReason();
    if (timer.aborted) throw new Error(`It did not start within ${startMs} ms. ${log.tail()}`.trim());
    throw reason === "" ? error : new EndedError(reason);
  } finally {
    await link.close();
  }
}

function readableError(error: unknown, host: ConnectionHost): unknown {
  if (error instanceof LoginNeededError) return error;
  return new Error(failureText(error, host), { cause: error });
}

export interface LoginRequest {
  /** Shows or opens the URL where the user approves. */
  readonly openBrowser: (url: URL) => void | Promise<void>;
  /** More permissions than the server asks for. */
  readonly scope?: string;
  readonly signal: AbortSignal;
}

/** Logs a user in to a server, and verifies it by asking the server for its tools. */
export async function loginServer(
  name: string,
  server: HttpServerOptions,
  host: ConnectionHost,
  { openBrowser, scope, signal }: LoginRequest,
): Promise<InspectedServer> {
  const auth = new InteractiveLogin({
    url: server.url,
    oauth: server.oauth ?? {},
    store: host.logins,
    secrets: host.secrets,
    scope,
    openBrowser,
    signal,
  });
  try {
    return await inspectServer(name, server, host, { auth, signal });
  } catch (error) {
    throw error instanceof LoginNeededError ? new Error("the server still refuses the new login") : error;
  }
}
