import type { ChatMessage, ChatRequest } from "@agent/core";
import { describe, expect, test } from "vitest";
import { fromLanguageModel, type LanguageModel } from "./index.js";

type Call = Record<string, unknown> & { prompt: { role: string; content: unknown }[] };

/** A model of any version that returns the listed parts, whole or as a stream, and records the options of each call. */
function modelOf(specificationVersion: string, result: object, parts: readonly object[] = []) {
  const calls: Call[] = [];
  const model: LanguageModel = {
    specificationVersion,
    provider: "test",
    modelId: "m",
    doGenerate: async (options) => {
      calls.push(options);
      return result;
    },
    doStream: async (options) => {
      calls.push(options);
      return { stream: ReadableStream.from(parts) as ReadableStream<unknown> };
    },
  };
  return { model, calls };
}

const request = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  signal: new AbortController().signal,
  ...more,
});

const VERSIONS = [
  ["v2", "tool-calls", { inputTokens: 9, outputTokens: 3, cachedInputTokens: 5, reasoningTokens: 2 }],
  [
    "v3",
    { unified: "tool-calls", raw: "x" },
    { inputTokens: { total: 9, cacheRead: 5 }, outputTokens: { total: 3, reasoning: 2 } },
  ],
  [
    "v4",
    { unified: "tool-calls", raw: "x" },
    { inputTokens: { total: 9, cacheRead: 5 }, outputTokens: { total: 3, reasoning: 2 } },
  ],
] as const;

const signed = { test: { signature: "s" } };

describe.each(VERSIONS)("a model of specification %s", (version, finishReason, usage) => {
  const expected = {
    content: "Hi.",
    toolCalls: [{ id: "c", type: "function", function: { name: "t", arguments: '{"a":1}' } }],
    finishReason: "tool_calls",
    usage: { inputTokens: 9, outputTokens: 3, cachedTokens: 5, reasoningTokens: 2 },
  };
  const call = {
    type: "tool-call",
    toolCallId: "c",
    toolName: "t",
    input: '{"a":1}',
    providerMetadata: signed,
  };
  const content = [
    { type: "reasoning", text: "Hm.", providerMetadata: signed },
    { type: "text", text: "Hi." },
    call,
  ];
  const stream = [
    { type: "stream-start", warnings: [{ type: "unsupported-setting", setting: "seed" }] },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "Hm." },
    { type: "reasoning-end", id: "r", providerMetadata: signed },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Hi" },
    { type: "text-delta", id: "t", delta: "." },
    { type: "text-end", id: "t" },
    call,
    { type: "finish", finishReason, usage },
  ];

  test("is read whole and as a stream, to the same answer", async () => {
    const provider = fromLanguageModel(
      modelOf(version, { content, finishReason, usage, warnings: [] }, stream).model,
    );
    const whole = await provider.respond(request());
    const seen: string[] = [];
    const streamed = await provider.respond(
      request({
        onText: (text) => seen.push(text),
        onReasoning: (text) => seen.push(`(${text})`),
        onNotice: (text) => seen.push(`[${text}]`),
      }),
    );
    expect(whole).toMatchObject(expected);
    expect(streamed).toEqual(whole);
    expect(seen).toEqual(["[m: unsupported-setting seed]", "(Hm.)", "Hi", "."]);
  });

  test("gets its reasoning and metadata back, and files in its own form", async () => {
    const { model, calls } = modelOf(version, { content, finishReason, usage });
    const provider = fromLanguageModel(model);
    const { content: text, toolCalls, state } = await provider.respond(request());
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    const messages: ChatMessage[] = [
      { role: "user", content: "hello" },
      {
        role: "assistant",
        content: text,
        tool_calls: toolCalls,
        state: { provider: "ai-sdk:test", value: state },
      },
      { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "ok" }, image] },
    ];
    await provider.respond(request({ messages }));
    const [, answer, results] = calls.at(-1)?.prompt ?? [];
    expect(answer?.content).toEqual([
      { type: "reasoning", text: "Hm.", providerOptions: signed },
      { type: "text", text: "Hi." },
      { type: "tool-call", toolCallId: "c", toolName: "t", input: { a: 1 }, providerOptions: signed },
    ]);
    const file = {
      v2: { type: "media", mediaType: "image/png", data: "AAAA" },
      v3: { type: "file-data", mediaType: "image/png", data: "AAAA" },
      v4: { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
    }[version];
    expect(results?.content).toEqual([
      {
        type: "tool-result",
        toolCallId: "c",
        toolName: "t",
        output: { type: "content", value: [{ type: "text", text: "ok" }, file] },
      },
    ]);
  });
});

