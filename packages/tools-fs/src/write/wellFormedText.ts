import { requireString } from "@agent/core/toolkit";

/**
 * Reads the text argument `name`. Throws, with the position, if it contains an unpaired surrogate: UTF-8 cannot encode
 * one, and it would silently be written as U+FFFD. `shown` is the name of the argument in the message.
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
