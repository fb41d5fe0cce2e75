import type { ChatMessage } from "@agent/core";
import { expect, test } from "vitest";
import { PLAIN_STYLE } from "../text/style.js";
import { transcriptLines } from "./transcript.js";

const call = (id: string, name: string, args: object) => ({
  id,
  type: "function" as const,
  function: { name, arguments: JSON.stringify(args) },
});

test("shows each call with its own result, by what is stored with it or by its text", () => {
  const results: ChatMessage[] = [
    { role: "tool", tool_call_id: "1", content: "first" },
    { role: "tool", tool_call_id: "2", content: "second\nline" },
  ];
  const sessionContext: ChatMessage[] = [
    { role: "user", content: "go" },
    {
      role: "assistant",
      content: "",
      tool_calls: [call("1", "one", { a: "x" }), call("2", "two", { n: 1, b: "y" }), call("3", "three", {})],
    },
    ...results,
  ];
  const details = {
    outcome: "error" as const,
    durationMs: 1500,
    summary: "exit code 2",
    about: { title: "npm test", kind: "execute" as const },
  };
  const lines = transcriptLines(
    { sessionContext, detailsOf: (message) => (message === results[0] ? details : undefined) },
    PLAIN_STYLE,
  );
  expect(lines).toEqual([
    "› go",
    "● one  npm test  ✗ exit code 2 · 1.5s",
    "● two  y",
    "└ second",
    "● three",
    "",
    "resumed, 4 messages",
  ]);
});
