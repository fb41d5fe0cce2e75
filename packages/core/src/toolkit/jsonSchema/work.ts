// A step is about 25 nanoseconds, so this is about a second. Checking real arguments takes a few thousand.
const MAX_STEPS = 40_000_000;

/** The measured cost of larger operations, in steps. */
export const COST = {
  schema: 4,
  alternative: 40,
  reference: 40,
  item: 2,
  property: 20,
  name: 2,
  character: 0.5,
};

/** The number of steps one validation may take, over all of its parts: no schema can make a value cost more. */
export class Work {
  #left = MAX_STEPS;
  /** The number of nested references being followed. */
  references = 0;

  begin(): void {
    this.#left = MAX_STEPS;
    this.references = 0;
  }

  /** Throws `TooMuchWork` when the steps are used up. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork(`takes more than ${MAX_STEPS} steps`);
  }
}

/** Stops a validation that would take too long; `message` completes "checking them against the schema …". */
export class TooMuchWork extends Error {
  override readonly name = "TooMuchWork";
}
