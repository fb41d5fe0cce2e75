import { ownStandardOutput } from "../system/output.js";
import { isLiveTerminal, terminalStyle } from "./terminalKind.js";

/** The prompt in front of the input line. */
export const PROMPT = "› ";

/**
 * Clears the prompt and moves back to where `drawFirstPrompt` began. Cleared from the upper left corner, the whole screen
 * would be: tmux keeps a copy of a cleared screen.
 */
const ERASE = "\r\x1b[J\x1b[1A";

/**
 * Shows the prompt before the chat is loaded, with the same look as in the first frame, and keeps what is typed until
 * then: the terminal is in raw mode from now on. Does nothing without a terminal that can erase the prompt again. Node
 * restores the terminal however the process exits.
 */
export function drawFirstPrompt(): void {
  if (!process.stdin.isTTY || !isLiveTerminal()) return;
  try {
    process.stdin.setRawMode(true);
  } catch {
    // The terminal is closed; the chat will report it.
    return;
  }
  process.stdout.write(`\r\n${terminalStyle().bold(PROMPT)}`);
}

/** Erases the prompt of `drawFirstPrompt`, if it was drawn: nothing else enables raw mode before a chat. */
export function eraseFirstPrompt(): void {
  if (process.stdin.isRaw) ownStandardOutput().write(ERASE);
}
