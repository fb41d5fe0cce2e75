import type { Diagnostic } from "../protocol/messages.js";

const ERROR = 1;

/** The errors of a text, each with the line of code it is in. */
export interface CheckedText {
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

export const NOTHING: CheckedText = { text: "", diagnostics: [] };

/**
 * The errors that the new text has and the old one had not. Lines move, so errors are compared by their message and
 * the code in their line; an error whose line was edited counts as new only if there are more of its kind than before.
 */
export function newErrors(before: CheckedText, after: CheckedText): Diagnostic[] {
  const old = new Map<string, string[]>();
  for (const { kind, code } of errorsOf(before)) old.set(kind, [...(old.get(kind) ?? []), code]);
  const rest = errorsOf(after).filter(({ kind, code }) => {
    const lines = old.get(kind);
    const index = lines?.indexOf(code) ?? -1;
    if (index !== -1) lines?.splice(index, 1);
    return index === -1;
  });
  return rest.flatMap(({ kind, diagnostic }) => (old.get(kind)?.pop() === undefined ? [diagnostic] : []));
}

function errorsOf({ text, diagnostics }: CheckedText) {
  const errors = diagnostics.filter(({ severity }) => severity === ERROR);
  if (errors.length === 0) return [];
  const lines = text.split("\n");
  return errors.map((diagnostic) => ({
    diagnostic,
    kind: `${diagnostic.code}\0${diagnostic.message}`,
    code: (lines[diagnostic.range.start.line] ?? "").trim(),
  }));
}
