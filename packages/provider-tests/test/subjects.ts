import { fetchSameOrigin } from "@agent/core/provider";
import { fromLanguageModel } from "@agent/provider-ai-sdk";
import { AnthropicProvider } from "@agent/provider-anthropic";
import { GoogleProvider } from "@agent/provider-google";
import { OpenAIProvider } from "@agent/provider-openai";
import type { ProviderSubject } from "@agent/testing";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import OpenAI from "openai";
import { chat, generateContent, messages, responses } from "./dialects.js";

/** All our providers on all their wires, for the kit and for tests that are the same for each. */
export const SUBJECTS: readonly ProviderSubject[] = [
  {
    name: "openai, chat completions",
    dialect: chat,
    create: ({ baseURL, ...target }) =>
      new OpenAIProvider({ ...target, model: "m", baseURL: `${baseURL}/v1`, api: "chat" }),
  },
  {
    name: "openai, Responses",
    dialect: responses,
    create: ({ baseURL, ...target }) =>
      new OpenAIProvider({ ...target, model: "m", baseURL: `${baseURL}/v1`, api: "responses" }),
  },
  {
    name: "openai, through a ready client",
    dialect: chat,
    create: ({ baseURL, apiKey, ...target }) =>
      new OpenAIProvider({
        ...target,
        model: "m",
        client: new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, logLevel: "off" }),
      }),
  },
  {
    name: "anthropic",
    dialect: messages,
    create: (target) => new AnthropicProvider({ ...target, model: "m" }),
  },
  {
    name: "google",
    dialect: generateContent,
    create: (target) => new GoogleProvider({ ...target, model: "gemini-3-pro" }),
  },
  {
    name: "ai-sdk, specification 3",
    dialect: { ...chat, carries: { signature: false } },
    create: ({ baseURL, apiKey, timeoutMs, maxRetries, retryDelayMs }) =>
      fromLanguageModel(
        createOpenAICompatible({
          name: "test",
          baseURL: `${baseURL}/v1`,
          apiKey,
          includeUsage: true,
          fetch: (url, init) => fetchSameOrigin(String(url), init ?? {}),
        })("m"),
        { timeoutMs, maxRetries, retryDelayMs },
      ),
  },
];
