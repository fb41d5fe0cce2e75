import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const weather = tool({
  description: "The weather in a city now.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `It is sunny in ${city}.`,
});

export function createApp(baseURL: string) {
  const provider = createOpenAICompatible({ name: "example", baseURL, apiKey: "key" });
  return createServer(async (request, response) => {
    const result = streamText({
      model: provider("model"),
      prompt: await text(request),
      tools: { weather },
      stopWhen: stepCountIs(100),
    });
    result.pipeTextStreamToResponse(response);
  });
}
