import type { AgentEvent } from "@agent/core";

/** The sum of token usage and cost of a session. */
export class ChatUsage {
  #input = 0;
  #cached = 0;
  #output = 0;
  /** Known only if the cost of every request is. */
  #cost: number | undefined = 0;
  #costIsEstimate = false;
  #last = 0;

  see(event: AgentEvent): void {
    this.#count(event);
    if (event.type !== "usage" || event.replayed || event.summary) return;
    this.#last = event.usage.inputTokens + event.usage.outputTokens;
  }

  /** Sums the usage, including child agents, which have their own conversations. */
  #count(event: AgentEvent): void {
    if (event.type === "child") this.#count(event.event);
    // An answer without usage emits no event: the sum of its message then has no cost.
    if (event.type === "done" && event.usage.cost === undefined) this.#cost = undefined;
    if (event.type !== "usage" || event.replayed) return;
    const { inputTokens, outputTokens, cachedTokens = 0, cost, costIsEstimate } = event.usage;
    this.#costIsEstimate ||= costIsEstimate === true;
    this.#input += inputTokens;
    this.#cached += cachedTokens;
    this.#output += outputTokens;
    const isKnown = cost !== undefined && event.total.cost !== undefined;
    this.#cost = isKnown && this.#cost !== undefined ? this.#cost + cost : undefined;
  }

  /** Resets the sums, because another session begins. */
  reset(): void {
    this.#input = 0;
    this.#cached = 0;
    this.#output = 0;
    this.#cost = 0;
    this.#costIsEstimate = false;
    this.#last = 0;
  }

  /** Forgets the size, because the conversation has changed: the next request reports the new one. */
  forgetSize(): void {
    this.#last = 0;
  }

  get tokens(): { readonly input: number; readonly cached: number; readonly output: number } {
    return { input: this.#input, cached: this.#cached, output: this.#output };
  }

  /** In dollars; `undefined` if a request did not report it, or none was sent. */
  get cost(): number | undefined {
    return this.#input + this.#output === 0 ? undefined : this.#cost;
  }

  /** Whether part of the cost was computed with list prices. */
  get costIsEstimate(): boolean {
    return this.#costIsEstimate;
  }

  /** The tokens of the conversation in the last request. */
  get size(): number {
    return this.#last;
  }
}
