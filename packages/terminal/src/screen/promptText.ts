import type { Style } from "../text/style.js";
import { cutToWidth } from "../text/width.js";
import { PROMPT } from "./firstPrompt.js";

const ASKING = "? ";

/** The prompt in front of the input line, and its width: a mark, or words such as those of a search. */
export function promptText(
  words: string | undefined,
  isAsking: boolean,
  width: number,
  style: Style,
): { readonly text: string; readonly columns: number } {
  if (words !== undefined) {
    const shown = cutToWidth(words, Math.floor(width / 2));
    return { text: style.cyan(shown), columns: shown.length };
  }
  return { text: isAsking ? style.yellow(ASKING) : style.bold(PROMPT), columns: PROMPT.length };
}
