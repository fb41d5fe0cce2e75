import type { PackHost } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import { describeValue, LONGEST_TIMER_MS } from "@agent/internal";
import {
  type CallToolResult,
  Client,
  type ConnectOptions,
  type GetPromptResult,
  InsufficientScopeError,
  type Progress,
  type ReadResourceResult,
  SdkHttpError,
  type Transport,
} from "@modelcontextprotocol/client";
import type { LockedEra, LockedTool } from "../lock/lock.js";
import { LoginNeededError } from "../oauth/provider.js";
import { readVersion } from "../version.js";
import { CallDeadline } from "./deadline.js";
import { elicit } from "./elicitation.js";

const LIST_MS = 10_000;
// A program that does not know the question may not answer it at all; one on HTTP always does, however slowly.
const STDIO_PROBE_MS = 5000;
const MAX_PAGES = 100;
// One more than is ever used: enough to tell that there are too many.
const MAX_LISTED = 200_000;
const MAX_LIST_CHARACTERS = 64 * 1024 * 1024;

/** Accepts whatever a server sent: one malformed tool must not make the SDK refuse the whole list. */
const ANYTHING = {
  "~standard": { version: 1 as const, vendor: "agent", validate: (value: unknown) => ({ value }) },
};

export interface SessionOptions {
  readonly server: string;
  readonly transport: Transport;
  /** Why the connection ended, in words; empty while it is open or where that is not known. */
  readonly endReason: () => string;
  /** How the server is spoken to. Absent: that is found out. */
  readonly era: LockedEra | undefined;
  readonly ask: PackHost["ask"];
  readonly onToolsChanged: () => void;
}

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: Progress) => void;
}

/** An open connection to a server, in either era of the protocol. */
export class Session {
  readonly era: LockedEra;
  readonly info: { readonly name: string; readonly version: string } | undefined;
  readonly #server: string;
  readonly #client: Client;
  readonly #deadlines: Set<CallDeadline>;
  readonly #endReason: () => string;

  private constructor(server: string, client: Client, deadlines: Set<CallDeadline>, endReason: () => string) {
    this.#server = server;
    this.#client = client;
    this.#deadlines = deadlines;
    this.#endReason = endReason;
    this.era = eraOf(client);
    const info = client.getServerVersion();
    this.info = info && { name: info.name, version: info.version };
  }

  /** Connects. Rejects once `signal` aborts; the transport is closed then. */
  static async open(options: SessionOptions, signal: AbortSignal): Promise<Session> {
    const { server, transport, era, ask, onToolsChanged } = options;
    const deadlines = new Set<CallDeadline>();
    const client = new Client(
      { name: "agent", version: readVersion() },
      {
        // Neither sampling, roots nor logging: a server gets no model, no list of directories and no log.
        capabilities: ask ? { elicitation: { form: {}, url: {} } } : {},
        versionNegotiation: {
          mode: "auto",
          probe: { timeoutMs: "pid" in transport ? STDIO_PROBE_MS : LONGEST_TIMER_MS },
        },
        listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
      },
    );
    if (ask) {
      client.setRequestHandler("elicitation/create", async ({ params }, context) => {
        // A person may take longer than a call may.
        for (const deadline of deadlines) deadline.pause();
        try {
          return await elicit(server, ask, params, context.mcpReq.signal);
        } finally {
          for (const deadline of deadlines) deadline.resume();
        }
      });
    }
    const prior = era && priorOf(era);
    try {
      await client.connect(transport, { signal, timeout: LONGEST_TIMER_MS, ...(prior && { prior }) });
    } catch (error) {
      await transport.close();
      throw asLoginNeeded(server, error);
    }
    return new Session(server, client, deadlines, options.endReason);
  }

  get hasPrompts(): boolean {
    return this.#client.getServerCapabilities()?.prompts !== undefined;
  }

  get hasResources(): boolean {
    return this.#client.getServerCapabilities()?.resources !== undefined;
  }

