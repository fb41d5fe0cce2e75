import { describe, expect, test } from "vitest";
import { LineEditor } from "./editor.js";
import { viewEditor } from "./editorView.js";

/** An editor with the cursor at `|`. */
function editor(text: string): LineEditor {
  const subject = new LineEditor();
  subject.set(text.replace("|", ""), text.indexOf("|"));
  return subject;
}

const shown = ({ text, cursor }: LineEditor): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

describe("Editor", () => {
  test.each([
    ["left", "a👍🏽|b", "a|👍🏽b"],
    ["right", "a|e\u0301b", "ae\u0301|b"],
    ["backspace", "x👨‍👩‍👧|", "x|"],
    ["delete", "|日本", "|本"],
    ["home", "one\ntwo| three", "one\n|two three"],
    ["home", "|\na", "|\na"],
    ["end", "o|ne\ntwo", "one|\ntwo"],
    ["alt-b", "foo bar-baz|", "foo bar-|baz"],
    ["alt-f", "|foo bar", "foo| bar"],
    ["alt-f", "|cafe\u0301s x", "cafe\u0301s| x"],
    ["alt-b", "x 𠮷𠮷|", "x |𠮷𠮷"],
    ["ctrl-w", "run the tests|", "run the |"],
    ["ctrl-w", `see ${"a".repeat(80)}|`, "see |"],
    ["ctrl-w", `see ${"👍🏽".repeat(40)}|`, "|"],
    ["alt-d", `|${"a".repeat(80)} b`, "| b"],
    ["ctrl-u", "one\ntwo| three", "one\n| three"],
    ["ctrl-k", "one| two\nthree", "one|\nthree"],
    ["up", "one\nlonger| line", "one|\nlonger line"],
    ["down", "日本|\nabcd", "日本\nab|cd"],
    ["newline", "a|b", "a\n|b"],
  ])("%s turns %j into %j", (key, before, after) => {
    const subject = editor(before);
    expect(subject.press(key)).toBe(true);
    expect(shown(subject)).toBe(after);
  });

  test("leaves up on the first line and down on the last to the history", () => {
    expect(editor("one|\ntwo").press("up")).toBe(false);
    expect(editor("one\ntwo|").press("down")).toBe(false);
  });

  test("restores a deleted word", () => {
    const subject = editor("one two|");
    subject.press("ctrl-w");
    subject.press("home");
    subject.press("ctrl-y");
    expect(shown(subject)).toBe("two|one ");
  });
});

describe("viewEditor", () => {
  test("shows the cursor where the text is, with control characters visible", () => {
    expect(viewEditor("a\x1bb", 2, 20, 5)).toEqual({ rows: ["a\\x1bb"], cursor: { row: 0, column: 5 } });
    expect(viewEditor("日本", 1, 20, 5).cursor).toEqual({ row: 0, column: 2 });
    expect(viewEditor("\nx", 0, 20, 5)).toEqual({ rows: ["", "x"], cursor: { row: 0, column: 0 } });
  });

  test("gives the cursor its own row after a line as wide as the terminal", () => {
    expect(viewEditor("abcd", 4, 4, 5)).toEqual({ rows: ["abcd", ""], cursor: { row: 1, column: 0 } });
  });

  test("keeps the cursor in sight however much there is", () => {
    const text = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join("\n");
    const { rows, cursor } = viewEditor(text, text.indexOf("line 500"), 20, 5);
    expect(rows).toHaveLength(5);
    expect(rows[cursor.row]).toBe("line 500");
  });
});
