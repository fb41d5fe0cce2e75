import type { AgentEvent } from "./events.js";
import type { FinishReason, TokenUsage } from "./providers/interface.js";
import type { CheckedSchema } from "./toolkit/jsonSchema/jsonSchemaValue.js";
import type { Schema } from "./toolkit/jsonSchema/standardSchema.js";

export interface ChatOptions {
  readonly signal?: AbortSignal;
  /**
   * The id of an earlier user message that this one replaces: it and all later messages are removed from the
   * conversation.
   */
  readonly replaces?: string;
  /** The id of the message in the conversation, which must be new there. Default: a random one. */
  readonly id?: string;
  /** The sender of the message, if the user did not write it: `job-1`. The model reads it as a notice. */
  readonly from?: string;
  /**
   * The maximum cost of the requests for this message in dollars, child agents included. The agent's limits apply as
   * well.
   */
  readonly maxCost?: number;
  /** The maximum number of tokens of the requests and answers for this message. */
  readonly maxTokens?: number;
}

/** Options of `run`, `resume`, `streamChat` and `streamResume`. */
export interface RunOptions<S extends Schema | undefined = Schema | undefined> extends ChatOptions {
  /** The schema of the answer: a JSON Schema, or one of zod, valibot, arktype or another Standard Schema library. */
  readonly output?: S & CheckedSchema<NoInfer<S>>;
}

export interface CompactOptions extends Pick<ChatOptions, "signal"> {
  /** Facts the summary must keep: `the failing tests`. */
  readonly focus?: string;
  /** Receives events, such as the usage of the summary request. */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** What `run` and `resume` resolve to. */
export interface RunResult<Value = undefined> {
  /** The text of the final answer. */
  readonly text: string;
  /** The value that matches `output`. `undefined` if `stopWhen` ended the message: `finishReason` is then `tool_calls`. */
  readonly output: Value;
  readonly usage: TokenUsage;
  /** The cost of all requests in dollars, if known. */
  readonly cost?: number;
  /** The number of model requests. */
  readonly turns: number;
  /** `stop`, or why the model could not finish: `length` means the text is cut off. */
  readonly finishReason: FinishReason;
}

/** The options of all methods together. */
export interface AnyChatOptions extends ChatOptions {
  readonly context?: unknown;
  readonly output?: unknown;
}
