/** What `/help` says about the keys of the chat on a terminal: each with what it does. */
export const TERMINAL_KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["Enter", "send; while an answer is written, steer it"],
  ["Alt+Enter, Ctrl+J", "start a new line; \\ at the end of a line does the same"],
  ["Up, Down", "recall earlier input; Ctrl+R searches it"],
  ["Ctrl+_", "revert an edit of the line; Ctrl+G opens it in $EDITOR"],
  ["@file, @a.ts:10-40", "attach a file, or some of its lines; Tab completes"],
  ["!command", "run a command and tell the model what it printed"],
  ["Shift+Tab", "switch the mode: plan, ask, accept edits, auto"],
  ["Esc, Ctrl+C", "stop the answer; Ctrl+C twice or Ctrl+D leaves"],
  ["Ctrl+B", "move a running command to the background"],
  ["Ctrl+O", "show a shortened call whole, then the one before; /expand lists them"],
];
