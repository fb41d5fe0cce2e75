import { Agent } from "@agent/core";
import { OpenAIProvider } from "@agent/provider-openai";
import * as fs from "@agent/tools-fs";
import * as search from "@agent/tools-search";

export async function ask(question: string, root: string, baseURL: string): Promise<string> {
  const provider = new OpenAIProvider({ baseURL, apiKey: "key", model: "model" });
  const agent = new Agent(provider, {
    tools: [
      [fs, { root }],
      [search, { root }],
    ],
    disable: ["write_file", "edit_file", "mkdir", "move", "save_session_context"],
  });
  return await agent.chat(question);
}
