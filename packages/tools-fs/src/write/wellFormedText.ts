import { requireString } from "@agent/core/toolkit";

/**
 * The text argument `name`. Throws, with the place, if it holds half a character: no file could hold it, and
 * it would silently be written as U+FFFD. `shown` is how the caller knows the argument.
 */
export function requireWellFormedText(
  args: Readonly<Record<string, unknown>>,
  name: string,
  shown: string = name,
): string {
  const text = requireString(args, name, { allowEmpty: true });
  if (text.isWellFormed()) return text;
  const at = firstDifference(text, text.toWellFormed());
  const unit = text.charCodeAt(at).toString(16);
  const line = text.slice(0, at).split("\n").length;
  throw new Error(
    `"${shown}" holds half a character (\\u${unit}, an unpaired surrogate) at position ${at}, on its line ${line}: ` +
      "nothing was changed. Send the whole character.",
  );
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (a[at] === b[at]) at++;
  return at;
}
