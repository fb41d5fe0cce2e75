import { describe, expect, test } from "vitest";
import { checkChat } from "./strict/chat.js";
import { checkGenerateContent } from "./strict/generateContent.js";
import { checkMessages } from "./strict/messages.js";
import { checkResponses } from "./strict/responses.js";
import type { Fields, Signed } from "./strict/rules.js";

/** Checks that the strict servers refuse invalid requests; otherwise tests against them would prove nothing. */

type Check = (request: { url: string; headers: Fields; body: Fields }, signed: Signed) => void;

function judge(check: Check, body: Fields, signed: readonly string[] = []): string {
  try {
    check({ url: "/", headers: { "anthropic-version": "2023-06-01" }, body }, new Set(signed));
    return "accepted";
  } catch (error) {
    return (error as Error).message;
  }
}

const user = { role: "user", content: "hello" };
const call = { id: "chat_1", type: "function", function: { name: "t", arguments: "{}" } };
const result = { role: "tool", tool_call_id: "chat_1", content: "ok" };
const tools = [{ type: "function", function: { name: "t", parameters: { type: "object", properties: {} } } }];

describe("chat completions", () => {
  const judged = (body: Fields, signed: readonly string[] = []) =>
    judge(checkChat, { model: "m", ...body }, signed);

  test.each<[string, Fields, RegExp]>([
    [
      "an unanswered call",
      { messages: [user, { role: "assistant", content: null, tool_calls: [call] }, user] },
      /must be followed/,
    ],
    ["a result without its call", { messages: [user, result] }, /must be a response/],
    ["two messages of the user in a row", { messages: [user, user] }, /alternate/],
    ["an unknown field", { messages: [user], cache: true }, /Extra inputs/],
    [
      "an unknown field of an answer",
      { messages: [user, { role: "assistant", content: "a", state: {} }, user] },
      /Extra inputs/,
    ],
    ["tools with reasoning", { messages: [user], tools, reasoning_effort: "high" }, /Use \/v1\/responses/],
    ["no tools in a list", { messages: [user], tools: [] }, /too short/],
  ])("refuses %s", (_name, body, words) => expect(judged(body)).toMatch(words));

  test("refuses a call without its reasoning, and with someone else's", () => {
    const answer = { role: "assistant", content: null, tool_calls: [call] };
    const forged = { ...answer, reasoning_details: [{ data: "forged" }] };
    expect(judged({ messages: [user, answer, result] }, ["s"])).toMatch(/must be passed back/);
    expect(judged({ messages: [user, forged, result] }, ["s"])).toMatch(/invalid signature/);
    expect(
      judged({ messages: [user, { ...answer, reasoning_details: [{ data: "s" }] }, result] }, ["s"]),
    ).toBe("accepted");
  });
});

describe("Responses", () => {
  const judged = (input: readonly object[], more: Fields = {}) =>
    judge(checkResponses, { model: "m", store: false, input, ...more }, ["s"]);
  const asked = { type: "function_call", call_id: "c", name: "t", arguments: "{}" };

  test.each<[string, readonly object[], Fields, RegExp]>([
    ["an unanswered call", [user, asked], {}, /No tool output found/],
    [
      "an output without its call",
      [{ type: "function_call_output", call_id: "c", output: "" }],
      {},
      /No tool call found/,
    ],
    [
      "reasoning that it did not encrypt",
      [{ type: "reasoning", id: "r", summary: [], encrypted_content: "x" }, user],
      {},
      /could not be verified/,
    ],
    [
      "reasoning at the end",
      [user, { type: "reasoning", id: "r", summary: [], encrypted_content: "s" }],
      {},
      /following item/,
    ],
    [
      "reasoning before a message of the user",
      [{ type: "reasoning", id: "r", summary: [], encrypted_content: "s" }, user],
      {},
      /following item/,
    ],
    ["the id of an item", [{ ...user, id: "msg_1" }], {}, /Extra inputs/],
    ["a stored conversation", [user], { store: true }, /store/],
    [
      "a tool without an explicit strict",
      [user],
      { tools: [{ type: "function", name: "t", parameters: {} }] },
      /strict/,
    ],
  ])("refuses %s", (_name, input, more, words) => expect(judged(input, more)).toMatch(words));
});

