import type { ChatProvider } from "@agent/core";
import { AnthropicProvider } from "@agent/provider-anthropic";
import { GoogleProvider } from "@agent/provider-google";
import { OpenAIProvider } from "@agent/provider-openai";
import type { StrictWire } from "./strict/server.js";
import { STRICT_CHAT, STRICT_GENERATE_CONTENT, STRICT_MESSAGES, STRICT_RESPONSES } from "./strict/wires.js";

export const KEY = "sk-strict-0123456789";

/** Each wire with the provider that speaks it. */
export const WIRES: readonly {
  readonly name: string;
  readonly wire: StrictWire;
  create(baseURL: string, more?: object): ChatProvider;
}[] = [
  {
    name: "openai chat",
    wire: STRICT_CHAT,
    create: (baseURL, more) =>
      new OpenAIProvider({ model: "m", apiKey: KEY, baseURL: `${baseURL}/v1`, maxRetries: 0, ...more }),
  },
  {
    name: "openai responses",
    wire: STRICT_RESPONSES,
    create: (baseURL, more) =>
      new OpenAIProvider({
        model: "m",
        apiKey: KEY,
        baseURL: `${baseURL}/v1`,
        api: "responses",
        maxRetries: 0,
        ...more,
      }),
  },
  {
    name: "anthropic",
    wire: STRICT_MESSAGES,
    create: (baseURL, more) =>
      new AnthropicProvider({ model: "m", apiKey: KEY, baseURL, maxRetries: 0, ...more }),
  },
  {
    name: "google",
    wire: STRICT_GENERATE_CONTENT,
    create: (baseURL, more) =>
      new GoogleProvider({ model: "gemini-3-pro", apiKey: KEY, baseURL, maxRetries: 0, ...more }),
  },
];
