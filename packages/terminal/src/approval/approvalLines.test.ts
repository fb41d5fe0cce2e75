import { findConfusables, spellOut } from "@agent/internal";
import { describe, expect, test } from "vitest";
import { PLAIN_STYLE } from "../text/style.js";
import { approvalLines, approvalRows, questionText } from "./approvalQuestion.js";

const call = (args: Record<string, unknown>, needs: readonly object[] = [], more: object = {}): never =>
  ({
    id: "1",
    name: "run_bash",
    args,
    description: { needs },
    signal: AbortSignal.any([]),
    ...more,
  }) as never;
const question = (args: Record<string, unknown>, needs: readonly object[] = []): string[] =>
  approvalLines(call(args, needs), PLAIN_STYLE);

function edited(path: string, lines: readonly string[]) {
  const hunks = [{ oldStart: 1, newStart: 1, lines }];
  return { path, change: "edited", added: 1, removed: 1, hunks } as const;
}

describe("the question about a call", () => {
  test("shows a short command whole, and nothing else", () => {
    expect(question({ command: "ls -l\nпривет, мир" })).toEqual([
      "? run_bash",
      "│ command: ls -l",
      "│   привет, мир",
    ]);
  });

  test("names the agent that asks, and the directory that it works in if it has its own", () => {
    const more = { label: "worker", directory: "/trees/worker-1" };
    expect(approvalLines(call({ command: "ls" }, [], more), PLAIN_STYLE)).toEqual([
      "? worker asks: run_bash",
      "│ in its work tree: /trees/worker-1",
      "│ command: ls",
    ]);
  });

  test("continues a command longer than a row right of the bar", () => {
    const rows = approvalRows(call({ command: "echo one two three four" }), PLAIN_STYLE, 24);
    expect(rows.map((row) => row.trimEnd())).toEqual([
      "? run_bash",
      "│ command: echo one",
      "│   two three four",
    ]);
  });

  test("continues a line of a diff that is longer than a row right of its sign", () => {
    const preview = { changes: [edited("a", ["-one two three", "+one"])] };
    const rows = approvalRows(call({}, [], { preview }), PLAIN_STYLE, 14);
    expect(rows.slice(-3).map((row) => row.trimEnd())).toEqual(["│ 1 -one two", "│    three", "│ 1 +one"]);
  });

  test("hides only the arguments that the diff makes redundant", () => {
    const preview = { changes: [edited("a", ["+x"])], shows: ["content"] };
    const args = { path: "a", content: "x", mode: "sly" };
    expect(approvalLines(call(args, [], { preview }), PLAIN_STYLE)).toEqual([
      "? run_bash",
      "│ path: a",
      "│ mode: sly",
      "│ 1 +x",
    ]);
    const unseen = approvalLines(call(args, [], { preview: { ...preview, changes: [] } }), PLAIN_STYLE);
    expect(unseen).toContain("│ content: x");
    expect(approvalLines(call(args), PLAIN_STYLE)).toContain("│ content: x");
  });

  test.each([
    [{ changes: [edited("/else/a.js", ["+x"])] }, {}, "Apply this edit to /else/a.js?"],
    [{ changes: [{ ...edited("/else/a", ["+x"]), change: "created" }] }, {}, "Create /else/a?"],
    [{ changes: [{ ...edited("/else/a", []), change: "deleted" }] }, {}, "Delete /else/a?"],
    [
      { changes: [{ ...edited("/else/b", []), change: "moved", oldPath: "/else/a" }] },
      {},
      "Move /else/a to /else/b?",
    ],
    [{ changes: [edited("/a", []), edited("/b", [])] }, {}, "Apply these changes to 2 files?"],
    [undefined, { kind: "execute", title: "npm test" }, "Run this command?"],
    [undefined, { kind: "fetch", title: "https://e.org/\u202e" }, "Fetch https://e.org/\\u202e?"],
    [undefined, { kind: "edit", title: "a\nb" }, "Change a\\nb?"],
    [undefined, { kind: "other", title: "x" }, "Run run_bash?"],
    [undefined, { kind: "read", title: "" }, "Run run_bash?"],
  ])("is named by what the call does: %j %j", (preview, description, expected) => {
    const asked = call({}, [], {
      preview,
      description: { needs: [], title: "", kind: "edit", ...description },
    });
    expect(questionText(asked)).toBe(expected);
  });

  test("says how long a long command is, after its end", () => {
    const lines = question({ command: `echo ${"x\n".repeat(100)}rm -rf ~` });
    expect(lines.slice(-2)).toEqual(["│   rm -rf ~", "│ ! command is long: 213 characters on 101 lines"]);
  });

  test("shows the start and the end of one too long to be read, and reports what is missing", () => {
    const text = question({ command: `start${"x".repeat(1_000_000)}the end` }).join("\n");
    expect(text.length).toBeLessThan(25_000);
    expect(text).toContain("command: start");
    expect(text).toContain("the end\n");
    expect(text).toContain("980012 characters are not shown here");
    expect(text).toContain("! command is long: 1000012 characters on 1 line, not all of it shown");
  });

  test("names each path that needs approval, on its own line", () => {
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
