import { expect, test } from "vitest";
import { PlainWindow } from "../../match/window/plainWindow.js";
import { ByteView, StringView } from "./view.js";

test("never cuts through a character, in bytes or in text", () => {
  for (let before = 0; before < 40; before++) {
    const line = `${"x".repeat(before)}${"😀é".repeat(200)}needle${"😀é".repeat(200)}`;
    const bytes = Buffer.from(line);
    const inBytes = new ByteView(new PlainWindow(bytes), 0, bytes.length);
    const fromBytes = inBytes.shown(0, bytes.length, bytes.indexOf("needle"), 50);
    const fromText = new StringView(line, false).shown(0, line.length, line.indexOf("needle"), 50);
    for (const shown of [fromBytes, fromText]) {
      expect(shown).toContain("needle");
      expect(shown.isWellFormed()).toBe(true);
      expect(shown).not.toContain("\ufffd");
      expect(shown).toMatch(/^….*… \[line of \d+ bytes cut\]$/u);
    }
  }
});

test("shows whole a line that fits", () => {
  const view = new StringView("abc\r\ndef", true);
  expect(view.shown(0, 4, 0, 3)).toBe("abc");
  expect(view.shown(5, 8, 5, 3)).toBe("def");
});
