import { escapeInvisible } from "@agent/core/toolkit";

/**
 * Text from a tool, a model or a file as lines that cannot control the terminal. Windows line ends are
 * ordinary ones; any other carriage return is made visible like all control characters.
 */
export function safeLines(text: string): string[] {
  return escapeInvisible(text.includes("\r") ? text.replaceAll("\r\n", "\n") : text).split("\n");
}

// Joins two emoji into one picture, which few terminals draw: spelled out it would stand in the middle of prose.
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})/gu;

/** Prose as it is shown: emoji that belong together stand side by side. */
export function withoutEmojiJoiners(text: string): string {
  return text.includes("\u200d") ? text.replace(EMOJI_JOINER, "") : text;
}
