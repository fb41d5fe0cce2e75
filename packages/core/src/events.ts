import type { Content, ContentPart } from "./conversation/content.js";
import type { FinishReason, TokenUsage } from "./providers/interface.js";
import type { CallAbout, ToolKind } from "./tools/callDescription.js";
import type { ToolOutcome } from "./tools/execution.js";
import type { ResultView } from "./tools/resultView.js";
import type { ToolProgress } from "./tools/tool.js";

/** An event of an agent that works on a message, in order. A display needs nothing else. */
export type AgentEvent =
  | TextEvent
  | ReasoningEvent
  | RetryEvent
  | NoticeEvent
  | ToolDraftEvent
  | ToolRequestedEvent
  | ToolStartEvent
  | ToolOutputEvent
  | ToolProcessEvent
  | ToolProgressEvent
  | ToolEndEvent
  | ChildEvent
  | SteeredEvent
  | UsageEvent
  | ContextEvent
  | DoneEvent;

/**
 * A piece of the answer as it is written. Printing every `text` prints the answer: after a `retry` only new text is
 * reported, or a note that the answer starts again if it differs.
 */
export interface TextEvent {
  readonly type: "text";
  readonly text: string;
  /** With the first text after a `retry`: the whole answer so far, for a display that discarded what it had shown. */
  readonly whole?: string;
}

/** A piece of the model's reasoning as it is written, if the server sends it. */
export interface ReasoningEvent {
  readonly type: "reasoning";
  readonly text: string;
}

/**
 * The provider failed and the request is repeated, or the answer does not count and the model is asked again. Discard
 * drafts and reasoning since the last tool call. A display that also discards the text finds it in `whole` of the next
 * `text`.
 */
export interface RetryEvent {
  readonly type: "retry";
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

/** A notice for the user: that the provider simplified a schema for the server, or that a child agent waits for another. */
export interface NoticeEvent {
  readonly type: "notice";
  readonly text: string;
}

/** The model is writing a tool call. Discard it if a `retry` follows. */
export interface ToolDraftEvent {
  readonly type: "tool_draft";
  /** The position of the call in the answer. */
  readonly index: number;
  readonly name: string;
  /** The next piece of the arguments' JSON text. */
  readonly delta: string;
  /** With the first draft of a call: the arguments that name it. See `draftTitle` of `@agent/core/toolkit`. */
  readonly titleFrom?: readonly string[];
}

/** The model asked for a tool. Nothing has happened yet: the call may still be invalid, denied or aborted. */
export interface ToolRequestedEvent {
  readonly type: "tool_requested";
  readonly id: string;
  readonly name: string;
  /** The arguments; `{}` if the model sent none that can be parsed. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The arguments that name the call, on one line; `""` if there are none. */
  readonly title?: string;
  readonly kind?: ToolKind;
  /** The id of the call that made this one with `callTool`. */
  readonly parent?: string;
  /** The answer is replayed from a journal: an earlier process reported it too. */
  readonly replayed?: true;
}

/** The call starts to run: it is valid and was not refused. */
export interface ToolStartEvent {
  readonly type: "tool_start";
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  /** The arguments passed to the tool, including changes by hooks. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The targets of the call. */
  readonly about?: CallAbout;
}

/** Live output of a running tool, for a display. The model never sees it. */
export interface ToolOutputEvent {
  readonly type: "tool_output";
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  readonly chunk: string;
}

/** The process that does a call's work, for a tool that starts one. */
export interface ToolProcessEvent {
  readonly type: "tool_process";
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  readonly pid: number;
}

/** The progress of a running call, for a display. Not stored. */
export interface ToolProgressEvent extends ToolProgress {
  readonly type: "tool_progress";
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
}

/** A call has finished, including one that never started. `outcome` is `ok` only if its work succeeded. */
export interface ToolEndEvent {
  readonly type: "tool_end";
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  readonly outcome: ToolOutcome;
  /** What the model reads. */
  readonly text: string;
  /** Images and files that the model gets besides the text. */
  readonly parts?: readonly ContentPart[];
  readonly durationMs: number;
  /** A short summary by the tool, if it gave one: `exit code 2`. */
  readonly summary?: string;
  /** The targets of the call. */
  readonly about?: CallAbout;
  /** How a display renders the result. If absent, render the text. */
  readonly view?: ResultView;
  /** The result as data, if the tool provides it. */
  readonly value?: unknown;
  /** The result is replayed from a journal: an earlier process ran the call. */
  readonly replayed?: true;
}

/** An event of a child agent, inside the call that started it. */
export interface ChildEvent {
  readonly type: "child";
  /** The id of the call that started the child. */
  readonly id: string;
  /** The index of the child among the call's children, from 0. */
  readonly child: number;
  readonly label?: string;
  /** How long the child has worked, including its wait for a slot. */
  readonly elapsedMs?: number;
  readonly event: AgentEvent;
}

/** A message given to `steer` has joined the conversation. */
export interface SteeredEvent {
  readonly type: "steered";
  /** The id of the message in the conversation. */
  readonly id: string;
  readonly content: Content;
}

/** Tokens of one request, and of all requests for this message so far. */
export interface UsageEvent {
  readonly type: "usage";
  readonly usage: TokenUsage;
  readonly total: TokenUsage;
  /** The conversation's token budget, if known. */
  readonly contextTokens?: number;
  /** The request asked for a summary of older turns, so its tokens do not measure the conversation. */
  readonly summary?: true;
  /** The answer is replayed from a journal: an earlier process used its tokens. */
  readonly replayed?: true;
}

/** The conversation exceeded its budget and was compacted. */
export interface ContextEvent {
  readonly type: "context";
  readonly action: "shortened" | "summarised" | "dropped";
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** The answer is complete. Always the last event of a message that succeeded. */
export interface DoneEvent {
  readonly type: "done";
  readonly text: string;
  /** The validated value, if `output` was given. */
  readonly output?: unknown;
  /** `stop`, or why the model could not finish: `length` means the text is cut off. */
  readonly finishReason: FinishReason;
  /** The number of model requests. */
  readonly turns: number;
  readonly usage: TokenUsage;
}
