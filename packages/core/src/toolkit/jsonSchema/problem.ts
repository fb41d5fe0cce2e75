import { quotePath } from "@agent/internal";

/** Why a value does not fit: where it is, and what to say about it. */
export interface Problem {
  /** Keys and indexes from the top down to the value. */
  readonly path: readonly (string | number)[];
  /**
   * Completes the sentence that starts with the value's name: `must be a string, got number 4.` Made only when it is
   * shown: in a list of alternatives most problems are found and forgotten.
   */
  readonly message: () => string;
}

/** A compiled schema, or part of one. */
export type Check = (value: unknown) => Problem | undefined;

export function problem(message: () => string): Problem {
  return { path: [], message };
}

/** The same problem, seen from one level up. */
export function under(key: string | number, inner: Problem): Problem {
  return { path: [key, ...inner.path], message: inner.message };
}

/** One sentence naming the value: `"edits[0].old_text" must be a string, got null.` */
export function formatProblem(found: Problem, top = "the arguments"): string {
  let name = "";
  for (const key of found.path) {
    if (typeof key === "number") name += `[${key}]`;
    else name += name === "" ? key : `.${key}`;
  }
  return `${name === "" ? top : quotePath(name)} ${found.message()}`;
}
