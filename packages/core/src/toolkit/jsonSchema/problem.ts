import { quotePath } from "@agent/internal";

/** Why a value does not match: its location and the message. */
export interface Problem {
  /** Keys and indexes from the root to the value. */
  readonly path: readonly (string | number)[];
  /**
   * Completes the sentence that starts with the value's name: `must be a string, got number 4.` Created only when it is
   * shown: with alternatives, most problems are found and discarded.
   */
  readonly message: () => string;
}

/** A compiled schema, or part of one. */
export type Check = (value: unknown) => Problem | undefined;

export function problem(message: () => string): Problem {
  return { path: [], message };
}

/** The same problem with a path from one level up. */
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
