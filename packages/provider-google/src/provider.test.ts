import type { ChatMessage, ChatRequest, ChatTool } from "@agent/core";
import { json, startChatServer } from "@agent/test-support";
import { afterAll, describe, expect, test } from "vitest";
import { GoogleProvider, provider } from "./index.js";

const server = await startChatServer();
afterAll(() => server.close());
const baseURL = server.baseURL.replace(/\/v1$/, "");
const KEY = "AIza-secret-0123456789";

const create = (model = "gemini-3-pro") =>
  new GoogleProvider({ model, apiKey: KEY, baseURL, retryDelayMs: 1, maxRetries: 1 });
const answer = (...parts: object[]) => json({ candidates: [{ content: { parts }, finishReason: "STOP" }] });
const ask = (asked: GoogleProvider, request: Partial<ChatRequest> = {}) =>
  asked.respond({
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    signal: new AbortController().signal,
    ...request,
  });
const sent = () => server.requests.at(-1)?.body as Record<string, unknown>;
const tool = (name: string, parameters: object = { type: "object", properties: {} }): ChatTool => ({
  type: "function",
  function: { name, description: name, parameters: parameters as Record<string, unknown> },
});

test("exports the public API of @agent/provider-google", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual(["GoogleProvider", "provider"]);
});

test("lists only models that can chat, on all pages", async () => {
  server.script(
    json({
      models: [
        {
          name: "models/a",
          displayName: "A",
          inputTokenLimit: 9,
          supportedGenerationMethods: ["generateContent"],
        },
        { name: "models/embedding", supportedGenerationMethods: ["embedContent"] },
      ],
      nextPageToken: "t/1",
    }),
    json({ models: [{ name: "models/b" }] }),
  );
  expect(await provider.listModels({ apiKey: KEY, baseURL })).toEqual([
    { id: "a", name: "A", contextTokens: 9 },
    { id: "b" },
  ]);
  const { url, headers } = server.requests.at(-1) ?? {};
  expect(url).toBe("/v1beta/models?pageSize=1000&pageToken=t%2F1");
  expect(headers?.["x-goog-api-key"]).toBe(KEY);
});

test("maps a name that the API refuses in both directions, and informs the user", async () => {
  const notices: string[] = [];
  server.script(answer({ functionCall: { name: "__2d", args: { a: 1 } } }));
  const { toolCalls } = await ask(create(), {
    tools: [tool("2d"), tool("_2d")],
    onNotice: (words) => notices.push(words),
  });
  expect(toolCalls).toMatchObject([{ function: { name: "2d", arguments: '{"a":1}' } }]);
  expect(toolCalls[0]?.id).toMatch(/^call_\w+$/);
  const [{ functionDeclarations }] = sent().tools as [{ functionDeclarations: { name: string }[] }];
  expect(functionDeclarations.map(({ name }) => name)).toEqual(["__2d", "_2d"]);
  expect(notices).toEqual([expect.stringContaining("2d is called __2d there")]);
});

test("uses for an earlier call the wire name that its tool has in each request", async () => {
  const asked = create();
  const history: ChatMessage[] = [
    { role: "user", content: "hello" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "2d", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: "ok" },
  ];
  const namesWith = async (...tools: ChatTool[]): Promise<unknown> => {
    server.script(answer({ text: "x" }));
    await ask(asked, { messages: history, tools });
    const [, call, result] = sent().contents as { parts: Record<string, { name: string }>[] }[];
    return [call?.parts[0]?.functionCall?.name, result?.parts[0]?.functionResponse?.name];
  };
  expect(await namesWith(tool("2d"))).toEqual(["_2d", "_2d"]);
  expect(await namesWith(tool("2d"), tool("_2d"))).toEqual(["__2d", "__2d"]);
  expect(await namesWith(tool("2d"))).toEqual(["_2d", "_2d"]);
});

