import { quote } from "@agent/core/toolkit";
import { isHttp, type ServerOptions } from "../config/options.js";
import type { LockedServer, LockedTool } from "../lock/lock.js";
import { untilAborted } from "../untilAborted.js";
import type { ConnectionHost } from "./connectionHost.js";
import { failureText } from "./failureText.js";
import { type OpenServer, openServer } from "./openServer.js";
import type { CallOptions, Session, ToolAnswer } from "./session.js";

const DEFAULT_CALL_MS = 60_000;
/** The number of automatic restarts of a server that died, before it is left alone for a while. */
const MAX_RESTARTS = 1;
const REST_MS = 60_000;

/**
 * One server: started by its first call, compared with the lock, kept open, started once more if it died. Calls of
 * a tool that is not as it was agreed to are refused.
 */
export class ServerConnection {
  readonly name: string;
  readonly options: ServerOptions;
  readonly #locked: LockedServer;
  readonly #host: ConnectionHost;
  readonly #onDiffering: (tools: readonly string[]) => void;
  readonly #ended = new AbortController();
  #opening: Promise<OpenServer> | undefined;
  /** What `#opening` has resolved to. */
  #opened: OpenServer | undefined;
  #deaths = 0;
  #diedAt = 0;
  #differing = new Set<string>();
  #closing: Promise<void> = Promise.resolve();

  /** `onDiffering` is called with the tools that are no longer as agreed, each time the server's list was read. */
  constructor(
    name: string,
    options: ServerOptions,
    locked: LockedServer,
    host: ConnectionHost,
    onDiffering: (tools: readonly string[]) => void,
  ) {
    this.name = name;
    this.options = options;
    this.#locked = locked;
    this.#host = host;
    this.#onDiffering = onDiffering;
  }

  /** Whether the server runs, or is being started. */
  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  /** The tools that are not as they were agreed to, as far as that is known: only a server that runs can be asked. */
  get differing(): readonly string[] {
    return [...this.#differing];
  }

  async callTool(
    tool: LockedTool,
    args: Record<string, unknown>,
    options: Omit<CallOptions, "timeoutMs">,
  ): Promise<ToolAnswer> {
    return await this.use(options.signal, async (session, timeoutMs) => {
      const changes = this.#opened?.tools.settled();
      if (changes) await untilAborted(changes, options.signal);
      if (this.#differing.has(tool.tool)) throw new Error(differsText(this.name, tool.tool));
      return await session.callTool(tool, args, { ...options, timeoutMs });
    });
  }

  /**
   * Runs `work` with the open connection; its requests look at `signal` themselves. Rejects with words for a model: which
   * server, what went wrong, what to do.
   */
  async use<T>(
    signal: AbortSignal | undefined,
    work: (session: Session, timeoutMs: number) => Promise<T>,
  ): Promise<T> {
    try {
      const { session } = this.#opened ?? (await untilAborted(this.#open(), signal));
      const result = await work(session, this.options.timeoutMs ?? DEFAULT_CALL_MS);
      this.#deaths = 0;
      return result;
    } catch (error) {
      throw new Error(`MCP server ${quote(this.name)}: ${failureText(error, this.#host)}`);
    }
  }

  /** Ends the server and everything it started. */
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
          `it died ${this.#deaths} times in a row and is not started again for ${REST_MS / 1000} seconds. Run "agent mcp check ${this.name}".`,
        ),
      );
    }
    const opening = this.#connect();
    this.#opening = opening;
    opening.then(
      (opened) => {
        if (this.#opening === opening) this.#opened = opened;
      },
      () => this.#lose(),
    );
    return opening;
  }

  async #connect(): Promise<OpenServer> {
    // What the last process left behind must be gone before the next one starts.
    await this.#closing;
    return await openServer({
      name: this.name,
      options: this.options,
      era: this.#locked.era,
      host: this.#host,
      ended: this.#ended.signal,
      onTools: (tools) => this.#compare(tools),
      onClose: (gone) => {
        this.#lose();
        this.#closing = gone;
      },
    });
  }

  #lose(): void {
    this.#opening = undefined;
    this.#opened = undefined;
    // A server on HTTP is not started, only connected to again: there is nothing to be sparing with.
    if (isHttp(this.options)) return;
    this.#deaths++;
    this.#diedAt = performance.now();
  }

  /** Finds out which tools are no longer as they were agreed to. */
  #compare(tools: readonly LockedTool[]): void {
    const now = new Map(tools.map(({ tool, hash }) => [tool, hash]));
    this.#differing = new Set(
      this.#locked.tools.filter(({ tool, hash }) => now.get(tool) !== hash).map(({ tool }) => tool),
    );
    this.#onDiffering([...this.#differing]);
  }
}

function differsText(server: string, tool: string): string {
  return `its tool ${quote(tool)} is not the one that was agreed to: it changed or is gone. A person can look at the difference with "agent mcp update ${server}".`;
}
