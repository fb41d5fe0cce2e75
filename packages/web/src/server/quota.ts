import { ActionError } from "./actions.js";

/** Limits what is open at the same time for one conversation, so that one person cannot use up the memory of the server. */
export class Quota {
  readonly #most: number;
  readonly #what: string;
  readonly #open = new Map<string, number>();

  constructor(most: number, what: string) {
    this.#most = most;
    this.#what = what;
  }

  /** Takes a slot until the returned function is called. Throws an `ActionError` if all are taken. */
  take(id: string): () => void {
    const open = this.#open.get(id) ?? 0;
    if (open >= this.#most) {
      throw new ActionError(429, `This conversation has ${this.#most} ${this.#what} open. Close one first.`);
    }
    this.#open.set(id, open + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#open.get(id) ?? 1) - 1;
      if (left > 0) this.#open.set(id, left);
      else this.#open.delete(id);
    };
  }
}
