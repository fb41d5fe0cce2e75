import type { ChatMessage, ChatProvider } from "@agent/core";
import { answer, call, chunk, events, json, MODES, type Reply } from "@agent/test-support";
import { AzureOpenAI } from "openai";
import { describe, expect, test } from "vitest";
import { useOpenAIServer } from "../test/openaiServer.js";
import { OpenAIProvider } from "./index.js";

const { server, provider, lastRequest, failure } = await useOpenAIServer();
const signal = new AbortController().signal;

/** Sends two requests, the second with the first answer in the conversation. Returns that answer as it was sent. */
async function echoed(asked: ChatProvider, mode: string, reply: Reply): Promise<Record<string, unknown>> {
  const onText = mode === "streaming" ? { onText: () => undefined } : {};
  server.script(reply, answer({ content: "done" }));
  const question: ChatMessage = { role: "user", content: "hello" };
  const { content, toolCalls, state } = await asked.respond({
    messages: [question],
    tools: [],
    signal,
    ...onText,
  });
  const messages: ChatMessage[] = [
    question,
    {
      role: "assistant",
      content,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
      ...(state !== undefined && {
        state: { provider: asked.id ?? "", value: JSON.parse(JSON.stringify(state)) },
      }),
    },
    ...toolCalls.map(({ id }): ChatMessage => ({ role: "tool", tool_call_id: id, content: "ok" })),
    { role: "user", content: "go on" },
  ];
  await asked.respond({ messages, tools: [], signal, ...onText });
  return lastRequest().body.messages[1] as Record<string, unknown>;
}

describe.each(MODES)("what a server sends goes back as it came, %s", (mode) => {
  const reply = (whole: Record<string, unknown>, ...deltas: object[]): Reply =>
    mode === "JSON"
      ? json({ choices: [{ message: { role: "assistant", ...whole }, finish_reason: "stop" }] })
      : events(...deltas.map((delta) => chunk(delta)), chunk({}, "stop"));

  test("DeepSeek: reasoning_content", async () => {
    const whole = { content: "Hi.", reasoning_content: "Let me think." };
    const sent = await echoed(
      provider(),
      mode,
      reply(whole, { reasoning_content: "Let me " }, { reasoning_content: "think." }, { content: "Hi." }),
    );
    expect(sent).toEqual({ role: "assistant", ...whole });
  });

  test("Gemini: the signature inside a tool call", async () => {
    const calls = [
      { ...call("a", "t", {}), extra_content: { google: { thought_signature: "s/1==" } } },
      call("b", "t", {}),
    ];
    const sent = await echoed(
      provider(),
      mode,
      reply(
        { content: null, tool_calls: calls },
        { tool_calls: calls.map((one, index) => ({ index, ...one })) },
      ),
    );
    expect(sent.tool_calls).toEqual(calls);
  });

  test("OpenRouter: reasoning_details in their order", async () => {
    const details = [
      { type: "reasoning.text", text: "One two", index: 0, signature: "s1" },
      { type: "reasoning.encrypted", data: "xyz", index: 1 },
    ];
    const sent = await echoed(
      provider(),
      mode,
      reply(
        { content: "Hi.", reasoning: "One two", reasoning_details: details },
        { reasoning: "One ", reasoning_details: [{ type: "reasoning.text", text: "One ", index: 0 }] },
        {
          reasoning: "two",
          reasoning_details: [{ type: "reasoning.text", text: "two", index: 0, signature: "s1" }],
        },
        { reasoning_details: [details[1]] },
        { content: "Hi." },
      ),
    );
    expect(sent).toEqual({
      role: "assistant",
      content: "Hi.",
      reasoning: "One two",
      reasoning_details: details,
    });
  });

  test("Mistral: thoughts and text in one list", async () => {
    const list = [
      { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
      { type: "text", text: "Hi." },
    ];
    const sent = await echoed(
      provider(),
      mode,
      reply({ content: list }, { content: [list[0]] }, { content: "Hi." }),
    );
    expect(sent.content).toEqual(list);
  });

  test("no field, if the server sent none", async () => {
    const sent = await echoed(provider(), mode, reply({ content: "Hi.", refusal: null }, { content: "Hi." }));
    expect(sent).toEqual({ role: "assistant", content: "Hi." });
  });

  test("reports all token counts, and the cost that the server reports for the request", async () => {
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 3 },
      cost: 0.00014,
    };
    server.script(answer({ content: "x" }, usage));
    const onText = mode === "streaming" ? { onText: () => undefined } : {};
    const response = await provider().respond({ messages: [], tools: [], signal, ...onText });
    expect(response.usage).toEqual({
      inputTokens: 9,
      outputTokens: 4,
      cachedTokens: 5,
      cacheWriteTokens: 2,
      reasoningTokens: 3,
      cost: 0.00014,
    });
  });
});

