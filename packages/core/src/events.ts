import type { FinishReason, TokenUsage } from "./providers/interface.js";
import type { ToolOutcome } from "./tools/execution.js";

/** What happens while the agent works on a message, in order. A display needs nothing else. */
export type AgentEvent =
  | TextEvent
  | RetryEvent
  | ToolStartEvent
  | ToolOutputEvent
  | ToolProcessEvent
  | ToolEndEvent
  | UsageEvent
  | ContextEvent
  | DoneEvent;

/** A piece of the answer as it is written. */
export interface TextEvent {
  readonly type: "text";
  readonly text: string;
}

/** The provider failed and is asked again. Text shown since the last tool call is void: it comes again. */
export interface RetryEvent {
  readonly type: "retry";
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

/** The model asked for a tool and the call begins. */
export interface ToolStartEvent {
  readonly type: "tool_start";
  readonly id: string;
  readonly name: string;
  /** The arguments; `{}` where the model sent none that can be read. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** Live output of a running tool, for a display. The model never sees it. */
export interface ToolOutputEvent {
  readonly type: "tool_output";
  readonly id: string;
  readonly name: string;
  readonly chunk: string;
}

/** The process that does a call's work, if it is one of its own. */
export interface ToolProcessEvent {
  readonly type: "tool_process";
  readonly id: string;
  readonly name: string;
  readonly pid: number;
}

/** A call has ended. `outcome` is `ok` only if its work succeeded. */
export interface ToolEndEvent {
  readonly type: "tool_end";
  readonly id: string;
  readonly name: string;
  readonly outcome: ToolOutcome;
  /** What the model reads. */
  readonly text: string;
  readonly durationMs: number;
  /** The tool's own few words, if it gave any: `exit code 2`. */
  readonly summary?: string;
}

/** Tokens of one request, and of all requests for this message so far. */
export interface UsageEvent {
  readonly type: "usage";
  readonly usage: TokenUsage;
  readonly total: TokenUsage;
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
  /** `stop`, or why the model could not finish: `length` means the text is cut off. */
  readonly finishReason: FinishReason;
  /** How often the model was asked. */
  readonly turns: number;
  readonly usage: TokenUsage;
}
