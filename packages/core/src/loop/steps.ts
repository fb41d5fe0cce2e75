import type { ChatResponse } from "../providers/interface.js";
import type { ToolResult } from "../tools/execution.js";
import type { ToolCapability } from "../tools/tool.js";

/** Identifies one answer of the model within a message. The key is the same when the message is replayed. */
export interface AnswerKey {
  /** `""` for the agent itself; for a child agent the path of calls to it, as turn, id and number: `2/call_1/0/`. */
  readonly scope: string;
  /** The number of model requests for this message, counted from 1. */
  readonly turn: number;
  readonly kind: "answer" | "summary";
  /** 2 for the request after the conversation was refused as too long and compacted. */
  readonly attempt: number;
  /**
   * The provider and model of the request, such as `openai/gpt-5`, as far as the provider reports them. Not part of the
   * key.
   */
  readonly model?: string;
}

/** Identifies one tool call within a message. */
export interface CallKey {
  readonly scope: string;
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  /** Whether the call may run again if an earlier attempt was interrupted (`ExecutableTool.repeatable`). */
  readonly repeatable: boolean;
}

/**
 * Every answer and every call goes through these functions. The default runs them. A journal returns the recorded
 * result for a key instead, so that another process can continue a message after the last completed step; events of a
 * replayed step are marked `replayed`.
 *
 * Contract: `answer` may reject with a recorded `AgentError`. `call` must not record a result whose outcome is
 * `aborted`, and passes `run` an `intent` that is awaited after the call was approved and before the tool starts. A
 * call with an intent but no result is run again if it is `repeatable`, and gets the outcome `interrupted` otherwise.
 * To end the run and continue it later or elsewhere, either function rejects with an `AgentError` of code `suspended`;
 * tools cannot turn that into a result, even if a child agent was suspended.
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
