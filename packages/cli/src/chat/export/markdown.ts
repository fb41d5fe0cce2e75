import { type ChatMessage, contentText } from "@agent/core";
import { fenced } from "@agent/internal";

/** A conversation as Markdown: what was said as it was written, calls and their results as code blocks. */
export function exportMarkdown(messages: readonly ChatMessage[], title: string): string {
  const parts = messages.map((message) => {
    switch (message.role) {
      case "user":
        return `## You\n\n${contentText(message.content)}`;
      case "assistant": {
        const calls = (message.tool_calls ?? []).map(
          ({ function: { name, arguments: json } }) => `**${name}**\n\n${fenced(pretty(json), "json")}`,
        );
        return [...(message.content ? [`## Agent\n\n${message.content}`] : []), ...calls].join("\n\n");
      }
      case "tool":
        return fenced(contentText(message.content));
      default:
        return "";
    }
  });
  return `# ${title}\n\n${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
