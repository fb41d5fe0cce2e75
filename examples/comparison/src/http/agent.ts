import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Agent, defineTool } from "@agent/core";
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
    try {
      for await (const event of agent.streamChat(await text(request))) {
        if (event.type === "text") response.write(event.text);
      }
      response.end();
    } catch {
      response.destroy(); // a part must not look like the whole answer
    }
  });
}
