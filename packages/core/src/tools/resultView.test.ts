import { describe, expect, test } from "vitest";
import { type ResultView, readValue, readView } from "./resultView.js";

const LIMIT = 16 * 1024;
const asIs = (text: string): string => text;
const redact = (text: string): string => text.replaceAll("s3cret", "[secret]");

const diff = { path: "a", change: "edited", added: 1, removed: 0, hunks: [] } as const;
const VIEWS: readonly ResultView[] = [
  { type: "diff", files: [diff] },
  { type: "code", text: "let a" },
  { type: "code", text: "let a", path: "a.ts", startLine: 3, more: 1 },
  { type: "output", text: "done" },
  { type: "output", text: "done", exitCode: 1, files: [{ label: "all", path: "/tmp/x", bytes: 7 }], more: 1 },
  { type: "output", text: "done", files: [{ label: "all", path: "/tmp/x" }] },
  { type: "list", items: [{ text: "x" }, { text: "x", path: "a", line: 1 }], more: 1 },
  { type: "table", columns: ["a"], rows: [["1"]], more: 1 },
  { type: "fields", fields: [["a", "1"]], more: 1 },
  { type: "markdown", text: "# a" },
];

describe("a view that a tool reported", () => {
  test.each(VIEWS)("is shown as it is: %j", (view) => {
    expect(readView(view, asIs)).toEqual(view);
  });

  test.each<unknown>([
    {},
    { type: "hologram", text: "x" },
    { type: "markdown" },
    { type: "markdown", text: "x", more: "2" },
    { type: "diff", files: diff },
    { type: "diff", files: [{ ...diff, change: "renamed" }] },
    { type: "code", path: "a" },
    { type: "code", text: "x", path: 1 },
    { type: "code", text: "x", startLine: "1" },
    { type: "output", text: 1 },
    { type: "output", text: "x", exitCode: "0" },
    { type: "output", text: "x", files: {} },
    { type: "output", text: "x", files: [null] },
    { type: "output", text: "x", files: [{ path: "/tmp/x" }] },
    { type: "output", text: "x", files: [{ label: "all" }] },
    { type: "output", text: "x", files: [{ label: "all", path: "/tmp/x", bytes: "7" }] },
    { type: "list" },
    { type: "list", items: ["x"] },
    { type: "list", items: [{ path: "a" }] },
    { type: "list", items: [{ text: "x", path: 1 }] },
    { type: "list", items: [{ text: "x", line: "1" }] },
    { type: "table", rows: [["1"]] },
    { type: "table", columns: [1], rows: [] },
    { type: "table", columns: ["a"], rows: ["1"] },
    { type: "table", columns: ["a"], rows: [[1]] },
    { type: "fields", fields: ["a"] },
    { type: "fields", fields: [["a"]] },
    { type: "fields", fields: [["a", 1]] },
    // Two texts that look like a field.
    { type: "fields", fields: [{ 0: "a", 1: "b", length: 2 }] },
  ])("is refused if it is not a view: %j", (view) => {
    expect(() => readView(view, asIs)).toThrow("the view is not valid");
  });

  test("holds no known secret, in no text and no name", () => {
    const view = { type: "fields", fields: [["s3cret", "is s3cret"]], s3cret: 1 };
    expect(readView(view, redact)).toEqual({
      type: "fields",
      fields: [["[secret]", "is [secret]"]],
      "[secret]": 1,
    });
  });

  test("keeps the start of a long code and the end of a long output, and counts the other lines", () => {
    const lines = Array.from({ length: 4000 }, (_, index) => `${index + 1}`.padStart(7)).join("\n");
    for (const type of ["code", "markdown"] as const) {
      const view = readView({ type, text: lines, more: 5 }, asIs) as { text: string; more: number };
      expect(view.text).toBe(lines.slice(0, LIMIT));
      expect(view.more).toBe(5 + 4000 - view.text.split("\n").length);
    }
    const output = readView({ type: "output", text: lines }, asIs) as { text: string; more: number };
    expect(output.text).toBe(lines.slice(-LIMIT));
    expect(output.more).toBe(4000 - output.text.split("\n").length);
    // Part of one long line is left out.
    expect(readView({ type: "markdown", text: "x".repeat(LIMIT + 1) }, asIs)).toMatchObject({ more: 1 });
  });

  test.each<[string, (items: readonly string[]) => ResultView]>([
    ["items", (items) => ({ type: "list", items: items.map((text) => ({ text })), more: 3 })],
    ["rows", (items) => ({ type: "table", columns: ["a"], rows: items.map((text) => [text]), more: 3 })],
    ["fields", (items) => ({ type: "fields", fields: items.map((text) => ["a", text] as const), more: 3 })],
  ])("keeps the first %s that fit, and counts the others", (name, view) => {
    const items = Array.from({ length: 40 }, () => "x".repeat(1000));
    const read = readView(view(items), asIs) as unknown as Record<string, unknown[]> & { more: number };
    expect(read[name]).toHaveLength(16);
    expect(read.more).toBe(3 + 24);
  });
});

describe("a value that a tool reported", () => {
  test("is a copy without known secrets", () => {
    const value = { list: [1, null, true, "s3cret"], s3cret: { deep: "a s3cret" } };
    const read = readValue(value, redact);
    expect(read).toEqual({ list: [1, null, true, "[secret]"], "[secret]": { deep: "a [secret]" } });
    expect((read as typeof value).list).not.toBe(value.list);
  });

  test("is left out if it is longer than 64 KB of JSON", () => {
    const text = "x".repeat(64 * 1024 - 2);
    expect(readValue(text, asIs)).toBe(text);
    expect(readValue(`${text}x`, asIs)).toBeUndefined();
  });

  test("is refused if it is not JSON", () => {
    expect(() => readValue(() => 1, asIs)).toThrow("the value is function, which is not JSON");
  });
});
