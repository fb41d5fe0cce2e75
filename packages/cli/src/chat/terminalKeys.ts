/** What `/help` says about the keys of the chat on a terminal. */
export const TERMINAL_KEYS: readonly string[] = [
  "Enter sends · Alt+Enter, Ctrl+J or \\ at the end of a line starts a new one · a message sent while it works steers it",
  "Up and Down recall earlier input, Ctrl+R searches it · Ctrl+_ takes an edit back · Ctrl+G opens $EDITOR",
  "@ names a file and attaches it, @a.ts:10-40 some lines · ! runs a command and tells the model · Tab completes",
  "Shift+Tab switches the mode: plan, ask, accept edits, auto",
  "Esc or Ctrl+C stops the answer · Ctrl+B moves a running command to the background · Ctrl+C twice or Ctrl+D leaves",
  "Ctrl+O shows the whole of the last call that was shortened, then of the one before; /expand lists them all",
];
