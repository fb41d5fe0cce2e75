import { DEFAULT_START_MS, isHttp, type ServerOptions } from "../config/options.js";
import { examineTools } from "../lock/examine.js";
import type { LockedEra, LockedTool } from "../lock/lock.js";
import { LoginProvider } from "../oauth/provider.js";
import { ErrorLog } from "../stdio/errorLog.js";
import type { ConnectionHost } from "./connectionHost.js";
import { openLink } from "./serverLink.js";
import { Session } from "./session.js";
import { ToolWatch } from "./toolWatch.js";

export interface OpenServerRequest {
  readonly name: string;
  readonly options: ServerOptions;
  readonly era: LockedEra;
  readonly host: ConnectionHost;
  /** Aborts when the agent ends. */
  readonly ended: AbortSignal;
  /** Called with the tools the server has: before its first use, and each time it says that they changed. */
  readonly onTools: (tools: readonly LockedTool[]) => void;
  /** Called once if the open connection ends; `gone` resolves when nothing that the server started is left. */
  readonly onClose: (gone: Promise<void>) => void;
}

export interface OpenServer {
  readonly session: Session;
  /** Looks at changes of the tools that the server reports. */
  readonly tools: ToolWatch;
}

/** Starts a server and connects to it. Rejects with the reason; nothing of the server is left then. */
export async function openServer(request: OpenServerRequest): Promise<OpenServer> {
  const { name, options, era, host, ended, onTools, onClose } = request;
  const { guard, logins, directory, ask, redact, secrets } = host;
  ended.throwIfAborted();
  const log = new ErrorLog(redact);
  const auth = isHttp(options) ? new LoginProvider(name, options, logins, secrets) : undefined;
  const { startTimeoutMs = DEFAULT_START_MS, listTimeoutMs } = options;
  const timer = AbortSignal.timeout(startTimeoutMs);
  const signal = AbortSignal.any([timer, ended]);
  const link = await openLink(options, { name, guard, log, directory, secrets, auth });
  let open: OpenServer | undefined;
  const readTools = async (from: Session, within?: AbortSignal): Promise<void> =>
    onTools(examineTools(name, await from.listTools(within)).tools);
  try {
    const session = await Session.open(
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
