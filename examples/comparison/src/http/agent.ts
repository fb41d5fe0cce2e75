import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { Agent, defineTool, textStream } from "@agent/core";
import { OpenAIProvider } from "@agent/provider-openai";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city now.",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `It is sunny in ${city}.`,
});

export function createApp(baseURL: string) {
  const provider = new OpenAIProvider({ baseURL, apiKey: "key", model: "model" });
  return createServer(async (request, response) => {
    const agent = new Agent(provider, { tools: [weather] });
    const answer = textStream(agent.streamChat(await text(request)));
    await pipeline(answer, response).catch(() => undefined); // a failure breaks it off
  });
}
