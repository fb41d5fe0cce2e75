import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output, stepCountIs, tool } from "ai";
import { z } from "zod";

const population = tool({
  description: "How many people live in a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => (city === "Paris" ? "2100000" : "unknown"),
});

export async function compare(question: string, baseURL: string) {
  const options = { name: "example", baseURL, apiKey: "key", supportsStructuredOutputs: true };
  const provider = createOpenAICompatible(options);
  const { output } = await generateText({
    model: provider("model"),
    prompt: question,
    tools: { population },
    stopWhen: stepCountIs(100),
    output: Output.object({ schema: z.object({ city: z.string(), people: z.number() }) }),
  });
  return output;
}
