import type { AgentEvent, TokenUsage } from "@agent/core";

/** What a model costs, in dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** For input that came from the server's cache. Default: the same as other input. */
  readonly cachedInput?: number;
}

const MILLION = 1_000_000;

/** Adds up what the requests of a session took. */
export class UsageMeter {
  #input = 0;
  #cached = 0;
  #output = 0;
  #cost = 0;
  #last = 0;

  see(event: AgentEvent, price: Price | undefined): void {
    if (event.type === "child") this.see(event.event, price);
    if (event.type !== "usage" || event.replayed) return;
    const { inputTokens, outputTokens, cachedTokens = 0 } = event.usage;
    this.#input += inputTokens;
    this.#cached += cachedTokens;
    this.#output += outputTokens;
    this.#last = inputTokens + outputTokens;
    if (price) this.#cost += costOf(event.usage, price);
  }

  /** The conversation is another one: its size is known with the next request. */
  forgetSize(): void {
    this.#last = 0;
  }

  get tokens(): { readonly input: number; readonly cached: number; readonly output: number } {
    return { input: this.#input, cached: this.#cached, output: this.#output };
  }

  get cost(): number {
    return this.#cost;
  }

  /** How many tokens the conversation took with the last request. */
  get size(): number {
    return this.#last;
  }
}

function costOf({ inputTokens, outputTokens, cachedTokens = 0 }: TokenUsage, price: Price): number {
  const cached = cachedTokens * (price.cachedInput ?? price.input);
  return ((inputTokens - cachedTokens) * price.input + cached + outputTokens * price.output) / MILLION;
}
