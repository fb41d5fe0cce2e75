import type { Content, ContentPart } from "./conversation/content.js";
import type { FinishReason, TokenUsage } from "./providers/interface.js";
import type { CallAbout, ToolKind } from "./tools/callDescription.js";
import type { ToolOutcome } from "./tools/execution.js";
import type { ResultView } from "./tools/resultView.js";
import type { ToolProgress } from "./tools/tool.js";

/** Everything that happens while the agent works on a message, in order. A display needs nothing else. */
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
 * A piece of the answer as it is written. Printing every `text` prints the answer: after a `retry` only what is new comes,
 * or a note that the answer starts again, if it is another one.
 */
export interface TextEvent {
  readonly type: "text";
  readonly text: string;
  /** With the first text after a `retry`: the whole answer so far, for a display that discarded what it had shown. */
  readonly whole?: string;
}

/** A piece of the model's reasoning as it is written, where the server shows it. */
export interface ReasoningEvent {
  readonly type: "reasoning";
  readonly text: string;
}

/**
 * The provider failed and the request is repeated. Drafts and reasoning since the last tool call are void. A display that
 * also discards the text finds it in `whole` of the next `text`.
 */
export interface RetryEvent {
  readonly type: "retry";
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

/** A notice of the provider for the user, such as a schema that it simplified for the server. */
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
  /** The arguments; `{}` where the model sent none that can be read. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The arguments that name the call, on one line; `""` if there are none. */
  readonly title?: string;
  readonly kind?: ToolKind;
  /** The id of the call that made this one with `callTool`. */
  readonly parent?: string;
  /** The answer comes from a journal: an earlier process reported it too. */
  readonly replayed?: true;
}

/** The call starts to run: it is valid and was not refused. */
export interface ToolStartEvent {
  readonly type: "tool_start";
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  /** The arguments the tool gets, as hooks may have changed them. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What the call is about. */
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

/** How far a running call has come, for a display. Not stored. */
export interface ToolProgressEvent extends ToolProgress {
  readonly type: "tool_progress";
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
}

/** A call has ended, including one that never started. `outcome` is `ok` only if its work succeeded. */
export interface ToolEndEvent {
  readonly type: "tool_end";
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  readonly outcome: ToolOutcome;
  /** What the model reads. */
  readonly text: string;
  /** Images and files the model gets besides the text. */
  readonly parts?: readonly ContentPart[];
  readonly durationMs: number;
  /** A short summary by the tool, if it gave one: `exit code 2`. */
  readonly summary?: string;
  /** What the call was about. */
  readonly about?: CallAbout;
  /** How a display draws the result. Absent: draw the text. */
  readonly view?: ResultView;
  /** The result as data, if the tool gave any. */
  readonly value?: unknown;
  /** The result comes from a journal: the call was run by an earlier process. */
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
  /** How long the child has worked. Its wait for a place among those that run counts. */
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
  /** How many tokens the conversation may have, where that is known. */
  readonly contextTokens?: number;
  /** The request asked for a summary of older turns: its tokens do not tell how long the conversation is. */
  readonly summary?: true;
  /** The answer comes from a journal: its tokens were used by an earlier process. */
  readonly replayed?: true;
}

/** The conversation outgrew its budget and was made shorter. */
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
  /** The validated value, where `output` asked for one. */
  readonly output?: unknown;
  /** `stop`, or why the model could not finish: `length` means the text is cut off. */
  readonly finishReason: FinishReason;
  /** How often the model was asked. */
  readonly turns: number;
  readonly usage: TokenUsage;
}
