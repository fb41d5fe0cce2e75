import { join } from "node:path";
import type { ResultView, ToolEndEvent, ToolOutcome } from "@agent/core";
import { describe, expect, test } from "vitest";
import { COLOR_STYLE, PLAIN_STYLE } from "../text/style.js";
import { isRead, outputFiles, resultBody, verdictText } from "./resultBody.js";
import { type BlockOptions, expandedLines, finishedLines } from "./toolBlock.js";

function ended(part: Partial<ToolEndEvent>): ToolEndEvent {
  return {
    type: "tool_end",
    id: "1",
    name: "tool",
    outcome: "ok",
    text: "for the model",
    durationMs: 1,
    ...part,
  };
}

const bodyOf = (view: ResultView): readonly string[] =>
  resultBody(ended({ view }), PLAIN_STYLE, 40).lines.map((line) => line.trimEnd());

const OPTIONS: BlockOptions = { style: PLAIN_STYLE, width: 40, expandHint: "ctrl+o" };
const rowsOf = (part: Partial<ToolEndEvent>): string[] =>
  finishedLines({ title: "title", event: ended(part) }, OPTIONS).lines;

describe("the words for how a call ended", () => {
  test.each<[ToolOutcome, string | undefined, string]>([
    ["ok", undefined, "✓ 0.0s"],
    ["ok", "3 files", "✓ 3 files · 0.0s"],
    ["error", "exit code 2", "✗ exit code 2 · 0.0s"],
    ["interrupted", undefined, "✗ interrupted · 0.0s"],
    ["error", undefined, "✗ failed · 0.0s"],
    ["denied", undefined, "✗ denied · 0.0s"],
    ["aborted", undefined, "✗ aborted · 0.0s"],
    ["not_found", undefined, "✗ no such tool · 0.0s"],
    ["not_available", undefined, "✗ not available · 0.0s"],
  ])("%s, %s", (outcome, summary, expected) => {
    const event = ended({ outcome, ...(summary !== undefined && { summary }) });
    expect(verdictText(event, 1, PLAIN_STYLE)).toBe(expected);
  });
});

describe("the body of a result", () => {
  test("is drawn for each kind of view", () => {
    expect(bodyOf({ type: "code", text: "a\n\tb\n", startLine: 9 })).toEqual([" 9  a", "10  \tb"]);
    expect(bodyOf({ type: "output", text: "\none\ntwo\n\n" })).toEqual(["one", "two"]);
    const path = join(process.cwd(), "src/a.ts");
    expect(bodyOf({ type: "list", items: [{ text: "x", path, line: 3 }, { text: "b.ts" }] })).toEqual([
      "src/a.ts:3  x",
      "b.ts",
    ]);
    expect(bodyOf({ type: "fields", fields: [["name", "one\ntwo"]] })).toEqual(["name: one", "  two"]);
    expect(bodyOf({ type: "table", columns: ["a", "b"], rows: [["1", "2"]] }).join("\n")).toMatch(
      /a.*b[\s\S]*1.*2/,
    );
    expect(bodyOf({ type: "markdown", text: "- **one**" }).join("\n")).toContain("one");
  });

  test("is the text of a result without a view, and nothing for an aborted one", () => {
    expect(resultBody(ended({ text: "a\r\nb\x1b[2J" }), PLAIN_STYLE, 40).lines).toEqual(["a", "b\\x1b[2J"]);
    expect(resultBody(ended({ outcome: "aborted" }), PLAIN_STYLE, 40).lines).toEqual([]);
  });

  test.each<ResultView>([
    { type: "code", text: "\x1b[2J", startLine: 1 },
    { type: "output", text: "\x1b[2J", files: [{ label: "\x1b[2J", path: "\x1b[2J" }] },
    { type: "list", items: [{ text: "\x1b[2J", path: "/\x1b[2J", line: 1 }] },
    { type: "table", columns: ["\x1b[2J"], rows: [["\x1b[2J"]] },
    { type: "fields", fields: [["\x1b[2J", "\x1b[2J"]] },
    { type: "markdown", text: "\x1b[2J" },
    {
      type: "diff",
      files: [
        { path: "/\x1b[2J", change: "created", added: 1, removed: 0, hunks: [] },
        {
          path: "/a",
          change: "edited",
          added: 1,
          removed: 0,
          hunks: [{ oldStart: 1, newStart: 1, lines: ["+\x1b[2J"] }],
        },
      ],
    },
  ])("never controls the terminal: $type", (view) => {
    const shown = [...resultBody(ended({ view }), PLAIN_STYLE, 40).lines, ...outputFiles(ended({ view }))];
    expect(shown.join("\n")).not.toContain("\x1b");
    expect(shown.join("\n")).toContain("x1b[2J");
  });
});

describe("a finished call", () => {
  test("takes one row if it read something", () => {
    const view: ResultView = { type: "list", items: [{ text: "a" }, { text: "b" }] };
    expect(rowsOf({ view, summary: "2 files" })).toEqual(["● tool  title (2 files)"]);
    expect(rowsOf({ about: { title: "", kind: "search" } })).toEqual(["● tool  title ✓"]);
    expect(isRead(ended({ view, outcome: "error" }))).toBe(false);
    expect(expandedLines({ title: "title", event: ended({ view }) }, OPTIONS)).toContain("│ b");
  });

  test("counts hidden lines, not the rows they take", () => {
    const long = "word ".repeat(20).trim();
    const rows = rowsOf({ text: Array(10).fill(long).join("\n") });
    // Five rows of three a line: one line and a part of the second are shown.
    expect(rows.filter((row) => row.includes("word"))).toHaveLength(5);
    expect(rows).toContain("│ … +9 lines (ctrl+o)");
  });

  test("shows the end of an output and where all of it is", () => {
    const text = Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n");
    const files = [{ label: "stdout", path: "/tmp/x", bytes: 2_000_000 }];
    expect(rowsOf({ view: { type: "output", text, files, more: 7 } })).toEqual([
      "● tool  title",
      "│ … +22 lines (ctrl+o)",
      ...[15, 16, 17, 18, 19].map((line) => `│ line ${line}`),
      "│ all of stdout (1.9 MB): /tmp/x",
      "└ ✓ 0.0s",
    ]);
  });

  test("shows one line more rather than a notice that hides one", () => {
    expect(rowsOf({ text: "1\n2\n3\n4\n5\n6" })).toHaveLength(8);
    expect(rowsOf({ text: "1\n2\n3\n4\n5\n6\n7" })).toContain("│ … +2 lines (ctrl+o)");
  });

  test("is marked red if it failed", () => {
    const options = { ...OPTIONS, style: COLOR_STYLE };
    const [row] = finishedLines({ title: "", event: ended({ outcome: "error" }) }, options).lines;
    expect(row).toContain(COLOR_STYLE.red("●"));
  });
});
