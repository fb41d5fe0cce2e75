import type { AgentEvent } from "@agent/core";
import { costOf } from "../display/cost.js";
import type { ModelPrice } from "../settings/config/types.js";

/** The sum of token usage and cost of a session. */
export class UsageMeter {
  #input = 0;
  #cached = 0;
  #output = 0;
  #cost = 0;
  #last = 0;

  see(event: AgentEvent, price: ModelPrice | undefined): void {
    if (event.type === "child") this.see(event.event, price);
    if (event.type !== "usage" || event.replayed) return;
    const { inputTokens, outputTokens, cachedTokens = 0 } = event.usage;
    this.#input += inputTokens;
    this.#cached += cachedTokens;
    this.#output += outputTokens;
    this.#last = inputTokens + outputTokens;
    if (price) this.#cost += costOf(event.usage, price);
  }

  /** Forgets the size, because the conversation has changed: the next request tells the new one. */
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
