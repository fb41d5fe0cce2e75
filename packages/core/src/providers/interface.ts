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
}

export interface ChatResponse {
  readonly content: string | null;
  readonly toolCalls: readonly ChatToolCall[];
  readonly finishReason: FinishReason;
  readonly usage?: TokenUsage;
}

/** The provider failed and asks again. Text streamed for this response so far is void. */
export interface ProviderRetry {
  readonly type: "retry";
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

/** What a provider yields while it answers: text as it comes, then exactly one `response`, last. */
export type ProviderEvent =
  | { readonly type: "text"; readonly text: string }
  | ProviderRetry
  | { readonly type: "response"; readonly response: ChatResponse };

/**
 * A language model. `stream: false` asks for the answer in one piece (no `text` events), which costs less.
 * Throws an `AgentError` with code `provider_failed` or `context_overflow`; ends promptly on `signal`.
 */
export interface ChatProvider {
  /** The model's name, for display. */
  readonly model?: string;
  respond(request: ChatRequest, options: { readonly stream: boolean }): AsyncIterable<ProviderEvent>;
}
