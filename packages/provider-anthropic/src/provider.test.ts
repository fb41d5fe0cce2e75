import type { ChatMessage, ChatRequest } from "@agent/core";
import { json, startChatServer } from "@agent/test-support";
import { afterAll, describe, expect, test } from "vitest";
import { AnthropicProvider, type AnthropicProviderOptions, provider } from "./index.js";

const server = await startChatServer();
afterAll(() => server.close());
const baseURL = server.baseURL.replace(/\/v1$/, "");
const KEY = "sk-ant-secret-0123456789";

const create = (options: Partial<AnthropicProviderOptions> = {}) =>
  new AnthropicProvider({ model: "m", apiKey: KEY, baseURL, retryDelayMs: 1, ...options });
const answer = (...content: object[]) =>
  json({ type: "message", role: "assistant", content, stop_reason: "end_turn", usage: {} });
const text = (words: string) => ({ type: "text", text: words });
const ask = (asked: AnthropicProvider, request: Partial<ChatRequest> = {}) =>
  asked.respond({
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    signal: new AbortController().signal,
    ...request,
  });
const sent = () => server.requests.at(-1)?.body as Record<string, unknown>;

test("exports the public API of @agent/provider-anthropic", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual(["AnthropicProvider", "provider"]);
});

test("provides what a host needs to offer the provider by name", () => {
  expect(provider).toMatchObject({
    name: "anthropic",
    keyVariables: ["ANTHROPIC_API_KEY"],
    baseURLVariable: "ANTHROPIC_BASE_URL",
    baseURL: "https://api.anthropic.com",
  });
});

test("lists all pages of the models, with what the server reports about each", async () => {
  server.script(
    json({ data: [{ id: "a", display_name: "A", max_input_tokens: 9 }, {}], has_more: true, last_id: "a" }),
    json({ data: [{ id: "b" }], has_more: false }),
  );
  expect(await provider.listModels({ apiKey: KEY, baseURL })).toEqual([
    { id: "a", name: "A", contextTokens: 9 },
    { id: "b" },
  ]);
  expect(server.requests.at(-1)).toMatchObject({
    url: "/v1/models?limit=1000&after_id=a",
    headers: { "x-api-key": KEY, "anthropic-version": "2023-06-01" },
  });
});

test("asks once for the next page from a server that offers the same one forever", async () => {
  server.script(
    ...Array.from({ length: 9 }, () => json({ data: [{ id: "a" }], has_more: true, last_id: "a" })),
  );
  expect(await provider.listModels({ apiKey: KEY, baseURL })).toEqual([{ id: "a" }, { id: "a" }]);
});

test.each([
  ["maxTokens", 0, 'AnthropicProvider: "maxTokens" must be at least 1, got 0.'],
  ["maxTokens", "many", '"maxTokens" must be a whole number, got string "many"'],
  ["cache", "1d", '"cache" must be one of "5m", "1h", false, got string "1d"'],
  ["body", { messages: [] }, 'body must not hold "messages"'],
  ["cashe", "5m", 'has no option "cashe". Did you mean "cache"?'],
])("names a wrong option: %s %j", (option, value, message) => {
  expect(() => create({ [option]: value })).toThrow(message);
});

describe("after a refusal the request is changed, and so are all later ones", () => {
  test("lowers a max_tokens above the limit of the model", async () => {
    const asked = create();
    const words = "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m";
    server.script(
      json({ type: "error", error: { message: words } }, 400),
      answer(text("a")),
      answer(text("b")),
    );
    expect((await ask(asked)).content).toBe("a");
    expect(sent().max_tokens).toBe(8192);
    await ask(asked);
    expect(sent().max_tokens).toBe(8192);
  });

  test("replaces a response format with a request in the prompt", async () => {
    const output = {
      name: "answer",
      schema: { type: "object", properties: { a: { type: "integer", minimum: 1 } } },
    };
    server.script(
      json({ error: { message: "output_config: not supported by this model" } }, 400),
      answer(text("{}")),
    );
    await ask(create(), { output });
    const [refused, taken] = server.requests.slice(-2).map(({ body }) => body);
    expect(refused?.output_config).toEqual({
      format: {
        type: "json_schema",
        schema: { type: "object", properties: { a: { type: "integer" } }, additionalProperties: false },
      },
    });
    expect(taken?.output_config).toBeUndefined();
    expect(JSON.stringify(taken?.system)).toContain("write only JSON");
  });
});

