import {
  type ChatMessage,
  type ChatProvider,
  type ChatRequest,
  type ChatResponse,
  type Effort,
  isAgentError,
  type ModelPrice,
} from "@agent/core";
import { withCost } from "@agent/core/provider";
import { errorMessage, isRecord } from "@agent/core/toolkit";

// Do not retry a failed server for this long: every attempt repeats all retries.
const RETRY_FIRST_AFTER_MS = 60_000;

/**
 * Uses a second model when the first one fails, and reports it each time in a retry event that names both. Offers only
 * what both models support. Each model gets back only the state of its own answers.
 */
export class FallbackProvider implements ChatProvider {
  readonly #first: ChatProvider;
  readonly #second: ChatProvider;
  readonly #now: () => number;
  #failure: { readonly at: number; readonly reason: string } | undefined;

  constructor(first: ChatProvider, second: ChatProvider, now: () => number = Date.now) {
    this.#first = first;
    this.#second = second;
    this.#now = now;
  }

  get id(): string | undefined {
    return this.#first.id;
  }

  get model(): string | undefined {
    return this.#first.model;
  }

  get contextTokens(): number | undefined {
    const known = [this.#first, this.#second].flatMap(({ contextTokens }) => contextTokens ?? []);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  /** Absent unless both models have a price: each answer is billed at its own model's price. */
  get price(): ModelPrice | undefined {
    return this.#second.price && this.#first.price;
  }

  get efforts(): readonly Effort[] | undefined {
    return this.#first.efforts;
  }

  get nativeOutput(): boolean {
    return this.#first.nativeOutput === true && this.#second.nativeOutput === true;
  }

  accepts(mediaType: string): boolean {
    return [this.#first, this.#second].every((one) => one.accepts?.(mediaType) ?? false);
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    const earlier = this.#failure;
    if (earlier && this.#now() - earlier.at < RETRY_FIRST_AFTER_MS) {
      return await this.#askSecond(request, earlier.reason);
    }
    try {
      const response = await this.#first.respond({
        ...request,
        messages: request.messages.map((message) =>
          readFallbackState(message) === undefined ? message : withState(message, undefined),
        ),
      });
      this.#failure = undefined;
      return withCost(response, this.#first.price);
    } catch (error) {
      if (request.signal.aborted || !isAgentError(error, "provider_failed")) throw error;
      const reason = errorMessage(error);
      this.#failure = { at: this.#now(), reason };
      return await this.#askSecond(request, reason);
    }
  }

  async #askSecond(request: ChatRequest, reason: string): Promise<ChatResponse> {
    // It begins a sentence on the screen: the name of a model must not.
    const first = this.#first.model === undefined ? "The model" : `Model ${this.#first.model}`;
    const text = `${first} failed (${reason.replace(/\.$/, "")}); the fallback ${this.#second.model ?? "model"} answers`;
    request.onRetry?.({ attempt: 1, delayMs: 0, reason: text });
    const answer = await this.#second.respond({
      ...request,
      messages: request.messages.map((message) => withState(message, readFallbackState(message)?.state)),
    });
    const response = withCost(answer, this.#second.price);
    if (response.state === undefined) return response;
    return { ...response, state: { fallback: true, state: response.state } satisfies FallbackState };
  }
}

/** Wraps the state of the second model's answers. */
interface FallbackState {
  readonly fallback: true;
  readonly state: unknown;
}

function readFallbackState(message: ChatMessage): FallbackState | undefined {
  const value = message.role === "assistant" ? message.state?.value : undefined;
  return isRecord(value) && value.fallback === true ? { fallback: true, state: value.state } : undefined;
}

/** The message with this state instead of its own state. */
function withState(message: ChatMessage, value: unknown): ChatMessage {
  if (message.role !== "assistant" || message.state === undefined) return message;
  const { state, ...rest } = message;
  return value === undefined ? rest : { ...rest, state: { ...state, value } };
}