test("leaves out keywords that the API does not know, and informs the user once", async () => {
  const notices: string[] = [];
  const parameters = {
    type: "object",
    properties: { a: { type: "string", pattern: "^x", default: "x" }, b: { const: 4 } },
    not: {},
  };
  const asked = create();
  const request = { tools: [tool("t", parameters)], onNotice: (words: string) => notices.push(words) };
  server.script(answer({ text: "a" }), answer({ text: "b" }));
  await ask(asked, request);
  await ask(asked, request);
  const [{ functionDeclarations }] = sent().tools as [
    { functionDeclarations: { parametersJsonSchema: object }[] },
  ];
  expect(functionDeclarations[0]?.parametersJsonSchema).toEqual({
    type: "object",
    properties: { a: { type: "string" }, b: { enum: [4] } },
  });
  expect(notices).toEqual([
    expect.stringMatching(/^Google does not take not, pattern in the parameters of the tool "t"/),
  ]);
});

describe("blocked, malformed and filtered answers", () => {
  test("fails immediately for a request that was blocked, with the reason", async () => {
    server.script(json({ promptFeedback: { blockReason: "SAFETY" } }));
    await expect(ask(create())).rejects.toThrow("the server blocked the request: SAFETY");
  });

  test("repeats the request after a malformed call", async () => {
    server.script(
      json({ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "t(" }] }),
      answer({ text: "fine" }),
    );
    expect((await ask(create())).content).toBe("fine");
  });

  test("fails with the reason if a filter stopped the answer", async () => {
    server.script(json({ candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "SAFETY" }] }));
    expect(await ask(create())).toMatchObject({ content: "a", finishReason: "content_filter" });
  });

  test("follows the wait that an error asks for", async () => {
    const waits: number[] = [];
    const error = { code: 429, message: "slow", details: [{ "@type": "x.RetryInfo", retryDelay: "0.02s" }] };
    server.script(json([{ error }], 429), answer({ text: "fine" }));
    await ask(create(), { onRetry: ({ delayMs }) => waits.push(delayMs) });
    expect(waits).toEqual([20]);
  });
});

test("returns signatures where they came from: on a call, on a text, and on an empty part", async () => {
  const parts = [
    { text: "One.", thoughtSignature: "s1" },
    { text: "Two." },
    { functionCall: { id: "f1", name: "t", args: {} }, thoughtSignature: "s2" },
    { functionCall: { id: "f2", name: "t", args: {} } },
    { text: "", thoughtSignature: "s3" },
  ];
  const asked = create();
  server.script(answer(...parts), answer({ text: "done" }));
  const { content, toolCalls, state } = await ask(asked);
  const messages: ChatMessage[] = [
    { role: "user", content: "hello" },
    { role: "assistant", content, tool_calls: toolCalls, state: { provider: "google", value: state } },
    ...toolCalls.map(({ id }): ChatMessage => ({ role: "tool", tool_call_id: id, content: "ok" })),
  ];
  await ask(asked, { messages });
  const [, model, results] = sent().contents as { parts: unknown[] }[];
  expect(model?.parts).toEqual(parts);
  expect(results?.parts).toEqual(
    ["f1", "f2"].map((id) => ({ functionResponse: { name: "t", id, response: { output: "ok" } } })),
  );
});

test.each([
  ["gemini-3-pro", [], "native"],
  ["gemini-3-pro", [tool("t")], "native"],
  ["gemini-2.5-flash", [], "native"],
  ["gemini-2.5-flash", [tool("t")], "words"],
])("requests a structured answer of %s with %j by %s", async (model, tools, how) => {
  server.script(answer({ text: "{}" }));
  await ask(create(model), { tools, output: { name: "answer", schema: { type: "object" } } });
  const { generationConfig, systemInstruction } = sent();
  expect(generationConfig !== undefined).toBe(how === "native");
  expect(JSON.stringify(systemInstruction ?? "").includes("write only JSON")).toBe(how === "words");
});
