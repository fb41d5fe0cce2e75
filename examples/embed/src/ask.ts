import { Agent, type ChatProvider } from "@agent/core";
import * as fs from "@agent/tools-fs";
import * as search from "@agent/tools-search";

/** Asks one question about the files in a directory. Writes the tool calls and the answer as they happen. */
export async function ask(
  question: string,
  root: string,
  provider: ChatProvider,
  write: (text: string) => void,
): Promise<void> {
  const agent = new Agent(provider, {
    systemPrompt: `Answer questions about the files in ${root}. Be brief.`,
    tools: [
      [fs, { root }],
      [search, { root }],
    ],
    readOnly: true,
  });
  for await (const event of agent.streamChat(question)) {
    if (event.type === "text") write(event.text);
    if (event.type === "tool_end") write(`[${event.name}: ${event.outcome}]\n`);
  }
  write("\n");
}
