import type { PackHost } from "@agent/core";
import { describeValue, isRecord, LONGEST_TIMER_MS } from "@agent/core/toolkit";
import type { LockedEra, LockedTool } from "../lock/lock.js";
import { elicit } from "./elicitation.js";
import type { Progress, ProtocolClient, ServerLink } from "./protocolClient.js";

const DEFAULT_LIST_MS = 10_000;
const MAX_PAGES = 100;
// Far more than is ever used: the surplus is only counted, for the message.
const MAX_LISTED = 200_000;
const MAX_LIST_CHARACTERS = 64 * 1024 * 1024;

/** The answer of a tool: content of any kind, each part of which is checked when it is converted to text. */
export interface ToolAnswer extends Readonly<Record<string, unknown>> {
  readonly content: readonly unknown[];
}

export interface SessionOptions {
  readonly server: string;
  /** The protocol era to use. Absent: the client detects it. */
  readonly era: LockedEra | undefined;
  readonly ask: PackHost["ask"];
  /** Milliseconds a list may take. Default 10,000. */
  readonly listTimeoutMs?: number | undefined;
  readonly onToolsChanged: () => void;
  readonly onClose: () => void;
}

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** An open connection to a server, with a time limit for each request. */
export class ServerSession {
  readonly #client: ProtocolClient;
  readonly #link: ServerLink;
  readonly #deadlines: Set<CallDeadline>;
  readonly #listMs: number;

  private constructor(
    client: ProtocolClient,
    link: ServerLink,
    deadlines: Set<CallDeadline>,
    listTimeoutMs = DEFAULT_LIST_MS,
  ) {
    this.#client = client;
    this.#link = link;
    this.#deadlines = deadlines;
    this.#listMs = listTimeoutMs;
  }

  /** Connects. Rejects once `signal` aborts; `link` is closed then. */
  static async open(link: ServerLink, options: SessionOptions, signal: AbortSignal): Promise<ServerSession> {
    const { server, era, ask, onToolsChanged, onClose } = options;
    const deadlines = new Set<CallDeadline>();
    const askUser = async (params: unknown, aborted: AbortSignal) => {
      // Suspend the deadline: a user may take longer to answer than a call may last.
      for (const deadline of deadlines) deadline.pause();
      try {
        return await elicit(server, ask, params, aborted);
      } finally {
        for (const deadline of deadlines) deadline.resume();
      }
    };
    const events = { ...(ask && { elicit: askUser }), onToolsChanged, onClose };
    try {
      return new ServerSession(
        await link.connect({ era, events }, signal),
        link,
        deadlines,
        options.listTimeoutMs,
      );
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  get era(): LockedEra {
    return this.#client.era;
  }

  get info(): ProtocolClient["info"] {
    return this.#client.info;
  }

  get instructions(): unknown {
    return this.#client.instructions;
  }

  get hasPrompts(): boolean {
    return this.#client.capabilities.prompts !== undefined;
  }

  get hasResources(): boolean {
    return this.#client.capabilities.resources !== undefined;
  }

  /** Everything the server lists as tools, unchecked, within the time limit for a list. */
  async listTools(signal?: AbortSignal): Promise<unknown[]> {
    if (this.#client.capabilities.tools === undefined) return [];
    return await this.#list("tools/list", "tools", signal);
  }

  async listPrompts(signal?: AbortSignal): Promise<unknown[]> {
    return this.hasPrompts ? await this.#list("prompts/list", "prompts", signal) : [];
  }

  async listResources(signal?: AbortSignal): Promise<unknown[]> {
    return this.hasResources ? await this.#list("resources/list", "resources", signal) : [];
  }

  async callTool(
    tool: LockedTool,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<ToolAnswer> {
    return await this.#withDeadline(options, async (deadline) => {
      const onProgress = (progress: Progress): void => {
        deadline.reset();
        options.onProgress?.(progress);
      };
      const result = await this.#client.callTool(tool, args, { signal: deadline.signal, onProgress });
      return { ...(isRecord(result) && result), content: listIn(result, "content", "tools/call", []) };
    });
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: CallOptions,
  ): Promise<readonly unknown[]> {
    return await this.#withDeadline(options, async ({ signal }) => {
      const result = await this.#client.request("prompts/get", { name, arguments: args }, { signal });
      return listIn(result, "messages", "prompts/get");
    });
  }