test.each([
  ["reasoning", [{ type: "reasoning", text: "Hm." }]],
  ["nothing", []],
])("sends text in place of an answer of %s, for servers that refuse it", async (_name, content) => {
  const { model, calls } = modelOf("v3", { content, finishReason: "length" });
  const provider = fromLanguageModel(model);
  const { content: text, state } = await provider.respond(request());
  expect(text).toBeNull();
  const answer: ChatMessage = {
    role: "assistant",
    content: "",
    ...(state !== undefined && { state: { provider: "ai-sdk:test", value: state } }),
  };
  const messages: ChatMessage[] = [
    { role: "user", content: "hello" },
    answer,
    { role: "user", content: "go on" },
  ];
  await provider.respond(request({ messages }));
  expect(calls.at(-1)?.prompt[1]?.content).toEqual([{ type: "text", text: "(no text)" }]);
});

test.each([
  ["no finish", [{ type: "text-delta", id: "t", delta: "half" }]],
  [
    "a finish without a reason",
    [
      { type: "text-delta", id: "t", delta: "half" },
      { type: "finish", finishReason: "unknown", usage: {} },
    ],
  ],
])("refuses a stream with %s", async (_name, parts) => {
  const provider = fromLanguageModel(modelOf("v2", {}, parts).model, { maxRetries: 0 });
  await expect(provider.respond(request({ onText: () => undefined }))).rejects.toThrow(
    /before the answer was complete/,
  );
});

test("uses responseFormat for structured answers only if nativeOutput is set", async () => {
  const output = { name: "answer", schema: { type: "object" } };
  const result = { content: [{ type: "text", text: "{}" }], finishReason: "stop" };
  const { model, calls } = modelOf("v3", result);
  expect(fromLanguageModel(model).nativeOutput).toBe(false);
  await fromLanguageModel(model, { nativeOutput: true }).respond(request({ output }));
  expect(calls.at(-1)?.responseFormat).toEqual({ type: "json", name: "answer", schema: { type: "object" } });
});

test.each([
  [undefined, {}, "model must be a language model of the AI SDK, got nothing"],
  [modelOf("v9", {}).model, {}, 'model must be a language model of specification v2, v3, v4, got "v9"'],
  [modelOf("v2", {}).model, { accept: [] }, 'fromLanguageModel has no option "accept"'],
  [modelOf("v2", {}).model, { secrets: [4] }, "secrets must be an array of strings"],
  [modelOf("v2", {}).model, { timeoutMs: 0 }, "timeoutMs must be a number greater than 0"],
])("names a wrong argument", (model, options, message) => {
  expect(() => fromLanguageModel(model as never, options as never)).toThrow(message);
});

test("exports the public API of @agent/provider-ai-sdk", async () => {
  expect(Object.keys(await import("./index.js"))).toEqual(["fromLanguageModel"]);
});

test("passes a reasoning effort to models of version 4, and says that earlier ones have no setting for it", async () => {
  const result = { content: [], finishReason: { unified: "stop", raw: "stop" }, usage: {} };
  const asked = async (version: string) => {
    const { model, calls } = modelOf(version, result);
    const notices: string[] = [];
    await fromLanguageModel(model).respond(
      request({ effort: "off", onNotice: (text) => void notices.push(text) }),
    );
    return [calls[0]?.reasoning, ...notices];
  };
  expect(await asked("v4")).toEqual(["none"]);
  expect(await asked("v3")).toEqual([
    undefined,
    "m has no common setting for the reasoning effort. Use callOptions.",
  ]);
});
