import { Agent } from "@agent/core";
import { OpenAIProvider } from "@agent/provider-openai";
import { connectServers } from "@agent/tools-mcp/manage";

export async function askServer(question: string, args: string[], baseURL: string) {
  const agent = new Agent(new OpenAIProvider({ baseURL, apiKey: "key", model: "model" }));
  const servers = { shop: { command: "node", args, enable: true } } as const;
  try {
    await connectServers(agent.registry, servers, { context: agent.context });
    return await agent.chat(question);
  } finally {
    await agent.dispose();
  }
}
