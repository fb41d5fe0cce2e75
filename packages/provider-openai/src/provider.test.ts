import { answer, askProvider, call, MODES } from "@agent/test-support";
import { afterEach, describe, expect, test, vi } from "vitest";
import { KEY, useOpenAIServer } from "../test/openaiServer.js";
import { OpenAIProvider } from "./provider.js";

const { server, provider, lastRequest } = await useOpenAIServer();
afterEach(() => vi.unstubAllEnvs());

describe.each(MODES)("a whole answer, %s", (mode) => {
  test("is text with its usage", async () => {
    server.script(answer({ content: "Grüße 😀" }));
    const { response, text, retries } = await askProvider(provider(), mode);
    expect(response).toEqual({
      content: "Grüße 😀",
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 3, outputTokens: 2 },
    });
    expect(text).toBe(mode === "streaming" ? "Grüße 😀" : "");
    expect(retries).toEqual([]);
  });

  test("holds several tool calls in order, together with text", async () => {
    const calls = [call("a", "read_file", { path: "x" }), call("b", "list_dir", {})];
    server.script(answer({ content: "Looking.", calls }));
    const { response } = await askProvider(provider(), mode);
    expect(response).toMatchObject({ content: "Looking.", toolCalls: calls, finishReason: "tool_calls" });
  });

  test("keeps calls without ids and with the same id apart", async () => {
    const nameless = { function: { name: "a", arguments: "{}" } };
    server.script(answer({ calls: [nameless, nameless, call("x", "b", {}), call("x", "c", {})] }));
    const { response } = await askProvider(provider(), mode);
    expect(response.toolCalls.map(({ id, function: { name } }) => [id, name])).toEqual([
      ["", "a"],
      ["", "a"],
      ["x", "b"],
      ["x", "c"],
    ]);
  });

  test("takes arguments sent as an object, as null or not at all", async () => {
    const functions = [
      { name: "a", arguments: { path: "x" } },
      { name: "b", arguments: null },
      { name: "c" },
    ];
    server.script(answer({ calls: functions.map((one, index) => ({ id: `${index}`, function: one })) }));
    const { response } = await askProvider(provider(), mode);
    expect(response.toolCalls.map((one) => one.function.arguments)).toEqual(['{"path":"x"}', "", ""]);
  });

  test("passes on broken arguments unchanged, for the loop to refuse", async () => {
    server.script(answer({ calls: [{ id: "a", function: { name: "t", arguments: '{"path": "x' } }] }));
    const { response } = await askProvider(provider(), mode);
    expect(response.toolCalls[0]?.function.arguments).toBe('{"path": "x');
  });

  test.each([
    ["length", "length"],
    ["content_filter", "content_filter"],
    ["stop", "tool_calls"],
    ["something_new", "tool_calls"],
  ])("ends with calls that finish with %s as %s", async (finish, expected) => {
    server.script(answer({ calls: [call("a", "t", {})], finish }));
    expect((await askProvider(provider(), mode)).response.finishReason).toBe(expected);
  });

  test("counts tokens a server reports wrongly as none", async () => {
    server.script(
      answer({ content: "x" }, { prompt_tokens: "many" as unknown as number, completion_tokens: -1 }),
    );
    expect((await askProvider(provider(), mode)).response.usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });

  test("comes from the path, with the key, the headers and the extra fields given", async () => {
    const parameters = { type: "object", properties: {} };
    const tools = [{ type: "function" as const, function: { name: "t", parameters } }];
    const asking = provider({ headers: { "x-title": "test" }, body: { temperature: 0, seed: 7 } });
    server.script(answer({ content: "x" }));
    await askProvider(asking, mode, { tools });
    const { url, headers, body } = lastRequest();
    expect(url).toBe("/v1/chat/completions");
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, "x-title": "test" });
    expect(body).toEqual({
      model: "m",
      messages: [{ role: "user", content: "hello" }],
      tools,
      temperature: 0,
      seed: 7,
      stream: mode === "streaming",
      ...(mode === "streaming" && { stream_options: { include_usage: true } }),
    });
  });

  test("needs no key where there is a base URL, and then sends none", async () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    server.script(answer({ content: "x" }));
    await askProvider(new OpenAIProvider({ model: "m", baseURL: server.baseURL }), mode);
    expect(lastRequest().headers.authorization).toBeUndefined();
    expect(lastRequest().body.tools).toBeUndefined();
  });
});

test("takes the key and the base URL from the environment if they are not given", async () => {
  vi.stubEnv("OPENAI_API_KEY", " sk-from-env\n");
  vi.stubEnv("OPENAI_BASE_URL", server.baseURL);
  server.script(answer({ content: "x" }));
  await askProvider(new OpenAIProvider({ model: "m" }), "JSON");
  expect(lastRequest().headers.authorization).toBe("Bearer sk-from-env");
});
