import { fetchSameOrigin } from "@agent/core/provider";
import { fromLanguageModel } from "@agent/provider-ai-sdk";
import { AnthropicProvider } from "@agent/provider-anthropic";
import { GoogleProvider } from "@agent/provider-google";
import { OpenAIProvider } from "@agent/provider-openai";
import type { ProviderSubject } from "@agent/testing";
import { createAnthropic as createAnthropic2 } from "ai-sdk-anthropic-2";
import { createAnthropic as createAnthropic3 } from "ai-sdk-anthropic-3";
import { createAnthropic as createAnthropic4 } from "ai-sdk-anthropic-4";
import OpenAI from "openai";
import { chat, generateContent, messages, responses } from "./dialects.js";

/** All providers of this repository with all their wires, for the kit and for tests shared by all. */
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
  ...aiSdkSubjects(),
];

/** The AI SDK's package for Anthropic in three major versions, one for each specification version. */
function aiSdkSubjects(): ProviderSubject[] {
  const generations = { v2: createAnthropic2, v3: createAnthropic3, v4: createAnthropic4 };
  return Object.entries(generations).map(([version, createAnthropic]) => ({
    name: `ai-sdk, specification ${version}`,
    dialect: messages,
    create: ({ baseURL, apiKey, timeoutMs, maxRetries, retryDelayMs }) => {
      const model = createAnthropic({
        baseURL: `${baseURL}/v1`,
        apiKey,
        fetch: (url, init) => fetchSameOrigin(String(url), init ?? {}),
      })("m");
      if (model.specificationVersion !== version)
        throw new Error(`The model is ${model.specificationVersion}.`);
      return fromLanguageModel(model, { timeoutMs, maxRetries, retryDelayMs });
    },
  }));
}
