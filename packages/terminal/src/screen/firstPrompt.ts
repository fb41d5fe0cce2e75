import { isLiveTerminal, terminalStyle } from "./terminalKind.js";

/** The prompt in front of the input line. */
export const PROMPT = "› ";

/** Moves back to where `drawFirstPrompt` began and clears the rows below. */
export const ERASE_FIRST_PROMPT = "\r\x1b[1A\x1b[J";

/**
 * Shows the prompt before the chat is loaded, with the same look as in the first frame, and keeps what is typed until
 * then. Returns whether it did: it needs a terminal that can erase the prompt again. Node restores the terminal however
 * the process ends.
 */
export function drawFirstPrompt(): boolean {
  if (!process.stdin.isTTY || !isLiveTerminal()) return false;
  try {
    process.stdin.setRawMode(true);
  } catch {
    // The terminal is gone; the chat will report it.
    return false;
  }
  process.stdout.write(`\r\n${terminalStyle().bold(PROMPT)}`);
  return true;
}
