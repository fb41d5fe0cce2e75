import { findConfusables, spellOut } from "@agent/internal";
import { describe, expect, test } from "vitest";
import { PLAIN_STYLE } from "../display/style.js";
import { approvalLines, approvalRows } from "./approvalQuestion.js";

const call = (args: Record<string, unknown>, needs: readonly object[] = []): never =>
  ({ id: "1", name: "run_bash", args, description: { needs }, signal: AbortSignal.any([]) }) as never;
const question = (args: Record<string, unknown>, needs: readonly object[] = []): string[] =>
  approvalLines(call(args, needs), PLAIN_STYLE);

describe("the question about a call", () => {
  test("shows a short command whole, and nothing else", () => {
    expect(question({ command: "ls -l\nпривет, мир" })).toEqual([
      "? run_bash wants to run with",
      "│ command: ls -l",
      "│   привет, мир",
    ]);
  });

  test("a command longer than a row goes on right of the bar", () => {
    const rows = approvalRows(call({ command: "echo one two three four" }), PLAIN_STYLE, [], 24);
    expect(rows.map((row) => row.trimEnd())).toEqual([
      "? run_bash wants to",
      "│   run with",
      "│ command: echo one",
      "│   two three four",
    ]);
  });

  test("a line of a diff that is longer than a row goes on right of its sign", () => {
    const rows = approvalRows(call({}), PLAIN_STYLE, ["@@ -1,1 +1,1 @@", "-one two three", "+one"], 12);
    expect(rows.slice(-3).map((row) => row.trimEnd())).toEqual(["│ -one two", "│  three", "│ +one"]);
  });

  test("says how long a long command is, after its end", () => {
    const lines = question({ command: `echo ${"x\n".repeat(100)}rm -rf ~` });
    expect(lines.slice(-2)).toEqual(["│   rm -rf ~", "│ ! command is long: 213 characters on 101 lines"]);
  });

  test("of one too long to be read it shows the start and the end, and says what is missing", () => {
    const text = question({ command: `start${"x".repeat(1_000_000)}the end` }).join("\n");
    expect(text.length).toBeLessThan(25_000);
    expect(text).toContain("command: start");
    expect(text).toContain("the end\n");
    expect(text).toContain("980012 characters are not shown here");
    expect(text).toContain("! command is long: 1000012 characters on 1 line, not all of it shown");
  });

  test("names each path that needs a yes, on a line of its own", () => {
    const need = { kind: "write", path: "/home/me/.ba\nshrc", reason: "outside the project" };
    expect(question({}, [need])).toContain("│ ! it writes /home/me/.ba\\nshrc (outside the project)");
  });

  test.each([
    ["\u202e", "\\u202e"],
    ["\u200b", "\\u200b"],
    ["\u00a0", "\\xa0"],
    ["\u3000", "\\u{3000}"],
    ["\u2800", "\\u{2800}"],
    ["\ufe0f", "\\u{fe0f}"],
    ["\u{e0041}", "\\u{e0041}"],
    ["\ue000", "\\u{e000}"],
    ["\ud800", "\\u{d800}"],
    ["\x1b[2K", "\\x1b[2K"],
  ])("spells out %j", (text, shown) => {
    expect(spellOut(`a${text}b`)).toBe(`a${shown}b`);
  });

  test.each([
    ["cаt file", ['"а" is U+0430']],
    ["ср -r a b", ['"с" is U+0441', '"р" is U+0440']],
    ["rm ‐rf /", ['"‐" is U+2010']],
    ["ｒｍ x", ['"ｒ" is U+FF52', '"ｍ" is U+FF4D']],
    ["curl http:∕∕x", ['"∕" is U+2215']],
    ["rm -rf fıle", ['"ı" is U+0131']],
    ["cat ⅼist", ['"ⅼ" is U+217C']],
    ["cօpy x", ['"օ" is U+0585']],
    ["grep Ωμέγα notes.txt", []],
    ["echo 'Привет, как дела?'", []],
    ["git commit -m 'naïve café'", []],
  ])("names lookalikes in %j", (text, found) => {
    expect(findConfusables(text)).toEqual(found);
  });

  test("says that words may be drawn in another order", () => {
    expect(question({ command: "rm -rf אב / גד" }).join("\n")).toContain("run from right to left");
    expect(question({ command: "rm -rf ab / cd" }).join("\n")).not.toContain("right to left");
  });
});
