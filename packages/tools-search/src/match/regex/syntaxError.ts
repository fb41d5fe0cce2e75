/** An error in an expression, with its position. */
export class RegexSyntaxError extends Error {
  /** `index` counts from 0; the message counts from 1. */
  constructor(problem: string, index: number) {
    super(`${problem} at position ${index + 1}`);
  }
}
