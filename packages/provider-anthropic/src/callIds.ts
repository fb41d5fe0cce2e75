import type { ChatToolCall } from "@agent/core";
import { fitCallId } from "@agent/core/provider";

const FITTING = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The ids of a conversation's calls as the server takes them: of certain characters, and each only once. Other
 * providers use other characters, or the same ids in each answer.
 */
export class CallIds {
  readonly #used = new Set<string>();
  // Ids of the last answer that had to be changed. There is nearly never one.
  #changed = new Map<string, string>();

  /** From here on ids are those of this answer and its results. Returns a text that is the same for the same ids. */
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
