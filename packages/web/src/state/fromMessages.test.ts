import { expect, test } from "vitest";
import { chatStateOf } from "./fromMessages.js";

test("shows a saved conversation with its calls and results, answers in a row as one", () => {
  const call = (id: string, json: string) => ({
    id,
    type: "function" as const,
    function: { name: "read_file", arguments: json },
  });
  const state = chatStateOf({
    pending: undefined,
    infoOf: (message) => ({ id: message.role, at: `the time of ${message.content}` }),
    sessionContext: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "Reading.",
        tool_calls: [call("a", '{"path":"x"}'), call("b", "no json")],
      },
      { role: "tool", tool_call_id: "a", content: [{ type: "image", mediaType: "image/png", data: "AA==" }] },
      { role: "tool", tool_call_id: "b", content: "Error executing read_file: not JSON" },
      { role: "assistant", content: "Half", stopped: true },
    ],
  });
  expect(state).toEqual({
    status: "idle",
    approvals: [],
    questions: [],
    messages: [
      { role: "user", id: "user", at: "the time of go", content: "go" },
      {
        role: "assistant",
        id: "answer-user",
        at: "the time of Reading.",
        stopped: true,
        blocks: [
          { type: "text", text: "Reading." },
          {
            type: "call",
            id: "a",
            name: "read_file",
            args: { path: "x" },
            state: "ended",
            output: "",
            text: "[image/png]",
          },
          {
            type: "call",
            id: "b",
            name: "read_file",
            args: {},
            state: "ended",
            output: "",
            text: "Error executing read_file: not JSON",
          },
          { type: "text", text: "Half" },
        ],
      },
    ],
  });
});
