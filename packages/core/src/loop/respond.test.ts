import { expect, test } from "vitest";
import type { ChatProvider } from "../providers/interface.js";
import { modelName, providerAttributes, usageAttributes } from "./respond.js";

const provider = (more: Partial<ChatProvider>): ChatProvider => ({
  respond: () => Promise.reject(new Error("not called")),
  ...more,
});

test.each([
  ["anthropic", "anthropic"],
  ["google", "gcp.gemini"],
  ["openai-chat:api.openai.com", "openai"],
  ["openai-responses:me.openai.azure.com", "azure.ai.openai"],
  ["openai-chat:api.mistral.ai", "mistral_ai"],
  ["openai-chat:api.groq.com", "groq"],
  ["openai-chat:api.deepseek.com", "deepseek"],
  ["openai-chat:api.perplexity.ai", "perplexity"],
  ["openai-chat:api.x.ai", "x_ai"],
  ["openai-chat:notx.ai", "openai"],
  ["openai-chat", "openai"],
  ["other:api.x.ai", "other:api.x.ai"],
])("reports the provider %s by its name in the conventions", (id, name) => {
  expect(providerAttributes(provider({ id }))).toEqual({ "gen_ai.provider.name": name });
});

test.each([
  ["https://api.example/v1", "api.example", 443],
  ["http://api.example/v1", "api.example", 80],
  ["http://127.0.0.1:8080", "127.0.0.1", 8080],
])("reports the address %s with its port", (address, host, port) => {
  expect(providerAttributes(provider({ address, model: "m" }))).toEqual({
    "server.address": host,
    "server.port": port,
    "gen_ai.request.model": "m",
  });
});

test("leaves out an address that is not a URL, and tokens that the provider does not report", () => {
  expect(providerAttributes(provider({ address: "nowhere" }))).toEqual({});
  expect(usageAttributes(undefined)).toEqual({});
  expect(usageAttributes({ inputTokens: 1, outputTokens: 2 })).toEqual({
    "gen_ai.usage.input_tokens": 1,
    "gen_ai.usage.output_tokens": 2,
  });
  expect(usageAttributes({ inputTokens: 1, outputTokens: 2, cachedTokens: 0, cacheWriteTokens: 3 })).toEqual({
    "gen_ai.usage.input_tokens": 1,
    "gen_ai.usage.output_tokens": 2,
    "gen_ai.usage.cache_read.input_tokens": 0,
    "gen_ai.usage.cache_creation.input_tokens": 3,
  });
});

test.each([
  [{ id: "a", model: "b" }, { model: "a/b" }],
  [{ id: "a" }, { model: "a" }],
  [{ model: "b" }, { model: "b" }],
  [{}, {}],
])("names the model of %j for steps", (parts, expected) => {
  expect(modelName(provider(parts))).toEqual(expected);
});
