import type { ChatResponse } from "../providers/interface.js";
import type { ToolResult } from "../tools/execution.js";
import type { ToolCapability } from "../tools/tool.js";

/** Names one answer of the model within a message: the key stays the same when the message is replayed. */
export interface AnswerKey {
  /** `""` for the agent itself; for a child agent the calls that led to it, as turn, id and number: `2/call_1/0/`. */
  readonly scope: string;
  /** How often the model has been asked for this message, counted from 1. */
  readonly turn: number;
  readonly kind: "answer" | "summary";
  /** 2 for the request that follows a conversation that was too long. */
  readonly attempt: number;
  /** The provider and model that are asked, such as `openai/gpt-5`, as far as the provider names them. Not part of the name. */
  readonly model?: string;
}

/** Names one tool call within a message. */
export interface CallKey {
  readonly scope: string;
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  /** Whether the call may be run again if an earlier run of it was interrupted (`ExecutableTool.repeatable`). */
  readonly repeatable: boolean;
}

/**
 * Every answer and every call goes through these functions. The default runs them. A journal returns what it has
 * recorded for a key instead, so that a message continues in another process after the last completed step; events of a
 * step that was not run again are marked `replayed`.
 *
 * Contract: `answer` may reject with a recorded `AgentError`. `call` must not record a result whose outcome is
 * `aborted`, and gives `run` an `intent` that is awaited after the call was approved and before the tool starts;
 * a call with an intent and no result is run again if it is `repeatable`, and ends `interrupted` otherwise. To end
 * the run and continue it later, or elsewhere, either function rejects with an `AgentError` of code `suspended`: no tool
 * can turn that into a result, also not one whose child agent was suspended.
 */
export interface Steps {
  answer(key: AnswerKey, ask: () => Promise<ChatResponse>): Promise<ChatResponse>;
  call(key: CallKey, run: (intent?: () => void | Promise<void>) => Promise<ToolResult>): Promise<ToolResult>;
}

/** The default: runs every step and records nothing. */
export const DIRECT_STEPS: Steps = {
  answer: (_key, ask) => ask(),
  call: (_key, run) => run(),
};
