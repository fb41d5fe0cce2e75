import { fitCallId } from "@agent/core/provider";

const FITTING = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The ids of a conversation's calls as the server takes them: of certain characters, and each only once. Other
 * providers use other characters, or the same ids in each answer.
 */
export class CallIds {
  readonly #used = new Set<string>();
  #ofAnswer = new Map<string, string>();

  /** Ids from here on belong to the next answer and its results. */
  nextAnswer(): void {
    this.#ofAnswer = new Map();
  }

  of(id: string): string {
    const known = this.#ofAnswer.get(id);
    if (known !== undefined) return known;
    let fitting = fitCallId(id, FITTING);
    for (let count = 2; this.#used.has(fitting); count++) fitting = fitCallId(`${id}_${count}`, FITTING);
    this.#used.add(fitting);
    this.#ofAnswer.set(id, fitting);
    return fitting;
  }
}
