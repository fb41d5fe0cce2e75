import type { AgentEvent, ToolCapability } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import { fenced, truncateUtf8Start } from "@agent/internal";
import type { SessionUpdate, ToolCallContent, ToolKind } from "@agentclientprotocol/sdk";
import type { Editor } from "./editor.js";
import { type CommandTerminal, openTerminal } from "./terminal/commandTerminal.js";
import type { TextReader } from "./textReader.js";
import { type CallView, describeCall, resultContent, textContent } from "./toolCalls.js";

const MAX_LIVE_BYTES = 16 * 1024;
const LIVE_EVERY_MS = 100;

type Args = Readonly<Record<string, unknown>>;
type EndEvent = Extract<AgentEvent, { type: "tool_end" }>;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly args: Args;
  readonly kind: ToolKind;
  /** The diffs predicted before the call ran. */
  readonly predicted: readonly ToolCallContent[];
  terminal?: CommandTerminal;
  pid?: number;
  /** Whether the person closed its terminal. */
  isClosed?: boolean;
  output: string;
  shownAt: number;
}

export interface UpdateWriterOptions {
  readonly editor: Editor;
  readonly cwd: string;
  readonly read: TextReader;
  readonly capabilitiesOf: (name: string) => readonly ToolCapability[];
  readonly contextTokens: () => number | undefined;
  /** The diffs of what a call changed in files; `undefined` for a call of a stored conversation. */
  readonly diffsOf: (callId: string) => readonly ToolCallContent[] | undefined;
  /** Ends a command whose terminal the person closed in the editor. */
  readonly endProcess: (pid: number) => void;
}

/** Turns events of an agent into updates for the editor. One per session, so that the ids of calls never repeat. */
export class UpdateWriter {
  readonly #options: UpdateWriterOptions;
  readonly #calls = new Map<string, OpenCall>();
  #count = 0;
  /** Of the session so far; `undefined` once the cost of a request is not known. */
  #cost: number | undefined = 0;

  constructor(options: UpdateWriterOptions) {
    this.#options = options;
  }

  /** The editor's id of the newest call with this id: models use ids again. */
  idOf(callId: string): string {
    return this.#calls.get(callId)?.id ?? callId;
  }

