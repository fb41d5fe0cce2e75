import { quoteForShell } from "@agent/internal";

/** Quotes a word for a shell if it needs quotes, for a command that a user may copy. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoteForShell(word);
}
