import { expect, test } from "vitest";
import { LineEditor } from "./editor.js";
import type { Key } from "./keys.js";
import { VimKeys } from "./vimKeys.js";

const ESCAPE: Key = { type: "key", name: "escape" };

/** Types keys into a line with this text, from normal mode with the cursor at `|`, and returns the line the same way. */
function typed(line: string, keys: string): string {
  const editor = new LineEditor();
  const vim = new VimKeys(editor);
  editor.set(line.replace("|", ""));
  vim.press(ESCAPE);
  editor.set(editor.text, line.indexOf("|"));
  for (const key of vim.press({ type: "text", text: keys })) if (key.type === "text") editor.insert(key.text);
  return `${editor.text.slice(0, editor.cursor)}|${editor.text.slice(editor.cursor)}`;
}

test.each([
  ["one two| three", "b", "one |two three"],
  ["|one two three", "2w", "one two |three"],
  ["|one two", "e", "on|e two"],
  ["one |two", "0", "|one two"],
  ["|one two", "$", "one tw|o"],
  ["|one two", "fx", "|one two"],
  ["|one two", "ft", "one |two"],
  ["|one two", "dw", "|two"],
  ["|one two", "dwp", "tone |wo"],
  ["one |two three", "cwX", "one X| three"],
  ["one |two", "C!", "one !|"],
  ["one |two", "D", "one| "],
  ["o|ne", "x", "o|e"],
  ["o|ne", "3x", "|o"],
  ["o|ne", "rX", "o|Xe"],
  ["a\n|b\nc", "dd", "a\n|c"],
  ["a\n|b", "dd", "|a"],
  ["a\n|b", "cczz", "a\nzz|"],
  ["|one two", "yw$p", "one twoone| "],
  ["o|ne", "A!", "one!|"],
  ["o|ne", "I!", "!|one"],
  ["o|ne", "oX", "one\nX|"],
  ["|one", "OX", "X|\none"],
  ["|one two", "dwu", "|one two"],
  ["|👩‍👩‍👧 x", "x", "| x"],
  ["|one", "gq", "|one"],
])("%j after %s is %j", (before, keys, after) => {
  expect(typed(before, keys)).toBe(after);
});

test("returns keys that are not its own: history, the editor, Enter, Esc in normal mode", () => {
  const editor = new LineEditor();
  const vim = new VimKeys(editor);
  editor.set("text");
  expect(vim.press({ type: "text", text: "k" })).toEqual([{ type: "text", text: "k" }]);
  expect(vim.press(ESCAPE)).toEqual([]);
  expect(vim.isNormal).toBe(true);
  expect(vim.press({ type: "text", text: "kv" })).toEqual([
    { type: "key", name: "up" },
    { type: "key", name: "ctrl-g" },
  ]);
  vim.press({ type: "text", text: "d" });
  expect(vim.press(ESCAPE)).toEqual([]);
  expect(vim.press(ESCAPE)).toEqual([ESCAPE]);
  expect(vim.press({ type: "key", name: "enter" })).toEqual([{ type: "key", name: "enter" }]);
});
