import type { AgentEvent } from "./events.js";
import type { FinishReason, TokenUsage } from "./providers/interface.js";
import type { Schema, SchemaValue } from "./toolkit/jsonSchema/standardSchema.js";

export interface ChatOptions {
  readonly signal?: AbortSignal;
  /** The id of an earlier message of the user that this one replaces: it and all after it leave the conversation. */
  readonly replaces?: string;
  /** The id of the message in the conversation, which must be new there. Default: a random one. */
  readonly id?: string;
  /** Who the message is from, if the user did not write it: `job-1`. The model reads it as a notice. */
  readonly from?: string;
  /** What the requests for this message may cost in dollars, child agents included. The limits of the agent hold as well. */
  readonly maxCost?: number;
  /** How many tokens the requests and answers for this message may take together. */
  readonly maxTokens?: number;
}

/** Options of `run`, `resume`, `streamChat` and `streamResume`. */
export interface RunOptions<S extends Schema | undefined = Schema | undefined> extends ChatOptions {
  /** The form of the answer: a JSON Schema, or a schema of zod, valibot, arktype or another Standard Schema library. */
  readonly output?: S;
}

export interface CompactOptions extends Pick<ChatOptions, "signal"> {
  /** What the summary must keep: `the failing tests`. */
  readonly focus?: string;
  /** Gets what happens, such as the usage of the request for the summary. */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** What `run` and `resume` resolve to. */
export interface RunResult<Value = undefined> {
  /** The text of the final answer. */
  readonly text: string;
  /** The value of the form that `output` asked for. */
  readonly output: Value;
  readonly usage: TokenUsage;
  /** What all requests cost in dollars, where that is known. */
  readonly cost?: number;
  /** How often the model was asked. */
  readonly turns: number;
  /** `stop`, or why the model could not finish: `length` means the text is cut off. */
  readonly finishReason: FinishReason;
}

/** The value of an answer that `output` asked for. */
export type OutputValue<S> = S extends Schema ? SchemaValue<S> : undefined;

/** All options there are, whichever method takes them. */
export interface AnyChatOptions extends ChatOptions {
  readonly context?: unknown;
  readonly output?: unknown;
}
