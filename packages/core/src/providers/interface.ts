import type { Content } from "../conversation/content.js";
import type { ChatTool, FreeformInput, JsonSchema } from "../tools/tool.js";

/** A tool call as requested by the model; `arguments` is the JSON text exactly as it arrived. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/**
 * Data that a provider expects back with its own answer, such as signed reasoning. Only that provider reads `value`;
 * everyone else stores it as JSON and passes it on.
 */
export interface ProviderState {
  /** The `id` of the provider it came from. */
  readonly provider: string;
  readonly value: unknown;
}

/** One entry of the conversation, in the wire shape of the chat completions API. */
export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | {
      readonly role: "user";
      readonly content: Content;
      /** The program wrote it, not the user: a summary, a correction. Never sent to a provider. */
      readonly generated?: true;
      /** The sender, if it is not the user. A provider gets the content after a line that names the sender. */
      readonly from?: string;
    }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly tool_calls?: readonly ChatToolCall[];
      /** Stored with the answer and sent back to the provider it came from; omitted for any other. */
      readonly state?: ProviderState;
      /** The user stopped this answer: `content` is the text written until then. Never sent to a provider. */
      readonly stopped?: true;
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: Content };

/** The tokens one request used, as the provider counted them. */
export interface TokenUsage {
  /** All tokens of the request, cached ones included. */
  readonly inputTokens: number;
  /** All tokens of the answer, reasoning included. */
  readonly outputTokens: number;
  /** The part of `inputTokens` that came from the server's cache. */
  readonly cachedTokens?: number;
  /** The part of `inputTokens` that the server wrote to its cache. */
  readonly cacheWriteTokens?: number;
  /** The part of `outputTokens` that was reasoning. */
  readonly reasoningTokens?: number;
  /** The cost of the request in dollars, if known. A sum of requests has it only if all of them have it. */
  readonly cost?: number;
  /** The cost was computed with list prices that may have changed since. */
  readonly costIsEstimate?: true;
}

/** The price of a model, in dollars per million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** Input from the server's cache. Default: the price of other input. */
  readonly cachedInput?: number;
  /** Input written to the server's cache. Default: the price of other input. */
  readonly cacheWrite?: number;
}

export interface ModelPrice extends TokenPrice {
  /** The price of a whole request whose input has more than `over` tokens. */
  readonly long?: TokenPrice & { readonly over: number };
  /** A list price of a certain date, not a price reported by the server or set in the configuration. */
  readonly isEstimate?: true;
}

/** The reasoning effort of a model. `off` turns reasoning off; a model supports some of these. */
export type Effort = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** Whether the model must call a tool: it decides, it may not, it must call one, it must call this one. */
export type ToolChoice<Name extends string = string> = "auto" | "none" | "required" | { readonly tool: Name };

/** Why the model stopped. `length` means its answer was cut off, possibly inside a tool call. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter";

/** The schema an answer must match. A provider with a native mode for it uses that; the loop validates in any case. */
export interface OutputFormat {
  readonly name: string;
  readonly schema: JsonSchema;
}

/** A tool call while the model writes it, for a display. */
export interface ToolDraft {
  /** The position of the call in the answer. */
  readonly index: number;
  readonly name: string;
  /** The next piece of the arguments' JSON text. */
  readonly delta: string;
}

export interface ChatRequest {
  /**
   * The conversation. `state` is present only on this provider's own answers, parts only if `accepts` returned `true`,
   * and no two user messages follow each other.
   */
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /**
   * The tools whose only argument the model may write as plain text, by name. A provider whose server has no such tools
   * ignores it. The call comes back with JSON arguments in any case.
   */
  readonly freeform?: Readonly<Record<string, FreeformInput>>;
  readonly signal: AbortSignal;
  /** The answer must be JSON that matches this schema. */
  readonly output?: OutputFormat;
  /** The reasoning effort. If absent, the server decides. A provider without such a setting ignores it. */
  readonly effort?: Effort;
  /** Whether the model must call a tool. If absent, the model decides. A provider without such a setting ignores it. */
  readonly toolChoice?: ToolChoice;
  /** Present when the caller wants the text as it is written: then the provider streams. */
  onText?(text: string): void;
  /** Called with the model's reasoning as it is written, if the server sends it. */
  onReasoning?(text: string): void;
  /** Tool calls as they are written. */
  onToolDraft?(draft: ToolDraft): void;
  /** Called before the provider retries after a failure. Text sent so far for this answer must be discarded. */
  onRetry?(retry: ProviderRetry): void;
  /** Something the user should know about this request, such as a schema that had to be simplified. One sentence. */
  onNotice?(text: string): void;
}

export interface ChatResponse {
  readonly content: string | null;
  readonly toolCalls: readonly ChatToolCall[];
  readonly finishReason: FinishReason;
  readonly usage?: TokenUsage;
  /** The provider's state to send back with the next request, as a JSON value. Kept only if the provider has an `id`. */
  readonly state?: unknown;
}

export interface ProviderRetry {
  /** 1 for the first retry. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

/**
 * A language model. `respond` resolves to a whole answer or rejects with an `AgentError` (`provider_failed`, or
 * `context_overflow` if the conversation is too long for the model); it never resolves to a partial answer and rejects
 * promptly on `signal`.
 */
export interface ChatProvider {
  /** Names the API and the kind of server, such as `anthropic`: state is sent back only under the same id. */
  readonly id?: string | undefined;
  /** The model's name, for display. */
  readonly model?: string | undefined;
  /** The address of its server, for traces. */
  readonly address?: string | undefined;
  /** The maximum tokens of a conversation, if known: the context window minus the space for the answer. */
  readonly contextTokens?: number | undefined;
  /** The price of the model, if known. The loop adds `cost` to a usage that has none. */
  readonly price?: ModelPrice | undefined;
  /** The reasoning efforts that the model supports, if known. Empty: it does not reason. */
  readonly efforts?: readonly Effort[] | undefined;
  /** Whether `request.output` is enforced by the server. Otherwise the loop asks for JSON in the prompt. */
  readonly nativeOutput?: boolean | undefined;
  /** Whether the model accepts content of this media type. If absent: text only. */
  accepts?(mediaType: string): boolean;
  respond(request: ChatRequest): Promise<ChatResponse>;
}
