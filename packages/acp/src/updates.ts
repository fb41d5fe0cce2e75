import type { AgentEvent, ApprovalRequest, CallAbout, CallPreview, ResultView } from "@agent/core";
import { isRecord } from "@agent/core/toolkit";
import { countOf, fenced, spellOut, truncateUtf8Start } from "@agent/internal";
import type { PlanEntry, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { EditorClient } from "./editor.js";
import { type CommandTerminal, openTerminal } from "./terminal/commandTerminal.js";
import { diffContent, locationsOf, resultContent, shownLine, textContent, viewCall } from "./toolCalls.js";

const MAX_LIVE_BYTES = 16 * 1024;
const LIVE_EVERY_MS = 100;

const MOST_PLAN_ENTRIES = 200;
const STATUSES = ["pending", "in_progress", "completed"] as const;
const PRIORITIES = ["high", "medium", "low"] as const;

type Args = Readonly<Record<string, unknown>>;
type RequestedEvent = Extract<AgentEvent, { type: "tool_requested" }>;
type StartEvent = Extract<AgentEvent, { type: "tool_start" }>;
type EndEvent = Extract<AgentEvent, { type: "tool_end" }>;
type ChildEvent = Extract<AgentEvent, { type: "child" }>;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly args: Args;
  about: Partial<CallAbout>;
  /** What the user saw when the call was approved. */
  preview?: CallPreview;
  /** A terminal is opened once, or not at all if the editor has none. */
  opening?: Promise<void>;
  terminal?: CommandTerminal;
  pid?: number;
  /** Whether the user closed its terminal. */
  isClosed?: boolean;
  output: string;
  shownAt: number;
}

interface UpdateWriterOptions {
  readonly editor: EditorClient;
  readonly cwd: string;
  readonly contextTokens: () => number | undefined;
  /** Stops a command whose terminal the user closed in the editor. */
  readonly endProcess: (pid: number) => void;
}

/** Converts agent events to updates for the editor. One per session, so that the ids of calls never repeat. */
export class UpdateWriter {
  readonly #options: UpdateWriterOptions;
  readonly #calls = new Map<string, OpenCall>();
  /** The editor's ids of calls of child agents that the user was asked about, by their path. */
  readonly #asked = new Map<string, string>();
  #count = 0;
  /** Of the session so far; `undefined` once the cost of a request is unknown. */
  #cost: number | undefined = 0;

  constructor(options: UpdateWriterOptions) {
    this.#options = options;
  }

  /**
   * The editor's id of a call that the user is asked about. The preview is kept: if the call reports no view of its changes,
   * it is used. A call of a child agent is a separate call, which the editor shows from now on: its id may be that of another
   * call.
   */
  noteQuestion({ scope, id, preview }: Pick<ApprovalRequest, "scope" | "id" | "preview">): string {
    const child = childOf(scope);
    if (child === "") {
      // The newest call with this id: models reuse ids.
      const call = this.#calls.get(id);
      if (call && preview) call.preview = preview;
      return call?.id ?? id;
    }
    const shown = `${++this.#count}-${id}`;
    this.#asked.set(`${child}${id}`, shown);
    return shown;
  }