  /** Updates that report the calls still running as failed, for a response that is sent before they end. */
  unfinished(reason: string): SessionUpdate[] {
    return [...this.#calls.values()].map(({ id, terminal }) => ({
      sessionUpdate: "tool_call_update",
      toolCallId: id,
      status: "failed",
      content: [...(terminal ? [terminal.content] : []), textContent(reason)],
    }));
  }

  async *updatesFor(event: AgentEvent): AsyncGenerator<SessionUpdate> {
    switch (event.type) {
      case "text":
        yield chunk("agent_message_chunk", event.text);
        break;
      case "reasoning":
        yield chunk("agent_thought_chunk", event.text);
        break;
      case "tool_requested":
        yield* this.#requested(event.id, event.name, event.args);
        break;
      case "tool_start":
        yield* this.#started(event.id, event.args);
        break;
      case "tool_process":
        this.#noteProcess(event.id, event.pid);
        break;
      case "tool_output":
        yield* this.#output(event.id, event.chunk);
        break;
      case "child":
        if (event.event.type === "tool_requested") {
          yield* this.#output(
            event.id,
            `${event.label ?? `agent ${event.child + 1}`}: ${event.event.name}\n`,
          );
        }
        break;
      case "tool_end":
        yield* this.#ended(event);
        break;
      case "usage":
        yield* this.#usage(event);
        break;
      case "context":
        if (this.#options.editor.capabilities.session?.compaction) {
          const compactionId = `compaction-${++this.#count}`;
          yield { sessionUpdate: "compaction_update", compactionId, status: "completed" };
        }
        break;
      case "tool_progress":
        if (event.message !== undefined) yield* this.#output(event.id, `${event.message}\n`);
        break;
      // The session shows notices; the rest has no place in the protocol.
      case "notice":
      case "retry":
      case "tool_draft":
      case "steered":
      case "done":
        break;
      default:
        event satisfies never;
    }
  }

  async *#requested(callId: string, name: string, args: Args): AsyncGenerator<SessionUpdate> {
    const view = await this.#describe(name, args);
    // Models and servers use the same ids again, within one message too.
    const id = `${++this.#count}-${callId}`;
    const predicted = view.content.filter(({ type }) => type === "diff");
    this.#calls.set(callId, {
      ...{ id, name, args, predicted, kind: view.kind },
      ...{ output: "", shownAt: 0 },
    });
    yield {
      sessionUpdate: "tool_call",
      toolCallId: id,
      ...(name !== "" && { name }),
      status: "pending",
      rawInput: args,
      ...view,
    };
  }

  async *#started(callId: string, args: Args): AsyncGenerator<SessionUpdate> {
    const call = this.#calls.get(callId);
    if (!call) return;
    const { editor, cwd, endProcess } = this.#options;
    const { command } = args;
    if (call.kind === "execute" && typeof command === "string") {
      const close = (): void => {
        call.isClosed = true;
        if (call.pid !== undefined) endProcess(call.pid);
      };
      const terminal = await openTerminal(editor, call.id, command, cwd, close);
      if (terminal) call.terminal = terminal;
    }
    // A hook may have changed the arguments: show those that really run.
    const isChanged = JSON.stringify(args) !== JSON.stringify(call.args);
    yield {
      sessionUpdate: "tool_call_update",
      toolCallId: call.id,
      status: "in_progress",
      ...(isChanged && { rawInput: args, ...(await this.#describe(call.name, args)) }),
      ...(call.terminal && { content: [call.terminal.content], ...withMeta(call.terminal.opened) }),
    };
  }

  #noteProcess(callId: string, pid: number): void {
    const call = this.#calls.get(callId);
    if (!call) return;
    call.pid = pid;
    if (call.isClosed) this.#options.endProcess(pid);
  }

  /** Shows live output: all of it in a terminal; else, a few times a second, the end of the output so far. */
  *#output(callId: string, text: string): Generator<SessionUpdate> {
    const call = this.#calls.get(callId);
    if (!call) return;
    if (call.terminal) {
      const meta = call.terminal.write(text);
      if (meta) yield { sessionUpdate: "tool_call_update", toolCallId: call.id, ...withMeta(meta) };
      return;
    }
    call.output = truncateUtf8Start(call.output + text, MAX_LIVE_BYTES);
    if (performance.now() - call.shownAt < LIVE_EVERY_MS) return;
    call.shownAt = performance.now();
    const content = [textContent(fenced(call.output))];
    yield { sessionUpdate: "tool_call_update", toolCallId: call.id, content };
  }

  async *#ended(event: EndEvent): AsyncGenerator<SessionUpdate> {
    const { id: callId, outcome, text } = event;
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    const meta = await call?.terminal?.end(exitCodeOf(event));
    yield {
      sessionUpdate: "tool_call_update",
      toolCallId: call?.id ?? callId,
      status: outcome === "ok" ? "completed" : "failed",
      content: this.#resultOf(event, call),
      rawOutput: { outcome, text },
      ...withMeta(meta),
    };
    await call?.terminal?.release();
  }

  #resultOf(event: EndEvent, call: OpenCall | undefined): ToolCallContent[] {
    const { text, parts, outcome, summary } = event;
    if (call?.terminal) {
      const said = outcome === "ok" ? undefined : (summary ?? outcome);
      return [call.terminal.content, ...(said === undefined ? [] : [textContent(said)])];
    }
    if (outcome === "ok" && call) {
      // Show an edit by its diff; a failed edit made none.
      const diffs = this.#options.diffsOf(event.id) ?? call.predicted;
      if (diffs.length > 0) return [...diffs];
    }
    const isMarkdown = call === undefined || call.kind === "other" || call.kind === "fetch";
    return resultContent(isMarkdown || text === "" ? text : fenced(readableResult(text)), parts);
  }

  *#usage({ usage, summary }: Extract<AgentEvent, { type: "usage" }>): Generator<SessionUpdate> {
    const cost = this.#cost === undefined || usage.cost === undefined ? undefined : this.#cost + usage.cost;
    this.#cost = cost;
    if (summary) return;
    const contextTokens = this.#options.contextTokens();
    if (contextTokens === undefined) return;
    const used = usage.inputTokens + usage.outputTokens;
    yield {
      sessionUpdate: "usage_update",
      used,
      size: contextTokens,
      ...(cost !== undefined && { cost: { amount: cost, currency: "USD" } }),
    };
  }

  #describe(name: string, args: Args): Promise<CallView> {
    const { cwd, read, capabilitiesOf } = this.#options;
    return describeCall({ name, args, capabilities: capabilitiesOf(name) }, cwd, read);
  }
}

export function chunk(
  kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
  text: string,
): SessionUpdate {
  return { sessionUpdate: kind, content: { type: "text", text } };
}

function withMeta(meta: Readonly<Record<string, unknown>> = {}) {
  return Object.keys(meta).length === 0 ? {} : { _meta: { ...meta } };
}

/** The output of a command as a terminal shows it, instead of the JSON that the model reads. */
function readableResult(text: string): string {
  const { stdout, stderr, exit_code: code } = readJson(text);
  if (typeof stdout !== "string" || typeof stderr !== "string") return text;
  const end = code === 0 ? "" : `[exit code ${String(code)}]`;
  return [stdout, stderr, end]
    .map((part) => part.replace(/\n$/, ""))
    .filter((part) => part !== "")
    .join("\n");
}

function exitCodeOf({ outcome, text }: EndEvent): number {
  const { exit_code: code } = readJson(text);
  // A command that was stopped has -1, which no process can end with.
  if (typeof code === "number" && Number.isInteger(code)) return code < 0 ? 130 : code & 255;
  return outcome === "ok" ? 0 : 1;
}

function readJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
