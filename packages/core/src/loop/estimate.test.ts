import { expect, test } from "vitest";
import type { ChatMessage } from "../providers/interface.js";
import { estimateTokens } from "./estimate.js";

const call = { id: "1", type: "function" as const, function: { name: "read", arguments: '{"path":"a"}' } };

test.each<[tokens: number, message: ChatMessage]>([
  [5, { role: "user", content: "four" }],
  [6, { role: "user", content: "five5" }],
  [4, { role: "assistant", content: null }],
  [16, { role: "assistant", content: null, tool_calls: [call] }],
  [28, { role: "assistant", content: null, tool_calls: [call, call] }],
  [6, { role: "assistant", content: null, state: { provider: "p", value: "123456" } }],
  [5, { role: "tool", tool_call_id: "1", content: "four" }],
])("takes about %i tokens for %j", (tokens, message) => {
  // A second time: what was measured is remembered.
  expect([estimateTokens([message]), estimateTokens([message, message])]).toEqual([tokens, 2 * tokens]);
});