  async readResource(uri: string, options: CallOptions): Promise<readonly unknown[]> {
    return await this.#withDeadline(options, async ({ signal }) => {
      const result = await this.#client.request("resources/read", { uri }, { signal });
      return listIn(result, "contents", "resources/read");
    });
  }

  /** Resolves once the server is gone. */
  async close(): Promise<void> {
    await this.#link.close();
  }

  async #list(method: "tools/list" | "prompts/list" | "resources/list", key: string, signal?: AbortSignal) {
    return await this.#withDeadline(
      { timeoutMs: this.#listMs, signal, request: method },
      async (deadline) => {
        const items: unknown[] = [];
        let characters = 0;
        let cursor: string | undefined;
        for (let page = 0; page < MAX_PAGES && items.length < MAX_LISTED; page++) {
          const params = cursor === undefined ? {} : { cursor };
          const result: unknown = await this.#client.request(method, params, { signal: deadline.signal });
          const list = listIn(result, key, method);
          for (const item of list) items.push(item);
          characters += JSON.stringify(list).length;
          if (characters > MAX_LIST_CHARACTERS) throw new Error(`its list of ${key} is longer than 64 MiB`);
          const next = isRecord(result) ? result.nextCursor : undefined;
          if (typeof next !== "string" || next === cursor) break;
          cursor = next;
        }
        return items;
      },
    );
  }

  /** Runs a request until it answers, its time is over or the caller aborts, whichever is first. */
  async #withDeadline<T>(
    { timeoutMs, signal, request }: CallOptions & { readonly request?: string },
    work: (deadline: CallDeadline) => Promise<T>,
  ): Promise<T> {
    const deadline = new CallDeadline(timeoutMs, signal, request);
    this.#deadlines.add(deadline);
    try {
      return await deadline.race(work(deadline));
    } catch (error) {
      if (error === deadline.signal.reason) throw error;
      const reason = this.#link.endReason();
      throw reason === "" ? error : new Error(`it died during the call. ${reason}`);
    } finally {
      deadline.dispose();
      this.#deadlines.delete(deadline);
    }
  }
}

/** The list in an answer. Throws if it is missing or not a list. */
function listIn(
  result: unknown,
  key: string,
  method: string,
  byDefault?: readonly unknown[],
): readonly unknown[] {
  const list = isRecord(result) ? (result[key] ?? byDefault) : undefined;
  if (!Array.isArray(list)) {
    throw new Error(`its answer to ${method} has no list of ${key}: ${describeValue(result)}`);
  }
  return list;
}

// Without this limit a server that reports progress forever would keep a request open forever.
const MOST_EXTENSION = 30;

/**
 * A time limit for one request that progress resets and a question to the user suspends. With progress a request gets
 * at most thirty times its limit. When the time is over, or the caller's own signal aborts, `signal` aborts and `race`
 * no longer waits.
 */
class CallDeadline {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #request: string | undefined;
  readonly #onAbort = (): void => this.#stop(new Error("the call was aborted"));
  #leave: (reason: Error) => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #startedAt = performance.now();
  #pausedAt = 0;
  #pauses = 0;

  /** `request` names the request in the message, if it is not the call itself. */
  constructor(milliseconds: number, caller?: AbortSignal, request?: string) {
    this.#milliseconds = milliseconds;
    this.#request = request;
    this.#caller = caller;
    if (caller?.aborted) this.#onAbort();
    caller?.addEventListener("abort", this.#onAbort, { once: true });
    this.reset();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Settles like `work`, or rejects on abort without waiting for it. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#leave = reject;
      if (this.signal.aborted) reject(this.signal.reason);
      work.then(resolve, reject);
    });
  }

  reset(): void {
    clearTimeout(this.#timer);
    if (this.#pauses > 0 || this.#milliseconds > LONGEST_TIMER_MS) return;
    const rest = this.#startedAt + MOST_EXTENSION * this.#milliseconds - performance.now();
    this.#timer = setTimeout(
      () => this.#stop(new Error(this.#tooLate())),
      Math.max(0, Math.min(this.#milliseconds, rest)),
    );
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#pausedAt = performance.now();
    clearTimeout(this.#timer);
  }

  resume(): void {
    this.#pauses--;
    // The time a user takes to answer does not count against the server.
    if (this.#pauses === 0) this.#startedAt += performance.now() - this.#pausedAt;
    this.reset();
  }

  #tooLate(): string {
    const to = this.#request === undefined ? "" : ` to ${this.#request}`;
    return `no answer${to} within ${this.#milliseconds} ms; the request was cancelled`;
  }

  #stop(reason: Error): void {
    this.#controller.abort(reason);
    this.#leave(reason);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }
}
