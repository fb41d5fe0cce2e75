import { Agent, defineTool } from "@agent/core";
import { OpenAIProvider } from "@agent/provider-openai";
import { z } from "zod";

const population = defineTool({
  name: "population",
  description: "How many people live in a city.",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => (city === "Paris" ? "2100000" : "unknown"),
});

export async function compare(question: string, baseURL: string) {
  const provider = new OpenAIProvider({ baseURL, apiKey: "key", model: "model" });
  const agent = new Agent(provider, { tools: [population] });
  const { output } = await agent.run(question, {
    output: z.object({ city: z.string(), people: z.number() }),
  });
  return output;
}
