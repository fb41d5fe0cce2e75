import type { ChatRequest, Effort } from "@agent/core";
import { provider as anthropic } from "@agent/provider-anthropic";
import { provider as google } from "@agent/provider-google";
import { provider as openai } from "@agent/provider-openai";
import { json, startChatServer } from "@agent/test-support";
import { afterAll, describe, expect, test } from "vitest";

const FACTORIES = { anthropic, google, openai };
const server = await startChatServer();
const root = server.baseURL.replace(/\/v1$/, "");
afterAll(() => server.close());

describe("without configuration", () => {
  test.each(Object.entries(FACTORIES))("has facts for the default model of %s", (_name, factory) => {
    const made = factory.createProvider({ model: factory.defaultModel, apiKey: "key" });
    expect(made.contextTokens).toBeGreaterThan(100_000);
    expect(made.price).toMatchObject({ input: expect.any(Number), isEstimate: true });
    expect(made.efforts).toContain("high");
  });

  test.each(Object.entries(FACTORIES))("has no facts for a model that %s does not know", (_name, factory) => {
    const made = factory.createProvider({ model: "something-new", apiKey: "key" });
    expect([made.contextTokens, made.price, made.efforts]).toEqual([undefined, undefined, undefined]);
  });

  test("has no price for a model at another address, and no facts at all for OpenAI's names", () => {
    const there = { apiKey: "key", baseURL: root };
    const claude = anthropic.createProvider({ model: "claude-haiku-4-5", ...there });
    expect([claude.contextTokens, claude.price]).toEqual([200_000 - 32_000, undefined]);
    const gemini = google.createProvider({ model: "gemini-2.5-pro", ...there });
    expect([gemini.contextTokens, gemini.price]).toEqual([1_048_576, undefined]);
    const local = openai.createProvider({ model: "gpt-4", ...there });
    expect([local.contextTokens, local.price, local.efforts]).toEqual([undefined, undefined, undefined]);
  });

  test("has only plausible rows in the tables", () => {
    for (const { knownModels } of Object.values(FACTORIES)) {
      expect(knownModels?.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    }
    const { contextTokens, outputTokens } = anthropic.knownModels?.facts("claude-3-5-haiku-20241022") ?? {};
    expect([contextTokens, outputTokens]).toEqual([200_000, 8192]);
  });
});

describe("a server's own list", () => {
  const list = (answer: object, ...more: object[]) => {
    server.script(json(answer), ...more.map((one) => json(one)));
    return openai.listModels({ apiKey: "key", baseURL: server.baseURL, maxRetries: 0 });
  };

  test.each([
    ["vLLM", { max_model_len: 32_768 }],
    ["OpenRouter", { context_length: 32_768 }],
    ["Groq", { context_window: 32_768 }],
    ["Mistral", { max_context_length: 32_768 }],
    ["LM Studio", { loaded_context_length: 32_768, max_context_length: 131_072 }],
  ])("states the context for %s", async (_name, fields) => {
    expect(await list({ data: [{ id: "m", ...fields }] })).toEqual([{ id: "m", contextTokens: 32_768 }]);
  });

  test("states prices and the longest answer for OpenRouter", async () => {
    const pricing = { prompt: "0.0000003", completion: "0.0000025", input_cache_read: "0.00000003" };
    const top_provider = { max_completion_tokens: 8192 };
    expect(await list({ data: [{ id: "a/m", pricing, top_provider }] })).toEqual([
      { id: "a/m", outputTokens: 8192, price: { input: 0.3, output: 2.5, cachedInput: 0.03 } },
    ]);
    const varies = { prompt: "-1", completion: "-1" };
    expect(await list({ data: [{ id: "auto", pricing: varies }] })).toEqual([{ id: "auto" }]);
  });

  test("is completed for llama.cpp with the context that the server runs with", async () => {
    const models = { data: [{ id: "m", owned_by: "llamacpp", meta: { n_ctx_train: 131_072 } }] };
    const props = { default_generation_settings: { n_ctx: 8192 } };
    expect(await list(models, props)).toEqual([{ id: "m", contextTokens: 8192 }]);
    expect(server.requests.slice(-2).map(({ url }) => url)).toEqual(["/v1/models", "/props"]);
  });

  test("is completed for Ollama with the context of loaded models, and stays if there is no such path", async () => {
    const models = {
      data: [
        { id: "a", owned_by: "library" },
        { id: "b", owned_by: "library" },
      ],
    };
    expect(await list(models, { models: [{ name: "a", context_length: 4096 }] })).toEqual([
      { id: "a", contextTokens: 4096 },
      { id: "b" },
    ]);
    server.script(json(models), json({ error: "not found" }, 404));
    const there = { apiKey: "key", baseURL: server.baseURL, maxRetries: 0 };
    expect(await openai.listModels(there)).toEqual([{ id: "a" }, { id: "b" }]);
  });
});

describe("a reasoning effort", () => {
  const ANSWERS = {
    messages: {
      type: "message",
      content: [{ type: "text", text: "ok" }],
      stop_reason: "end_turn",
      usage: {},
    },
    generateContent: { candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] },
    chat: { choices: [{ message: { content: "ok" }, finish_reason: "stop" }] },
    responses: {
      status: "completed",
      output: [{ type: "message", content: [{ type: "output_text", text: "ok" }] }],
    },
  };
  const CREATE = {
    messages: (model: string) => anthropic.createProvider({ model, apiKey: "k", baseURL: root }),
    generateContent: (model: string) => google.createProvider({ model, apiKey: "k", baseURL: root }),
    chat: (model: string) => openai.createProvider({ model, apiKey: "k", baseURL: server.baseURL }),
    responses: (model: string) =>
      openai.createProvider({ model, apiKey: "k", baseURL: server.baseURL, api: "responses" }),
  };
  const ask = async (
    api: keyof typeof ANSWERS,
    model: string,
    effort: Effort,
    replies: object[] = [json(ANSWERS[api])],
  ) => {
    const notices: string[] = [];
    const request: ChatRequest = {
      messages: [{ role: "user", content: "Hello" }],
      tools: [],
      signal: new AbortController().signal,
      effort,
      onNotice: (text) => void notices.push(text),
    };
    server.script(...(replies as Parameters<typeof server.script>));
    await CREATE[api](model).respond(request);
    return { sent: server.requests.at(-1)?.body as Record<string, unknown>, notices };
  };

  test.each([
    [
      "messages",
      "claude-sonnet-5-5",
      "high",
      { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    ],
    ["messages", "claude-opus-5", "off", { thinking: { type: "disabled" } }],
    ["messages", "claude-haiku-4-5", "low", { thinking: { type: "enabled", budget_tokens: 4096 } }],
    ["messages", "claude-new", "max", { thinking: { type: "adaptive" }, output_config: { effort: "max" } }],
    [
      "generateContent",
      "gemini-flash-latest",
      "low",
      { generationConfig: { thinkingConfig: { thinkingLevel: "low" } } },
    ],
    [
      "generateContent",
      "gemini-2.5-flash",
      "off",
      { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
    ],
    ["chat", "m", "high", { reasoning_effort: "high" }],
    ["chat", "m", "off", { reasoning_effort: "none" }],
    ["responses", "m", "xhigh", { reasoning: { effort: "xhigh" } }],
    ["responses", "m", "off", { reasoning: { effort: "none" } }],
  ] as const)("on %s with %s: %s", async (api, model, effort, fields) => {
    expect((await ask(api, model, effort)).sent).toMatchObject(fields);
  });

  test("becomes the nearest one, with a notice, if a model does not support it", async () => {
    const { sent, notices } = await ask("messages", "claude-sonnet-5-5", "off");
    expect(sent).toMatchObject({ output_config: { effort: "low" } });
    expect(notices).toEqual([
      "claude-sonnet-5-5 does not support the reasoning effort off; it works with low.",
    ]);
  });

  test.each([
    ["messages", { type: "error", error: { message: "output_config.effort: not supported" } }],
    ["generateContent", { error: { message: "Thinking level is not supported for this model." } }],
    ["chat", { error: { message: "Unsupported parameter: 'reasoning_effort'" } }],
    ["responses", { error: { message: "Unsupported parameter: 'reasoning.effort'" } }],
  ] as const)("is left out, with a notice, if a model on %s refuses it", async (api, refusal) => {
    const { sent, notices } = await ask(api, "m", "high", [json(refusal, 400), json(ANSWERS[api])]);
    expect(JSON.stringify(sent)).not.toMatch(/effort|thinking/i);
    expect(notices).toEqual(["m refuses a reasoning effort; it answers without."]);
  });
});
