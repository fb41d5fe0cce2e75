import { isHttp, type ServerOptions } from "../config/options.js";
import type { LockedEra } from "../lock/lock.js";
import { LoginProvider } from "../oauth/provider.js";
import { ErrorLog } from "../stdio/errorLog.js";
import type { ConnectionHost } from "./connectionHost.js";
import { openTransport } from "./openTransport.js";
import type { Session } from "./session.js";

const START_MS = 15_000;

export interface OpenServerRequest {
  readonly name: string;
  readonly options: ServerOptions;
  readonly era: LockedEra;
  readonly host: ConnectionHost;
  /** Aborts when the agent ends. */
  readonly ended: AbortSignal;
  /** What has to be done with the session before it can be used, within the time a start may take. */
  readonly prepare: (session: Session, signal: AbortSignal) => Promise<void>;
  readonly onToolsChanged: (session: Session) => void;
  /** Called once if the open connection ends; `gone` resolves when nothing that the server started is left. */
  readonly onClose: (gone: Promise<void>) => void;
}

/** Starts a server and connects to it. Rejects with the reason in words; nothing of the server is left then. */
export async function openServer(request: OpenServerRequest): Promise<Session> {
  const { name, options, era, host, ended, prepare, onToolsChanged, onClose } = request;
  const { guard, logins, directory, ask, redact, secrets } = host;
  ended.throwIfAborted();
  const log = new ErrorLog(redact);
  const auth = isHttp(options) ? new LoginProvider(name, options.url, logins, secrets) : undefined;
  const timer = AbortSignal.timeout(START_MS);
  const signal = AbortSignal.any([timer, ended]);
  const { transport, endReason, gone } = await openTransport(options, {
    guard,
    log,
    directory,
    secrets,
    auth,
  });
  let session: Session | undefined;
  transport.onclose = () => {
    if (session !== undefined) onClose(gone());
  };
  try {
    // Loaded while the program starts: the SDK takes longer to load than the agent itself.
    const { Session } = await import("./session.js");
    const changed = (): void => void (session && onToolsChanged(session));
    session = await Session.open(
      { server: name, transport, endReason, era, ask, onToolsChanged: changed },
      signal,
    );
    await prepare(session, signal);
    return session;
  } catch (error) {
    session = undefined;
    await transport.close();
    if (timer.aborted) throw new Error(`it did not start within ${START_MS} ms.${tail(log)}`);
    throw endReason() === "" ? error : new Error(endReason());
  }
}

function tail(log: ErrorLog): string {
  const text = log.tail();
  return text === "" ? "" : `\nIts standard error ends with:\n${text}`;
}
