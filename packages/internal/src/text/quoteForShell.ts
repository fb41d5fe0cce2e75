/**
 * A text in single quotes, which a POSIX shell reads back as it is, as one word.
 *
 * @example
 * ```ts
 * import { quoteForShell } from "@agent/core/toolkit";
 *
 * console.log(`cat ${quoteForShell("it's here.txt")}`); // cat 'it'\''s here.txt'
 * ```
 */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