  /** Everything the server lists as tools, unchecked. Within ten seconds, whatever the server does. */
  async listTools(signal?: AbortSignal): Promise<unknown[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
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
    args: Record<string, unknown>,
    options: CallOptions,
  ): Promise<CallToolResult> {
    return await this.#withDeadline(options, (deadline) => {
      const params = { name: tool.tool, arguments: args };
      const request = {
        signal: deadline.signal,
        timeout: LONGEST_TIMER_MS,
        onprogress: (progress: Progress) => {
          deadline.reset();
          options.onProgress?.(progress);
        },
      };
      // What `callTool` adds is of the new era alone: arguments that are sent as headers, too.
      if (this.era.kind === "legacy") {
        return this.#client.request({ method: "tools/call", params }, ANYTHING, request).then(checkedResult);
      }
      // Given, so that the SDK neither asks for the list nor compiles an output schema of the server.
      const toolDefinition = {
        name: tool.tool,
        inputSchema: { ...tool.inputSchema, type: "object" as const },
      };
      return this.#client.callTool(params, { ...request, toolDefinition });
    });
  }

  async getPrompt(
    name: string,
    args: Record<string, string>,
    options: CallOptions,
  ): Promise<GetPromptResult> {
    return await this.#withDeadline(options, ({ signal }) =>
      this.#client.getPrompt({ name, arguments: args }, { signal, timeout: LONGEST_TIMER_MS }),
    );
  }

  async readResource(uri: string, options: CallOptions): Promise<ReadResourceResult> {
    return await this.#withDeadline(options, ({ signal }) =>
      this.#client.readResource({ uri }, { signal, timeout: LONGEST_TIMER_MS }),
    );
  }

  /** Resolves once the server is gone. */
  async close(): Promise<void> {
    await this.#client.close();
  }

  async #list(method: "tools/list" | "prompts/list" | "resources/list", key: string, signal?: AbortSignal) {
    return await this.#withDeadline({ timeoutMs: LIST_MS, signal }, async (deadline) => {
      const items: unknown[] = [];
      let characters = 0;
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES && items.length < MAX_LISTED; page++) {
        const result: unknown = await this.#client.request(
          { method, ...(cursor !== undefined && { params: { cursor } }) },
          ANYTHING,
          { signal: deadline.signal, timeout: LONGEST_TIMER_MS },
        );
        const list = isRecord(result) ? result[key] : undefined;
        if (!Array.isArray(list)) throw new Error(`its answer to ${method} has no list of ${key}`);
        for (const item of list) items.push(item);
        characters += JSON.stringify(list).length;
        if (characters > MAX_LIST_CHARACTERS) throw new Error(`its list of ${key} is longer than 64 MiB`);
        const next = isRecord(result) ? result.nextCursor : undefined;
        if (typeof next !== "string" || next === cursor) break;
        cursor = next;
      }
      return items;
    });
  }

  /** Runs a request until it answers, its time is over or the caller aborts, whichever is first. */
  async #withDeadline<T>(
    { timeoutMs, signal }: CallOptions,
    work: (deadline: CallDeadline) => Promise<T>,
  ): Promise<T> {
    const deadline = new CallDeadline(timeoutMs, signal);
    this.#deadlines.add(deadline);
    try {
      return await deadline.race(work(deadline));
    } catch (error) {
      if (error === deadline.signal.reason) throw error;
      const reason = this.#endReason();
      throw reason === ""
        ? asLoginNeeded(this.#server, error)
        : new Error(`it died during the call. ${reason}`);
    } finally {
      deadline.dispose();
      this.#deadlines.delete(deadline);
    }
  }
}

/** A result with content of any kind: each part is looked at when it is turned into text. */
function checkedResult(result: unknown): CallToolResult {
  const { content = [] } = isRecord(result) ? result : { content: undefined };
  if (!isRecord(result) || !Array.isArray(content)) {
    throw new Error(`its answer to tools/call has no list of content: ${describeValue(result)}`);
  }
  return { ...result, content };
}

/** A login that is refused, or has too few permissions, is needed again. */
function asLoginNeeded(server: string, error: unknown): unknown {
  if (error instanceof SdkHttpError && error.status === 401) {
    return new LoginNeededError(server, "it refuses the one there is");
  }
  if (!(error instanceof InsufficientScopeError)) return error;
  return new LoginNeededError(server, "the one there is does not permit this", error.requiredScope);
}

function priorOf(era: LockedEra): NonNullable<ConnectOptions["prior"]> {
  if (era.kind === "legacy") return { kind: "legacy" };
  return { kind: "modern", discover: era.discover } as NonNullable<ConnectOptions["prior"]>;
}

function eraOf(client: Client): LockedEra {
  const version = client.getNegotiatedProtocolVersion() ?? "";
  const discover = client.getProtocolEra() === "modern" ? client.getDiscoverResult() : undefined;
  return discover ? { kind: "modern", version, discover: { ...discover } } : { kind: "legacy", version };
}