describe("after a refusal the request is changed, and so are all later ones", () => {
  const data =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const image = { type: "image", mediaType: "image/png", data, name: "a.png" } as const;
  const request = {
    messages: [{ role: "user", content: [image] }] as ChatMessage[],
    tools: [],
    signal,
  };

  test("replaces images with descriptions, and notifies the user", async () => {
    const notices: string[] = [];
    const asked = provider({ maxRetries: 0 });
    server.script(
      json({ error: { message: "unknown variant `image_url`, expected `text`" } }, 400),
      answer({ content: "blind" }),
    );
    expect(asked.accepts("image/png")).toBe(true);
    const { content } = await asked.respond({ ...request, onNotice: (text) => notices.push(text) });
    expect(content).toBe("blind");
    expect(JSON.stringify(lastRequest().body.messages)).toContain(
      "[image a.png, image/png, 70 bytes] (not shown",
    );
    expect(notices).toEqual(["m refuses images and files; it gets their descriptions instead."]);
    expect(asked.accepts("image/png")).toBe(false);
  });

  test("replaces a response format with a request in the prompt", async () => {
    server.script(
      json({ error: { message: "This response_format type is unavailable now" } }, 400),
      answer({ content: "{}" }),
    );
    const output = { name: "answer", schema: { type: "object" } };
    await provider().respond({ messages: [{ role: "user", content: "a" }], tools: [], signal, output });
    expect(lastRequest().body.response_format).toBeUndefined();
    // At the beginning, so that roles alternate and the instruction stays where it is while the conversation grows.
    expect(lastRequest().body.messages).toEqual([
      { role: "system", content: expect.stringContaining("write only JSON") },
      { role: "user", content: "a" },
    ]);
  });

  test("replaces a response format of the Responses API, too", async () => {
    const asked = provider({ api: "responses" });
    const words = "Invalid schema for response_format 'answer': In context=(), 'x' is not permitted.";
    const whole = json({ object: "response", status: "completed", output: [], usage: {} });
    server.script(json({ error: { message: words } }, 400), whole, whole);
    const output = { name: "answer", schema: { type: "object" } };
    for (const requests of [2, 1]) {
      const before = server.requests.length;
      await asked.respond({ messages: [{ role: "user", content: "a" }], tools: [], signal, output });
      expect(server.requests.length - before).toBe(requests);
      expect(lastRequest().body).not.toHaveProperty("text");
      expect(lastRequest().body.instructions).toContain("write only JSON");
    }
  });

  test("reports any other refusal unchanged", async () => {
    server.script(json({ error: { message: "no such field" } }, 400));
    expect(await failure(provider().respond(request))).toMatchObject({ requests: 1 });
  });
});

test.each([
  [{ apiKey: "k" }, "openai-responses:api.openai.com"],
  [{ apiKey: "k", api: "chat" }, "openai-chat:api.openai.com"],
  [{ baseURL: "https://eu.api.openai.com/v1" }, "openai-responses:eu.api.openai.com"],
  [{ baseURL: "http://localhost:11434/v1" }, "openai-chat:localhost:11434"],
  [{ baseURL: "https://api.openai.com.example/v1" }, "openai-chat:api.openai.com.example"],
] as const)("chooses the API by the address: %j", (options, id) => {
  expect(new OpenAIProvider({ model: "m", ...options }).id).toBe(id);
});

test("sends to the deployment of a given AzureOpenAI client, with its key", async () => {
  const client = new AzureOpenAI({
    endpoint: server.baseURL.replace(/\/v1$/, ""),
    apiKey: "azure-secret-key",
    apiVersion: "2025-04-01-preview",
  });
  server.script(answer({ content: "x" }));
  const asked = new OpenAIProvider({ model: "my-deployment", client });
  await asked.respond({ messages: [{ role: "user", content: "a" }], tools: [], signal });
  expect(lastRequest().url).toBe(
    "/openai/deployments/my-deployment/chat/completions?api-version=2025-04-01-preview",
  );
  expect(lastRequest().headers["api-key"]).toBe("azure-secret-key");
  expect(() => new OpenAIProvider({ model: "m", client, apiKey: "k" })).toThrow(
    /apiKey belongs to the client/,
  );
});