describe("Messages", () => {
  const text = (words: string) => [{ type: "text", text: words }];
  const judged = (messages: readonly object[], more: Fields = {}) =>
    judge(checkMessages, { model: "m", max_tokens: 9, messages, ...more }, ["s"]);
  const use = { type: "tool_use", id: "toolu_1", name: "t", input: {} };
  const thinking = { type: "thinking", thinking: "", signature: "s" };
  const given = { type: "tool_result", tool_use_id: "toolu_1", content: "ok" };
  const hi = { role: "user", content: text("hi") };

  test.each<[string, readonly object[], Fields, RegExp]>([
    [
      "a call without thinking before it",
      [hi, { role: "assistant", content: [use] }, { role: "user", content: [given] }],
      {},
      /Expected `thinking`/,
    ],
    [
      "thinking it did not sign",
      [hi, { role: "assistant", content: [{ ...thinking, signature: "x" }] }, hi],
      {},
      /Invalid `signature`/,
    ],
    [
      "an unanswered call",
      [hi, { role: "assistant", content: [thinking, use] }, hi],
      {},
      /without `tool_result`/,
    ],
    ["a result of nothing", [{ role: "user", content: [given] }], {}, /unexpected `tool_use_id`/],
    [
      "a result after other content",
      [hi, { role: "assistant", content: [thinking, use] }, { role: "user", content: [...text("a"), given] }],
      {},
      /must come first/,
    ],
    [
      "thinking at the end of an answer",
      [hi, { role: "assistant", content: [...text("a"), thinking] }, hi],
      {},
      /final block/,
    ],
    ["an empty text", [{ role: "user", content: text("") }], {}, /non-empty/],
    ["an answer at the end", [hi, { role: "assistant", content: text("a") }], {}, /prefill/],
    ["an answer at the beginning", [{ role: "assistant", content: text("a") }], {}, /alternate/],
    [
      "five cache points",
      [
        {
          role: "user",
          content: Array.from({ length: 5 }, () => ({ type: "text", text: "a", cache_control: {} })),
        },
      ],
      {},
      /maximum of 4/,
    ],
    ["a field it does not know", [hi], { response_format: {} }, /Extra inputs/],
    [
      "a choice at the top of a schema",
      [hi],
      { tools: [{ name: "t", input_schema: { type: "object", oneOf: [] } }] },
      /top level/,
    ],
  ])("refuses %s", (_name, messages, more, words) => expect(judged(messages, more)).toMatch(words));
});

describe("generateContent", () => {
  const judged = (contents: readonly object[], more: Fields = {}) =>
    judge(checkGenerateContent, { contents, ...more }, ["s"]);
  const hi = { role: "user", parts: [{ text: "hi" }] };
  const asked = { functionCall: { name: "t", args: {} } };
  const response = { role: "user", parts: [{ functionResponse: { name: "t", response: {} } }] };
  const declared = (name: string, schema: object) => ({
    tools: [{ functionDeclarations: [{ name, parametersJsonSchema: schema }] }],
  });

  test.each<[string, readonly object[], Fields, RegExp]>([
    [
      "a call without a signature",
      [hi, { role: "model", parts: [asked] }, response],
      {},
      /missing a thought_signature/,
    ],
    [
      "a signature that is not its own",
      [hi, { role: "model", parts: [{ ...asked, thoughtSignature: "x" }] }, response],
      {},
      /not valid/,
    ],
    [
      "an unanswered call",
      [hi, { role: "model", parts: [{ ...asked, thoughtSignature: "s" }] }, hi],
      {},
      /number of function response parts/,
    ],
    ["turns that do not alternate", [hi, hi], {}, /alternate/],
    ["a turn without parts", [{ role: "user", parts: [] }], {}, /empty/],
    ["a name that begins with a digit", [hi], declared("1t", {}), /Must start with/],
    [
      "a keyword it does not know",
      [hi],
      declared("t", { properties: { a: { pattern: "x" } } }),
      /Unknown name "pattern"/,
    ],
  ])("refuses %s", (_name, contents, more, words) => expect(judged(contents, more)).toMatch(words));
});
