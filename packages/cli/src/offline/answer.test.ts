import { describe, expect, test } from "vitest";
import { reportCall } from "./answer.js";

const report = (result: object): string =>
  reportCall({ call: { tool: "run_bash", args: { command: "make" } }, result: JSON.stringify(result) });

test.each<[what: string, result: object, words: string]>([
  ["succeeded", { stdout: "built\n", stderr: "", exit_code: 0 }, "built"],
  ["said nothing", { stdout: "", stderr: "", exit_code: 0 }, "The command succeeded without output: make"],
  [
    "failed",
    { stdout: "", stderr: "no rule\n", exit_code: 2 },
    "no rule\nThe command failed with exit code 2: make",
  ],
  [
    "was stopped by the user",
    { stdout: "half\n", exit_code: -1, ended_by: "user" },
    "half\nYou stopped the command: make",
  ],
  ["timed out", { stdout: "", exit_code: -1, timed_out: true }, "The command ran out of time: make"],
])("reports a command that %s as such", (_what, result, words) => {
  expect(report(result)).toBe(words);
});

test("passes on a result of another shape unchanged", () => {
  expect(report(["not", "a", "command"])).toBe('["not","a","command"]');
});

test.each([
  ["search_text", { query: "x" }, 'No matches for "x".\n[1 file searched]'],
  ["search_text", { query: "x", files_only: true }, 'No matches for "x".\n[1 file searched]'],
  ["search_files", { pattern: "*.zip" }, 'No files match "*.zip".\n[0 files]'],
])("announces no hits for a search of %s without any: %j", (tool, args, result) => {
  expect(reportCall({ call: { tool, args }, result })).toBe(result);
});

test("describes the hits of a search", () => {
  const call = { tool: "search_text", args: { query: "x", files_only: true } };
  expect(reportCall({ call, result: "a.txt" })).toBe('Files that contain "x":\na.txt');
});

describe("a request for a number", () => {
  const lines = (result: string): string =>
    reportCall({ call: { tool: "search_text", args: { query: "x" }, count: "lines" }, result });

  test("is answered with it", () => {
    expect(lines("a.ts:1:x\na.ts:2:xx\n[2 matching lines (1 file); 3 files searched]")).toBe(
      '2 lines contain "x".',
    );
    expect(lines("a.ts:1:x\n[1 of more than 90 matching lines shown (1 file); for the rest …]")).toBe(
      'More than 90 lines contain "x".',
    );
    expect(lines('No matches for "x" in src.')).toBe('0 lines contain "x".');
    const files = {
      tool: "search_files",
      args: { pattern: "**/*.ts", path: "src" },
      count: "files",
    } as const;
    expect(reportCall({ call: files, result: "src/a.ts\nsrc/b.ts\n[2 files; skipped 1 directory]" })).toBe(
      "2 files match **/*.ts in src.",
    );
  });
});
