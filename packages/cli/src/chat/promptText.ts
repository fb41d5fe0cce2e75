import type { Style } from "../display/style.js";
import { cutToWidth } from "../display/width.js";
import { PROMPT } from "./firstPrompt.js";

const ASKING = "? ";

/** What stands in front of the line being written, and its columns: a mark, or words such as those of a search. */
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
