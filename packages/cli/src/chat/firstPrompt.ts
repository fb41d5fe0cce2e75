import { isLiveTerminal, terminalStyle } from "../display/terminalKind.js";

/** What stands in front of the line being written. */
export const PROMPT = "› ";

/** Back to where `drawFirstPrompt` began, on an empty row. */
export const ERASE_FIRST_PROMPT = "\r\x1b[1A\x1b[J";

/**
 * Shows the prompt before the chat itself is loaded, as the first frame shows it, and holds what is typed until then.
 * Returns whether it did: not without a terminal, nor on one that cannot take it away again. Node gives the terminal
 * back as it was, however the process ends.
 */
export function drawFirstPrompt(): boolean {
  if (!process.stdin.isTTY || !isLiveTerminal()) return false;
  try {
    process.stdin.setRawMode(true);
  } catch {
    // The terminal is gone, and the chat will find that out in words.
    return false;
  }
  process.stdout.write(`\r\n${terminalStyle().bold(PROMPT)}`);
  return true;
}
