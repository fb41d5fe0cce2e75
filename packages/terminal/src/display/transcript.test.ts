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
    "",
    "● one  npm test  ✗ exit code 2 · 1.5s",
    "● two  y",
    "└ second",
    "● three",
    "",
    "resumed, 4 messages",
  ]);
});

test("shows the answer to a question in place of the time that it took", () => {
  const sessionContext: ChatMessage[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: null, tool_calls: [call("1", "ask", { question: "Which?" })] },
    { role: "tool", tool_call_id: "1", content: "The user answered: SQLite" },
  ];
  const details = {
    outcome: "ok" as const,
    durationMs: 9000,
    about: { title: "Which?", kind: "other" as const },
  };
  const lines = transcriptLines({ sessionContext, detailsOf: () => details }, PLAIN_STYLE);
  expect(lines.slice(2, 4)).toEqual(["● ask  Which?", "└ The user answered: SQLite"]);
});

test("shows the result of a call whose id is used again, and where the model has only a summary", () => {
  const answer = (title: string): ChatMessage => ({
    role: "assistant",
    content: null,
    tool_calls: [call("0", "read", { path: title })],
  });
  const result = (content: string): ChatMessage => ({ role: "tool", tool_call_id: "0", content });
  const summary = "[Summary of the conversation so far]\nTwo files.";
  const lines = transcriptLines(
    {
      sessionContext: [
        { role: "user", content: "go" },
        answer("a"),
        result("first"),
        { role: "user", content: summary, generated: true },
        answer("b"),
        result("second"),
      ],
      detailsOf: () => undefined,
    },
    PLAIN_STYLE,
  );
  expect(lines).toEqual([
    "› go",
    "",
    "● read  a",
    "└ first",
    "",
    "… the model has a summary of the messages above",
    "",
    "● read  b",
    "└ second",
    "",
    "resumed, 6 messages",
  ]);
});

test("shows a conversation as while it ran: calls in a row, and blank rows around them", () => {
  const answer = (content: string, ...names: readonly string[]): ChatMessage => ({
    role: "assistant",
    content,
    tool_calls: names.map((name) => call(name, name, {})),
  });
  const result = (id: string): ChatMessage => ({ role: "tool", tool_call_id: id, content: "" });
  const lines = transcriptLines(
    {
      sessionContext: [
        { role: "user", content: "go\n\n" },
        answer("I look.", "one"),
        result("one"),
        answer("", "two"),
        result("two"),
        answer("Done."),
      ],
      detailsOf: () => ({ outcome: "ok", durationMs: 1, about: { title: "", kind: "read" } }),
    },
    PLAIN_STYLE,
  );
  expect(lines.slice(0, -2)).toEqual(["› go", "", "I look.", "", "● one ✓", "● two ✓", "", "Done."]);
});

test("shows a message in which a user or a server wrote what looks like an attached file", () => {
  const content = [
    { type: "text" as const, text: "look" },
    { type: "text" as const, text: '<file path="C:\\x">\nhello\n</file>' },
  ];
  const lines = transcriptLines(
    { sessionContext: [{ role: "user", content }], detailsOf: () => undefined },
    PLAIN_STYLE,
  );
  expect(lines.slice(0, 2)).toEqual(["› look", '  attached: "C:\\x"']);
});
