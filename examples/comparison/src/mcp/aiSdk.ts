import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs } from "ai";

export async function askServer(question: string, args: string[], baseURL: string) {
  const provider = createOpenAICompatible({ name: "example", baseURL, apiKey: "key" });
  const client = await createMCPClient({ transport: new StdioTransport({ command: "node", args }) });
  try {
    const { text } = await generateText({
      model: provider("model"),
      prompt: question,
      tools: await client.tools(),
      stopWhen: stepCountIs(100),
    });
    return text;
  } finally {
    await client.close();
  }
}
