/** A mistake in an expression, with the place it was noticed. */
export class RegexSyntaxError extends Error {
  /** `index` counts from 0; the message counts from 1, as people do. */
  constructor(problem: string, index: number) {
    super(`${problem} at position ${index + 1}`);
  }
}
