import type { ToolEndEvent } from "@agent/core";
import { describe, expect, test } from "vitest";
import { judge } from "./toolResult.js";

function ended(part: Partial<ToolEndEvent>): ToolEndEvent {
  return { type: "tool_end", id: "1", name: "run_bash", outcome: "ok", text: "", durationMs: 1, ...part };
}

const result = (exit_code: number): string => JSON.stringify({ stdout: "out\n", stderr: "err", exit_code });

describe("judge", () => {
  test.each([
    ["exit code 2", ended({ outcome: "error", text: result(2), summary: "exit code 2" }), "exit code 2"],
    ["exit code -1", ended({ outcome: "error", text: result(-1), summary: "timed out" }), "timed out"],
    ["a call a killed program left open", ended({ outcome: "interrupted" }), "interrupted"],
    ["an error", ended({ outcome: "error", text: "Error executing run_bash: no" }), "failed"],
    ["a refusal", ended({ outcome: "denied" }), "denied"],
    ["an abort", ended({ outcome: "aborted" }), "aborted"],
    ["an unknown tool", ended({ outcome: "not_found" }), "no such tool"],
    ["a disabled tool", ended({ outcome: "not_available" }), "not available"],
  ])("%s is a failure", (_, event, words) => {
    expect(judge(event)).toMatchObject({ ok: false, words });
  });

  test("exit code 0 is a success, with the output of both streams", () => {
    expect(judge(ended({ text: result(0) }))).toEqual({
      ok: true,
      words: "",
      output: ["out", "err"],
      kind: "command",
      wholeOutput: [],
    });
  });

  test("a file whose text looks like an error is no failure", () => {
    const event = ended({ name: "read_file", text: "Error executing the plan" });
    expect(judge(event)).toMatchObject({ ok: true, words: "", kind: "text" });
  });

  test("text that is almost a command's result is shown as it is", () => {
    for (const text of ['{"exit_code": 2', '{"exit_code": 2}', '["exit_code"]']) {
      expect(judge(ended({ text }))).toMatchObject({ ok: true, output: [text] });
    }
  });
});