  /** Updates that report the calls still running as failed, for a response that is sent before they end. */
  unfinished(reason: string): SessionUpdate[] {
    const calls: Pick<OpenCall, "id" | "terminal">[] = [...this.#calls.values()];
    for (const id of this.#asked.values()) calls.push({ id });
    return calls.map(({ id, terminal }) => ({
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
        yield this.#requested(event);
        break;
      case "tool_start":
        yield* this.#started(event);
        break;
      case "tool_process":
        yield* this.#process(event.id, event.pid);
        break;
      case "tool_output":
        yield* this.#output(event.id, event.chunk);
        break;
      case "child":
        yield* this.#askedCallEnded(event);
        if (event.event.type === "tool_requested") {
          const { name, title = "" } = event.event;
          const label = event.label ?? `agent ${event.child + 1}`;
          yield* this.#output(event.id, `${shownLine(`${label}: ${name} ${title}`.trim())}\n`);
        } else if (event.event.type === "tool_end" && event.event.outcome !== "ok") {
          const { name, outcome, summary } = event.event;
          const label = event.label ?? `agent ${event.child + 1}`;
          yield* this.#output(event.id, `${shownLine(`${label}: ${name} ${summary ?? outcome}`)}\n`);
        } else if (event.event.type === "done") {
          const { turns, usage } = event.event;
          const tokens = usage.inputTokens + usage.outputTokens;
          const { elapsedMs } = event;
          const elapsed = elapsedMs === undefined ? "" : `, ${(elapsedMs / 1000).toFixed(1)} s`;
          const label = event.label ?? `agent ${event.child + 1}`;
          yield* this.#output(
            event.id,
            `${shownLine(label)}: done after ${countOf(turns, "request")}, ${tokens} tokens${elapsed}\n`,
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
      // The session shows notices; the rest has no counterpart in the protocol.
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

  /** Reports the end of a call of a child agent, if the user was asked about it. */
  *#askedCallEnded(event: ChildEvent): Generator<SessionUpdate> {
    let path = "";
    let inner: AgentEvent = event;
    for (; inner.type === "child"; inner = inner.event)
      path += `${encodeURIComponent(inner.id)}/${inner.child}/`;
    if (inner.type !== "tool_end") return;
    const toolCallId = this.#asked.get(`${path}${inner.id}`);
    if (toolCallId === undefined || !this.#asked.delete(`${path}${inner.id}`)) return;
    const status = inner.outcome === "ok" ? "completed" : "failed";
    yield { sessionUpdate: "tool_call_update", toolCallId, status };
  }

  #requested({ id: callId, name, args, title, kind }: RequestedEvent): SessionUpdate {
    // Models and servers reuse ids, even within one message.
    const id = `${++this.#count}-${callId}`;
    const about = { ...(title !== undefined && { title }), ...(kind && { kind }) };
    this.#calls.set(callId, { id, name, args, about, output: "", shownAt: 0 });
    return {
      sessionUpdate: "tool_call",
      toolCallId: id,
      ...(name !== "" && { name }),
      status: "pending",
      rawInput: args,
      ...viewCall({ name, args, about }, this.#options.cwd),
    };
  }

  *#started({ id: callId, args, about }: StartEvent): Generator<SessionUpdate> {
    const call = this.#calls.get(callId);
    if (!call) return;
    const { cwd } = this.#options;
    if (about) call.about = about;
    // A hook may have changed the arguments: show those that really run.
    const isChanged = JSON.stringify(args) !== JSON.stringify(call.args);
    const locations = locationsOf(call.about.files ?? [], call.preview, cwd);
    const { name, preview } = call;
    yield {
      sessionUpdate: "tool_call_update",
      toolCallId: call.id,
      status: "in_progress",
      ...(locations.length > 0 && { locations }),
      ...(isChanged && { rawInput: args, ...viewCall({ name, args, about: call.about, preview }, cwd) }),
    };
  }

  async *#process(callId: string, pid: number): AsyncGenerator<SessionUpdate> {
    const call = this.#calls.get(callId);
    if (!call) return;
    call.pid = pid;
    yield* this.#openTerminal(call);
    if (call.isClosed) this.#options.endProcess(pid);
  }

  /** Opens a terminal for a command that has a process or output, if the editor has terminals. */
  async *#openTerminal(call: OpenCall): AsyncGenerator<SessionUpdate> {
    const { title = "", kind } = call.about;
    if (kind !== "execute" || call.opening) return;
    const { editor, cwd, endProcess } = this.#options;
    const close = (): void => {
      call.isClosed = true;
      if (call.pid !== undefined) endProcess(call.pid);
    };
    call.opening = openTerminal(editor, call.id, title, cwd, close).then((terminal) => {
      if (terminal) call.terminal = terminal;
    });
    await call.opening;
    if (!call.terminal) return;
    const { content, opened } = call.terminal;
    yield { sessionUpdate: "tool_call_update", toolCallId: call.id, content: [content], ...withMeta(opened) };
  }

  /** Shows live output: all of it in a terminal; else, a few times a second, the end of the output so far. */
  async *#output(callId: string, text: string): AsyncGenerator<SessionUpdate> {
    const call = this.#calls.get(callId);
    if (!call) return;
    yield* this.#openTerminal(call);
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
    const { id: callId, outcome, text, about } = event;
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (call && about) call.about = about;
    const meta = await call?.terminal?.end(exitCodeOf(event));
    const locations = locationsOf(about?.files ?? [], call?.preview, this.#options.cwd);
    yield {
      sessionUpdate: "tool_call_update",
      toolCallId: call?.id ?? callId,
      status: outcome === "ok" ? "completed" : "failed",
      content: this.#resultOf(event, call),
      ...(locations.length > 0 && { locations }),
      rawOutput: { outcome, text },
      ...withMeta(meta),
    };
    await call?.terminal?.release();
    const plan = outcome === "ok" ? planOf(event.value) : undefined;
    if (plan) yield { sessionUpdate: "plan", entries: plan };
  }

  #resultOf(event: EndEvent, call: OpenCall | undefined): ToolCallContent[] {
    const { text, parts, outcome, summary, view } = event;
    const { cwd } = this.#options;
    if (call?.terminal) {
      const said = outcome === "ok" ? undefined : (summary ?? outcome);
      return [call.terminal.content, ...(said === undefined ? [] : [textContent(said)])];
    }
    if (view) return [...viewContent(view, cwd), ...resultContent("", parts)];
    if (outcome === "ok" && call?.preview) {
      const diffs = diffContent(call.preview.changes, cwd);
      if (diffs.length > 0) return diffs;
    }
    const kind = call?.about.kind ?? "other";
    const isMarkdown = kind === "other" || kind === "fetch" || kind === "think";
    return resultContent(isMarkdown || text === "" ? text : fenced(text), parts);
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
}

/** The path of the child agent that a scope belongs to; empty for the agent itself, nested calls included. */
function childOf(scope: string): string {
  let path = "";
  for (const [, callId = "", child = ""] of scope.matchAll(/\d+\/([^/]*)\/(\d+|t\d+)\//g))
    if (!child.startsWith("t")) path += `${callId}/${child}/`;
  return path;
}

/** The plan of a tool whose result is `{ plan: [{ content, status, priority }] }`. */
function planOf(value: unknown): PlanEntry[] | undefined {
  if (!isRecord(value) || !Array.isArray(value.plan)) return undefined;
  const entries = value.plan.slice(0, MOST_PLAN_ENTRIES).map((entry: unknown) => {
    const { content, status, priority } = isRecord(entry) ? entry : {};
    return {
      content: typeof content === "string" ? content : "",
      status: STATUSES.find((one) => one === status) ?? "pending",
      priority: PRIORITIES.find((one) => one === priority) ?? "medium",
    };
  });
  return entries.every(({ content }) => content !== "") ? entries : undefined;
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

/** The exit code for the editor's terminal. A stopped command has none, or one that is not a valid exit code. */
function exitCodeOf({ outcome, view }: EndEvent): number {
  const code = view?.type === "output" ? view.exitCode : undefined;
  if (code !== undefined && Number.isInteger(code)) return code < 0 ? 130 : code & 255;
  return outcome === "ok" ? 0 : 1;
}

/** Renders the view of a result for an editor, which shows Markdown. */
export function viewContent(view: ResultView, cwd: string): ToolCallContent[] {
  if (view.type === "diff") return diffContent(view.files, cwd);
  const text = markdownOf(view);
  const more = view.more ? `${text === "" ? "" : "\n\n"}… and ${view.more} more` : "";
  return text + more === "" ? [] : [textContent(text + more)];
}

/** The end of a command's output with its exit code, as in a terminal. */
function outputText({ text, exitCode, files = [] }: Extract<ResultView, { type: "output" }>): string {
  const end = exitCode === undefined || exitCode === 0 ? [] : [`[exit code ${exitCode}]`];
  const kept = files.map(({ label, path }) => `[${label}: ${path}]`);
  return [text.replace(/\n$/, ""), ...end, ...kept].filter((part) => part !== "").join("\n");
}

function markdownOf(view: Exclude<ResultView, { type: "diff" }>): string {
  switch (view.type) {
    case "output": {
      const text = outputText(view);
      return text === "" ? "" : fenced(spellOut(text));
    }
    case "code": {
      const { text, path, startLine } = view;
      const place =
        path === undefined ? "" : `${cell(startLine === undefined ? path : `${path}:${startLine}`)}\n`;
      return place + fenced(text, languageOf(path));
    }
    case "list":
      return fenced(view.items.map(listLine).join("\n"));
    case "table":
      return [view.columns, view.columns.map(() => "---"), ...view.rows]
        .map((row) => `| ${row.map(cell).join(" | ")} |`)
        .join("\n");
    case "fields":
      return view.fields.map(([name, value]) => `- **${cell(name)}**: ${cell(value)}`).join("\n");
    case "markdown":
      return view.text;
  }
}

function listLine({ text, path, line }: Extract<ResultView, { type: "list" }>["items"][number]): string {
  if (path === undefined || path === text) return shownLine(line === undefined ? text : `${text}:${line}`);
  return shownLine(`${path}${line === undefined ? "" : `:${line}`}: ${text}`);
}

/** Escapes a text for a cell of a Markdown table or for a line. */
function cell(text: string): string {
  return shownLine(text).replace(/[\\`*_{}[\]<>()#|!~]/g, "\\$&");
}

function languageOf(path: string | undefined): string {
  return /\.([A-Za-z0-9]{1,12})$/.exec(path ?? "")?.[1]?.toLowerCase() ?? "";
}
