import { DEFAULT_START_MS, isHttp, type ServerOptions } from "../config/options.js";
import { examineTools } from "../lock/examine.js";
import type { LockedEra, LockedTool } from "../lock/lock.js";
import { LoginProvider } from "../oauth/provider.js";
import { ErrorLog } from "../stdio/errorLog.js";
import type { ConnectionHost } from "./connectionHost.js";
import { openLink } from "./serverLink.js";
import { ServerSession } from "./session.js";

interface OpenServerRequest {
  readonly name: string;
  readonly options: ServerOptions;
  readonly era: LockedEra;
  readonly host: ConnectionHost;
  /** Aborts when the agent is disposed of. */
  readonly ended: AbortSignal;
  /** Called with the server's tools: before its first use, and each time it reports a change. */
  readonly onTools: (tools: readonly LockedTool[]) => void;
  /** Called once if the open connection ends; `gone` resolves when all processes of the server have exited. */
  readonly onClose: (gone: Promise<void>) => void;
}

export interface OpenServer {
  readonly session: ServerSession;
  /** Handles changes of the tools that the server reports. */
  readonly tools: ToolWatch;
}

/** Starts a server and connects to it. Rejects with the reason; no process of the server is left then. */
export async function openServer(request: OpenServerRequest): Promise<OpenServer> {
  const { name, options, era, host, ended, onTools, onClose } = request;
  const { guard, logins, directory, agentDirectory, ask, redact, secrets } = host;
  ended.throwIfAborted();
  const log = new ErrorLog(redact);
  const auth = isHttp(options) ? new LoginProvider(name, options, logins, secrets) : undefined;
  const { startTimeoutMs = DEFAULT_START_MS, listTimeoutMs } = options;
  const timer = AbortSignal.timeout(startTimeoutMs);
  const signal = AbortSignal.any([timer, ended]);
  const link = await openLink(options, { name, guard, log, directory, agentDirectory, secrets, auth });
  let open: OpenServer | undefined;
  const readTools = async (from: ServerSession, within?: AbortSignal): Promise<void> =>
    onTools(examineTools(name, await from.listTools(within)).tools);
  try {
    const session = await ServerSession.open(
      link,
      {
        server: name,
        era,
        ask,
        listTimeoutMs,
        onToolsChanged: () => open?.tools.invalidate(),
        onClose: () => {
          open?.tools.dispose();
          if (open) onClose(link.close());
        },
      },
      signal,
    );
    open = { session, tools: new ToolWatch(() => readTools(session)) };
    await readTools(session, signal);
    return open;
  } catch (error) {
    open = undefined;
    await link.close();
    if (timer.aborted) throw new Error(`it did not start within ${startTimeoutMs} ms.${tail(log)}`);
    throw link.endReason() === "" ? error : new Error(link.endReason());
  }
}

function tail(log: ErrorLog): string {
  const text = log.tail();
  return text === "" ? "" : `\nIts standard error ends with:\n${text}`;
}

/**
 * How soon a change is checked if no call waits for it. A server that constantly reports changes is asked no more
 * often.
 */
const PAUSE_MS = 250;

/**
 * Follows a server's tool list changes. The tools are compared with the approved ones before the next call, so that no
 * call reaches a tool that the server has announced as changed.
 */
class ToolWatch {
  readonly #read: () => Promise<void>;
  #isStale = false;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `read` asks for the tools and compares them. */
  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** Called when the server reports that its tools changed. */
  invalidate(): void {
    this.#isStale = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // The next call reports a list that cannot be read, and reads it again.
      this.settled()?.catch(() => undefined);
    }, PAUSE_MS).unref();
  }

  /**
   * Resolves once every reported change was checked; `undefined` if there is none. Rejects if the tools cannot be read;
   * they are read again the next time.
   */
  settled(): Promise<void> | undefined {
    if (!this.#isStale) return this.#reading;
    this.#isStale = false;
    // The current read may have begun before the last change.
    const before = this.#reading?.catch(() => undefined) ?? Promise.resolve();
    const reading: Promise<void> = before.then(this.#read).then(
      () => this.#finish(reading),
      (error: unknown) => {
        this.#isStale = true;
        this.#finish(reading);
        throw error;
      },
    );
    this.#reading = reading;
    return reading;
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  #finish(reading: Promise<void>): void {
    if (this.#reading === reading) this.#reading = undefined;
  }
}
