import { orAborted, quote } from "@agent/core/toolkit";
import { isHttp, type ServerOptions } from "../config/options.js";
import { differsText } from "../lock/approval.js";
import type { LockedServer, LockedTool } from "../lock/lock.js";
import type { ConnectionHost } from "./connectionHost.js";
import { failureText } from "./failureText.js";
import { type OpenServer, openServer } from "./openServer.js";
import type { CallOptions, ServerSession, ToolAnswer } from "./session.js";

const DEFAULT_CALL_MS = 60_000;
/** The number of automatic restarts of a server that died, before it is left alone for a while. */
const MAX_RESTARTS = 1;
const REST_MS = 60_000;

/** The data a connection needs about a server. */
export interface ConnectedServer {
  readonly name: string;
  readonly options: ServerOptions;
  /** The approved state. May change while the server runs. */
  readonly approved: LockedServer;
  /** Called after each comparison with the tools that differ from the approved ones. */
  onDiffering(tools: readonly string[]): void;
}

/**
 * One server: started by its first call, compared with the lock, kept open, restarted once if it died. Calls of a tool
 * that differs from the approved one are refused.
 */
export class ServerConnection {
  readonly #server: ConnectedServer;
  readonly #host: ConnectionHost;
  readonly #ended = new AbortController();
  #opening: Promise<OpenServer> | undefined;
  /** What `#opening` has resolved to. */
  #opened: OpenServer | undefined;
  #deaths = 0;
  #diedAt = 0;
  /** The hashes of the server's last listed tools, by name. */
  #listed: ReadonlyMap<string, string> | undefined;
  /** Requests that wait for an answer. */
  #inFlight = 0;
  /** The running server is older than the approval. */
  #isOutdated = false;
  #closing: Promise<void> = Promise.resolve();

  constructor(server: ConnectedServer, host: ConnectionHost) {
    this.#server = server;
    this.#host = host;
  }

  /** The tools that differ from the approved ones, as far as known: only a running server can be asked. */
  get differing(): readonly string[] {
    const listed = this.#listed;
    if (listed === undefined) return [];
    return this.#server.approved.tools
      .filter(({ tool, hash }) => listed.get(tool) !== hash)
      .map(({ tool }) => tool);
  }

  async callTool(
    tool: LockedTool,
    args: Record<string, unknown>,
    options: Omit<CallOptions, "timeoutMs">,
  ): Promise<ToolAnswer> {
    return await this.use(options.signal, async (session, timeoutMs) => {
      const changes = this.#opened?.tools.settled();
      if (changes) await orAborted(changes, options.signal);
      if (this.#listed?.get(tool.tool) !== tool.hash) {
        throw new Error(differsText(this.#server.name, tool.tool));
      }
      return await session.callTool(tool, args, { ...options, timeoutMs });
    });
  }

  /**
   * Runs `work` with the open connection; its requests handle `signal` themselves. Rejects with a message for a model:
   * the server, the problem, the next step.
   */
  async use<T>(
    signal: AbortSignal | undefined,
    work: (session: ServerSession, timeoutMs: number) => Promise<T>,
  ): Promise<T> {
    this.#inFlight++;
    try {
      const { session } = this.#opened ?? (await orAborted(this.#open(), signal));
      const result = await work(session, this.#server.options.timeoutMs ?? DEFAULT_CALL_MS);
      this.#deaths = 0;
      return result;
    } catch (error) {
      throw new Error(`MCP server ${quote(this.#server.name)}: ${failureText(error, this.#host)}`);
    } finally {
      this.#inFlight--;
      this.#endOutdated();
    }
  }

  /**
   * Applies a new approval. If the running server had other tools when it was last asked, it is asked again; if it
   * still has them, it is older than the one the user approved, and is stopped: the next call starts the current one.
   */
  async reconsider(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined || this.differing.length === 0) return this.#server.onDiffering(this.differing);
    opened.tools.invalidate();
    // A list that cannot be read is an error of the next call, which reads it again.
    await opened.tools.settled()?.catch(() => undefined);
    this.#isOutdated = this.differing.length > 0 && this.#opened === opened;
    this.#endOutdated();
  }

  /** Stops the server and everything it started. */
  async dispose(): Promise<void> {
    this.#ended.abort(new Error("the agent is ending"));
    this.#opened = undefined;
    const opened = await this.#opening?.catch(() => undefined);
    opened?.tools.dispose();
    await opened?.session.close();
    await this.#closing;
  }

  #open(): Promise<OpenServer> {
    if (this.#ended.signal.aborted) return Promise.reject(new Error("the agent is ending"));
    if (this.#opening) return this.#opening;
    if (this.#deaths > MAX_RESTARTS && performance.now() - this.#diedAt < REST_MS) {
      return Promise.reject(
        new Error(
          `it died ${this.#deaths} times in a row and is not started again for ${REST_MS / 1000} seconds. Run "agent mcp check ${this.#server.name}".`,
        ),
      );
    }
    const opening: Promise<OpenServer> = this.#connect(() => this.#opening === opening);
    this.#opening = opening;
    opening.then(
      (opened) => {
        if (this.#opening === opening) this.#opened = opened;
      },
      () => this.#lose(),
    );
    return opening;
  }

  /** `isCurrent` returns whether the connection is still the one in use. */
  async #connect(isCurrent: () => boolean): Promise<OpenServer> {
    // The processes of the previous start must have exited before the next one.
    await this.#closing;
    return await openServer({
      name: this.#server.name,
      options: this.#server.options,
      era: this.#server.approved.era,
      host: this.#host,
      ended: this.#ended.signal,
      onTools: (tools) => {
        this.#listed = new Map(tools.map(({ tool, hash }) => [tool, hash]));
        this.#server.onDiffering(this.differing);
      },
      onClose: (gone) => {
        this.#closing = gone;
        if (isCurrent()) this.#lose();
      },
    });
  }

  /** Stops an outdated server, once no request waits for it. */
  #endOutdated(): void {
    const opened = this.#opened;
    if (!this.#isOutdated || this.#inFlight > 0 || opened === undefined) return;
    this.#forget();
    opened.tools.dispose();
    this.#closing = opened.session.close();
    this.#server.onDiffering([]);
  }

  #forget(): void {
    this.#opening = undefined;
    this.#opened = undefined;
    this.#listed = undefined;
    this.#isOutdated = false;
  }

  #lose(): void {
    this.#forget();
    // A server on HTTP is not started, only reconnected, which needs no limit.
    if (isHttp(this.#server.options)) return;
    this.#deaths++;
    this.#diedAt = performance.now();
  }
}
