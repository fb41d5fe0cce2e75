import type { ChatTool } from "../tools/interface.js";

/** One tool call as the model asked for it; `arguments` is the JSON text exactly as it came. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** One entry of the conversation, in the wire shape of the chat completions API. */
export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly tool_calls?: readonly ChatToolCall[];
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** Tokens one request used, as the provider counted them. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Why the model stopped. `length` means its answer was cut off, also inside a tool call. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter";

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  readonly signal: AbortSignal;
  /** Present when the caller wants the text as it is written: then the provider streams. */
  onText?(text: string): void;
  /** Called before the provider asks again after a failure. Text sent so far for this answer is void. */
  onRetry?(retry: ProviderRetry): void;
}

export interface ChatResponse {
  readonly content: string | null;
  readonly toolCalls: readonly ChatToolCall[];
  readonly finishReason: FinishReason;
  readonly usage?: TokenUsage;
}

export interface ProviderRetry {
  /** 1 for the first repetition. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

/**
 * A language model. `respond` resolves to a whole answer or rejects with an `AgentError` (`provider_failed`,
 * or `context_overflow` if the conversation is too long for the model); it never resolves to half an answer
 * and ends promptly on `signal`.
 */
export interface ChatProvider {
  /** The model's name, for display. */
  readonly model?: string;
  respond(request: ChatRequest): Promise<ChatResponse>;
}
