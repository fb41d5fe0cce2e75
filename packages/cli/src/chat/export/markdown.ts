import { type ChatMessage, contentText } from "@agent/core";

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
        return fenced(contentText(message.content), "");
      default:
        return "";
    }
  });
  return `# ${title}\n\n${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** A code block whose fence is longer than any inside. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
