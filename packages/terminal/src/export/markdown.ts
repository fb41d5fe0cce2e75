import { type Content, contentText } from "@agent/core";
import { escapeInvisible, escapeToLine, fenced } from "@agent/internal";
import { plainResult } from "../display/resultBody.js";
import { type AddedPart, splitMessage } from "../display/splitMessage.js";
import { resultOf, type ShownConversation } from "../display/transcript.js";
import { safeProse } from "../text/safeText.js";
import { PLAIN_STYLE } from "../text/style.js";
import { readSpans } from "./codeSpans.js";

/**
 * Renders a conversation as Markdown: messages as written, calls and their results as code blocks. Nothing in a message
 * extends beyond it or looks like another one.
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

/** A name on a separate line, with markup escaped. */
function title(name: string): string {
  return escapeToLine(name).replace(/[\\`*<>[\]]/g, "\\$&");
}

/** Describes a part that was added to a message, in a few words. */
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

const FENCE = /^( *)(`{3,}(?=[^`]*$)|~{3,})/;

// Starts raw HTML. An unclosed tag or comment would hide everything after it.
const TAG = /<(?=[A-Za-z/!?])/g;

// Makes a viewer load a URL: an image. A backslash before it may be escaped itself.
const IMAGE = /(?<!\\)((?:\\\\)*)!(?=\[)/g;

// Starts a turn of the exported conversation: a heading with `#`, or with a line below it.
const TURN = /^ {0,3}(?=#{1,6}[ \t]+(?:You|Agent)\b)/;

const UNDERLINE = /^ {0,3}(?=(?:-+|=+)[ \t]*$)/;

const TURN_NAME = /^\s*(?:You|Agent)\s*$/;

// In a list, a code block with more lines counts as unclosed.
const LONGEST_NESTED_CODE = 500;

/**
 * Embeds Markdown that someone else wrote in a longer text: it is shown as written, and does not extend beyond its own
 * end. No code block stays open, no tag takes effect, no heading looks like the next turn, and an image becomes a link:
 * loading it would tell its server that the file was opened.
 */
function closedMarkdown(text: string): string {
  const lines = safeProse(text.replaceAll("\r\n", "\n")).split("\n");
  const closed: string[] = [];
  // Whether a code span may have started on an earlier line of the paragraph.
  let spansLines = false;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, indent = "", fence = ""] = FENCE.exec(line) ?? [];
    const end = fence === "" ? -1 : endOfCode(lines, at, indent, fence);
    if (end !== -1) {
      closed.push(...lines.slice(at, end + 1));
      at = end;
    } else if (fence !== "" && indent === "") {
      return [...closed, ...lines.slice(at), fence].join("\n");
    } else if (fence !== "") closed.push(`${indent}\\${inert(line.slice(indent.length))}`);
    else {
      spansLines = line.trim() !== "" && (spansLines || hasOpenSpan(line));
      const isUnderline = TURN_NAME.test(lines[at - 1] ?? "") && UNDERLINE.test(line);
      closed.push(withoutTags(line, spansLines).replace(isUnderline ? UNDERLINE : TURN, "$&\\"));
    }
  }
  return closed.join("\n");
}

/** The line that ends a code block, or -1: there is none, or something else could end the block before. */
function endOfCode(lines: readonly string[], start: number, indent: string, fence: string): number {
  const last = indent === "" ? lines.length : Math.min(lines.length, start + LONGEST_NESTED_CODE);
  for (let at = start + 1; at < last; at++) {
    const line = lines[at] ?? "";
    // A line with less indentation ends the item of a list, and with it the block inside.
    if (line.trim() !== "" && !line.startsWith(indent)) return -1;
    const rest = line.startsWith(indent + fence) ? line.slice(indent.length) : undefined;
    if (rest?.replaceAll(fence.charAt(0), "").trim() === "") return at;
  }
  return -1;
}

function hasOpenSpan(line: string): boolean {
  return line.includes("\\`") || readSpans(line).some(({ isCode, text }) => !isCode && text.startsWith("`"));
}

function withoutTags(line: string, spansLines: boolean): string {
  if (spansLines) return inert(line);
  return readSpans(line)
    .map(({ isCode, source }) => (isCode ? source : inert(source)))
    .join("");
}

function inert(text: string): string {
  return text.replace(TAG, "\\<").replace(IMAGE, "$1\\!");
}