test("returns thinking, also redacted thinking, unchanged and in its place", async () => {
  const content = [
    { type: "thinking", thinking: "Hm.", signature: "s1" },
    text("One."),
    { type: "redacted_thinking", data: "hidden" },
    text("Two."),
    { type: "tool_use", id: "toolu_1", name: "t", input: { a: 1 } },
  ];
  const asked = create();
  server.script(answer(...content), answer(text("done")));
  const first = await ask(asked);
  expect([first.content, first.finishReason]).toEqual(["One.Two.", "tool_calls"]);
  const messages: ChatMessage[] = [
    { role: "user", content: "hello" },
    {
      role: "assistant",
      content: first.content,
      tool_calls: first.toolCalls,
      state: { provider: "anthropic", value: JSON.parse(JSON.stringify(first.state)) },
    },
    { role: "tool", tool_call_id: "toolu_1", content: "ok" },
  ];
  await ask(asked, { messages });
  expect((sent().messages as { content: unknown }[])[1]?.content).toEqual(content);
});

test("leaves out thinking of another model, and of a state that was damaged", async () => {
  for (const value of [
    { model: "other", pieces: [{ own: { type: "thinking" } }] },
    { model: "m", pieces: [7] },
    4,
  ]) {
    server.script(answer(text("done")));
    await ask(create(), {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "b", state: { provider: "anthropic", value } },
        { role: "user", content: "c" },
      ],
    });
    expect((sent().messages as { content: unknown }[])[1]?.content).toEqual([text("b")]);
  }
});

test("replaces an image that is too large by a description, with a notice to the user", async () => {
  const data = "A".repeat(6 * 1024 * 1024);
  const notices: string[] = [];
  const asked = create();
  const request = {
    messages: [{ role: "user", content: [{ type: "image", mediaType: "image/png", data }] }] as ChatMessage[],
    onNotice: (words: string) => notices.push(words),
  };
  server.script(answer(text("a")), answer(text("b")));
  await ask(asked, request);
  await ask(asked, request);
  expect(notices).toEqual([
    expect.stringMatching(/^\[image, image\/png, \d+ bytes\] \(not shown: .*Scale it down/),
  ]);
  expect(JSON.stringify(sent()).length).toBeLessThan(5000);
});

test("replaces ids that another provider used twice, or that do not fit, with ones that do", async () => {
  const call = (id: string) => ({ id, type: "function" as const, function: { name: "t", arguments: "{}" } });
  const turn = (id: string): ChatMessage[] => [
    { role: "assistant", content: null, tool_calls: [call(id)] },
    { role: "tool", tool_call_id: id, content: "" },
  ];
  server.script(answer(text("done")));
  await ask(create(), {
    messages: [{ role: "user", content: "a" }, ...turn("call_0"), ...turn("call_0"), ...turn("a:b")],
  });
  const blocks = (sent().messages as { content: { id?: string; tool_use_id?: string }[] }[]).flatMap(
    (one) => one.content,
  );
  const ids = blocks.flatMap(({ id }) => id ?? []);
  expect(ids).toEqual(blocks.flatMap(({ tool_use_id: id }) => id ?? []));
  expect(new Set(ids).size).toBe(3);
  expect(ids.every((id) => /^[a-zA-Z0-9_-]+$/.test(id))).toBe(true);
});

test("uses the ids of each conversation for a message that two share", async () => {
  const called = (id: string): ChatMessage[] => [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "t", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: id, content: "ok" },
  ];
  const question: ChatMessage = { role: "user", content: "hello" };
  const shared = called("a");
  const asked = create();
  const idsOf = async (messages: readonly ChatMessage[]): Promise<unknown[]> => {
    server.script(answer(text("x")));
    await ask(asked, { messages });
    const blocks = (sent().messages as { content: Record<string, unknown>[] }[]).flatMap(
      ({ content }) => content,
    );
    return blocks.flatMap(({ id, tool_use_id: used }) => id ?? used ?? []);
  };
  expect(await idsOf([question, ...shared])).toEqual(["a", "a"]);
  const [first, second, third, fourth] = await idsOf([question, ...called("a"), ...shared]);
  expect([first, second]).toEqual(["a", "a"]);
  expect(third).toBe(fourth);
  expect(third).not.toBe("a");
  expect(await idsOf([question, ...shared])).toEqual(["a", "a"]);
});

test("sets no cache points if caching is off", async () => {
  server.script(answer(text("a")));
  await ask(create({ cache: false }), {
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: "u" },
    ],
  });
  expect(JSON.stringify(sent())).not.toContain("cache_control");
});
