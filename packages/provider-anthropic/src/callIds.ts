import type { ChatToolCall } from "@agent/core";
import { fitCallId } from "@agent/core/provider";

const FITTING = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The ids of a conversation's calls in the form that the server accepts: only certain characters, each id only once.
 * Calls of other providers have other characters, or the same ids in each answer.
 */
export class CallIds {
  readonly #used = new Set<string>();
  // The ids of the last answer that had to be changed; nearly always empty.
  #changed = new Map<string, string>();

  /** Starts the ids of this answer and its results. Returns a cache key: the same text for the same ids. */
  addAnswer(calls: readonly ChatToolCall[]): string {
    if (this.#changed.size > 0) this.#changed = new Map();
    for (const { id } of calls) this.#add(id);
    return [...this.#changed.values()].join(" ");
  }

  /** The id of a call of the last answer. */
  of(id: string): string {
    return this.#changed.get(id) ?? fitCallId(id, FITTING);
  }

  #add(id: string): void {
    let fitting = fitCallId(id, FITTING);
    for (let count = 2; this.#used.has(fitting); count++) fitting = fitCallId(`${id}_${count}`, FITTING);
    this.#used.add(fitting);
    if (fitting !== id) this.#changed.set(id, fitting);
  }
}
