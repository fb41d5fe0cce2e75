import { type Content, contentText } from "@agent/core";
import { escapeInvisible, escapeToLine, fenced } from "@agent/internal";
import { plainResult } from "../display/resultBody.js";
import { type AddedPart, splitMessage } from "../display/splitMessage.js";
import { resultOf, type ShownConversation } from "../display/transcript.js";
import { PLAIN_STYLE } from "../text/style.js";
import { closedMarkdown } from "./closedMarkdown.js";

/**
 * A conversation as Markdown: what was said as it was written, calls and their results as code blocks. Nothing in a
 * message reaches beyond it or looks like another one.
 */
export function exportMarkdown(conversation: ShownConversation, session: string): string {
  const messages = conversation.sessionContext;
  const parts = messages.map((message, at) => {
    switch (message.role) {
      case "user":
        return userMarkdown(message.content);
      case "assistant": {
        const calls = (message.tool_calls ?? []).flatMap(({ id, function: { name, arguments: json } }) => {
          const result = resultOf(messages, at, id);
          const details = result && conversation.detailsOf(result);
          const call = `**${title(name)}**\n\n${fenced(escapeInvisible(pretty(json)), "json")}`;
          if (!result) return [call];
          const text = contentText(result.content);
          const shown = plainResult({ outcome: "ok", ...details, text }, PLAIN_STYLE);
          return [call, fenced(shown, details?.view?.type === "diff" ? "diff" : "")];
        });
        return [
          ...(message.content ? [`## Agent\n\n${closedMarkdown(message.content)}`] : []),
          ...calls,
        ].join("\n\n");
      }
      default:
        return "";
    }
  });
  return `# ${title(session)}\n\n${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function userMarkdown(content: Content): string {
  const { text, added } = splitMessage(content);
  const parts = added.map(
    (part) => `**${title(addedTitle(part))}**\n\n${fenced(escapeInvisible(part.text))}`,
  );
  const isSummary = added.some(({ kind }) => kind === "summary");
  return [...(isSummary ? [] : [`## You\n\n${closedMarkdown(text)}`]), ...parts].join("\n\n");
}

/** A name on its own line: nothing in it is a mark. */
function title(name: string): string {
  return escapeToLine(name).replace(/[\\`*<>[\]]/g, "\\$&");
}

/** What a part that was added to a message is, in a few words. */
export function addedTitle({ kind, name }: AddedPart): string {
  switch (kind) {
    case "command":
      return `the text of /${name}`;
    case "note":
      return "a note for the model";
    default:
      return name;
  }
}

export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
