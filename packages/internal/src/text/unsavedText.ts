/**
 * The unsaved text of a file that is open in an editor, with the line endings of the file; `undefined` if the editor
 * has no changes, or answered with something other than text. Editors store line endings separately: a file with `\r\n`
 * may arrive without `\r`.
 *
 * @example
 * ```ts
 * import { unsavedText } from "@agent/core/toolkit";
 *
 * console.log(unsavedText("a\n", "a\n"), JSON.stringify(unsavedText("a\r\n", "b\n"))); // undefined "b\r\n"
 * ```
 */
export function unsavedText(onDisk: string, inEditor: unknown): string | undefined {
  if (typeof inEditor !== "string") return undefined;
  if (withoutReturns(inEditor) === withoutReturns(onDisk)) return undefined;
  return usesReturns(onDisk) && !inEditor.includes("\r\n") ? inEditor.replaceAll("\n", "\r\n") : inEditor;
}

function withoutReturns(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function usesReturns(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}
