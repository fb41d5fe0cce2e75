import type { AgentEvent, DoneEvent } from "./events.js";
import type { Schema } from "./toolkit/jsonSchema/standardSchema.js";
import type { CallContext } from "./tools/callContext.js";

export interface ChatOptions {
  readonly signal?: AbortSignal;
  /** Passed on to tools, hooks and `approve` with every call: the user, the tenant. `Register` gives it a type. */
  readonly context?: CallContext;
  /** Who the message is from, if the user did not write it: `job-1`. The model reads it as a notice. */
  readonly from?: string;
}

export interface CompactOptions {
  readonly signal?: AbortSignal;
  /** What the summary must keep: `the failing tests`. */
  readonly focus?: string;
  /** Gets what happens, such as the usage of the request for the summary. */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** A structured answer: `chat` resolves to a value that fits `output`. */
export interface StructuredChatOptions<S extends Schema> extends ChatOptions {
  /** A JSON Schema, or a schema of zod, valibot, arktype or another Standard Schema library. */
  readonly output: S;
}

export interface StreamOptions extends ChatOptions {
  /** The last event holds a value of this form. */
  readonly output?: Schema;
}

/**
 * What `chat` resolves to with `details`: the answer, the value where `output` asked for one, turns and tokens used.
 */
export type ChatResult<Value = undefined> = Omit<DoneEvent, "type" | "output"> & { readonly output: Value };

/** All options of `chat`. */
export interface AnyChatOptions extends ChatOptions {
  readonly output?: unknown;
  readonly details?: boolean;
}
