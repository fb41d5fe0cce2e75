import { expect, test } from "vitest";
import { escapeInvisible, escapeToLine } from "./visible.js";

test.each([
  ["\u001b[2J", "\\x1b[2J"],
  ["\u009b2J", "\\x9b2J"],
  ["a\rb\bc\u007f", "a\\rb\\x08c\\x7f"],
  ["\u0000", "\\x00"],
  ["safe\u202eexe", "safe\\u202eexe"],
  ["a\u200bb\u2066c\ufeff", "a\\u200bb\\u2066c\\ufeff"],
  ["\u2028\u2029", "\\u2028\\u2029"],
  ["\u{e0041}\u{e0100}", "\\u{e0041}\\u{e0100}"],
  ["\u3164\u115f\uffa0\u034f", "\\u3164\\u115f\\uffa0\\u034f"],
])("shows %j as %s", (text, shown) => {
  expect(escapeInvisible(text)).toBe(shown);
  expect(escapeToLine(text)).toBe(shown);
});

test("keeps lines and tabs, unless there may be only one line", () => {
  expect(escapeInvisible("a\tb\nc")).toBe("a\tb\nc");
  expect(escapeToLine("a\tb\nc")).toBe("a\\tb\\nc");
});

test.each(["", "plain", "größer", "中文", "😀", "e\u0301", "-rf", 'quo"te', "back\\slash", "nbsp\u00a0"])(
  "keeps %j as it is",
  (text) => {
    expect(escapeToLine(text)).toBe(text);
  },
);

test("leaves nothing that can move a cursor, whatever the character", () => {
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const shown = escapeToLine(String.fromCodePoint(code));
    if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(shown)) expect.unreachable(`U+${code.toString(16)} is not escaped`);
    // Format characters other than the visible ones of Arabic, Syriac, Kaithi and musical notation.
    if (/\p{Bidi_Control}/u.test(shown)) expect.unreachable(`U+${code.toString(16)} is not escaped`);
  }
});
