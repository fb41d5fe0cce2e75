import { type ChatMessage, type ContentPart, contentText } from "@agent/core";
import { countOf } from "@agent/internal";
import { plainResult, type ShownResult, verdictText } from "../display/resultBody.js";
import { splitMessage } from "../display/splitMessage.js";
import { resultOf, type ShownConversation, storedTitle } from "../display/transcript.js";
import { closesFence, openedFence } from "../markdown/markdown.js";
import { readTable } from "../markdown/table.js";
import { safeProse } from "../text/safeText.js";
import { PLAIN_STYLE } from "../text/style.js";
import { readSpans } from "./codeSpans.js";
import { addedTitle, pretty } from "./markdown.js";

const STYLE = `
:root { color-scheme: light dark; --soft: #8883; --accent: #2a7a6f; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 50rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; overflow-wrap: anywhere; }
.about { color: #888; margin-top: .25rem; font-size: .85rem; }
section { margin: 1.5rem 0; overflow-wrap: anywhere; }
.you { border-left: 4px solid var(--accent); padding: .25rem 0 .25rem 1rem; background: var(--soft); border-radius: 0 .5rem .5rem 0; white-space: pre-wrap; }
pre { background: var(--soft); padding: .75rem 1rem; border-radius: .5rem; overflow-x: auto; font-size: .85rem; line-height: 1.45; }
code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9em; }
:not(pre) > code { background: var(--soft); padding: .1em .3em; border-radius: .25rem; }
details { margin: .5rem 0; border: 1px solid var(--soft); border-radius: .5rem; padding: .25rem .75rem; }
summary { cursor: pointer; font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .85rem; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--soft); padding: .3rem .6rem; }
blockquote { border-left: 3px solid #888; margin-left: 0; padding-left: 1rem; color: #888; }
img { max-width: 100%; }
`;
const LONGEST_SUMMARY = 120;
// No scripts, no requests: the page contains text from a model and tools.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** Renders a conversation as one self-contained HTML file. Everything in it is escaped; nothing in it runs. */
export function exportHtml(conversation: ShownConversation, session: string): string {
  const messages = conversation.sessionContext;
  const heading = headingOf(messages) ?? session;
  const body = messages.map((message, at) => {
    if (message.role === "user") return userHtml(message.content);
    if (message.role !== "assistant") return "";
    const text = message.content ? `<section>${markdownToHtml(message.content)}</section>` : "";
    const calls = (message.tool_calls ?? []).map((call) => {
      const { name, arguments: json } = call.function;
      const message = resultOf(messages, at, call.id);
      const details = message && conversation.detailsOf(message);
      const result = message && { outcome: "ok" as const, ...details, text: contentText(message.content) };
      const title = storedTitle(call, details).slice(0, LONGEST_SUMMARY);
      const end = details && result ? ` ${verdictText(result, details.durationMs, PLAIN_STYLE)}` : "";
      const summary = `<b>${escapeHtml(name)}</b> ${escapeHtml(title + end)}`;
      const output = result ? resultHtml(result) : "";
      return `<details><summary>${summary}</summary><pre>${escapeHtml(pretty(json))}</pre>${output}</details>`;
    });
    return text + calls.join("");
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(heading)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(heading)}</h1>
<p class="about">${escapeHtml(`${session} · ${countOf(messages.length, "message")}`)}</p>
${body.filter((part) => part !== "").join("\n")}
</body>
</html>
`;
}

function resultHtml(result: ShownResult): string {
  const { view } = result;
  if (view?.type === "markdown") return markdownToHtml(view.text);
  return `<pre>${escapeHtml(plainResult(result, PLAIN_STYLE))}</pre>`;
}

/** The first line of the user. */
function headingOf(messages: readonly ChatMessage[]): string | undefined {
  const first = messages.find(({ role }) => role === "user")?.content ?? "";
  return splitMessage(first).text.trim().split("\n", 1)[0]?.slice(0, LONGEST_SUMMARY) || undefined;
}

function userHtml(content: string | readonly ContentPart[]): string {
  const { text, added } = splitMessage(content);
  const files = added
    .filter(({ kind }) => kind !== "image")
    .map(
      (part) =>
        `<details><summary>${escapeHtml(addedTitle(part))}</summary><pre>${escapeHtml(part.text)}</pre></details>`,
    );
  const images =
    typeof content === "string"
      ? []
      : content.flatMap((part) =>
          part.type === "image" && /^image\/[a-z+.-]+$/.test(part.mediaType)
            ? [
                `<img alt="${escapeHtml(part.name ?? "image")}" src="data:${part.mediaType};base64,${escapeHtml(part.data)}">`,
              ]
            : [],
        );
  const isSummary = added.some(({ kind }) => kind === "summary");
  const written = isSummary ? "" : `<section class="you">${escapeHtml(text)}${images.join("")}</section>`;
  return written + files.join("");
}

const LINK = /\[([^\]\n]{1,300})\]\((https?:\/\/[^\s)]{1,2000})\)/g;

/**
 * Renders the Markdown that models write as HTML: headings, lists, quotes, tables, code and inline styles. The text is
 * escaped first, so that only these become tags; anything else is unchanged.
 */
function markdownToHtml(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const opened = openedFence(line);
    if (opened) {
      let close = at + 1;
      while (close < lines.length && !closesFence(lines[close] ?? "", opened.fence)) close++;
      blocks.push(`<pre><code>${escapeHtml(lines.slice(at + 1, close).join("\n"))}</code></pre>`);
      at = close + 1;
      continue;
    }
    const kind = kindOf(line);
    let end = at + 1;
    while (end < lines.length && kindOf(lines[end] ?? "") === kind && kind !== "heading" && kind !== "blank")
      end++;
    blocks.push(blockHtml(kind, lines.slice(at, end)));
    at = end;
  }
  return blocks.filter((block) => block !== "").join("\n");
}

type Kind = "blank" | "heading" | "item" | "number" | "quote" | "row" | "fence" | "text";

function kindOf(line: string): Kind {
  if (line.trim() === "") return "blank";
  if (/^#{1,6}\s/.test(line)) return "heading";
  if (/^\s*[-*+]\s/.test(line)) return "item";
  if (/^\s*\d{1,9}[.)]\s/.test(line)) return "number";
  if (/^\s*>/.test(line)) return "quote";
  if (/^\s{0,3}\|/.test(line)) return "row";
  return openedFence(line) ? "fence" : "text";
}

function blockHtml(kind: Kind, lines: readonly string[]): string {
  switch (kind) {
    case "blank":
      return "";
    case "heading": {
      const [, marks = "#", words = ""] = /^(#{1,6})\s+(.*)$/.exec(lines[0] ?? "") ?? [];
      const level = Math.min(6, marks.length + 1);
      return `<h${level}>${inline(words)}</h${level}>`;
    }
    case "item":
    case "number": {
      const tag = kind === "item" ? "ul" : "ol";
      const items = lines.map((line) => `<li>${inline(line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, ""))}</li>`);
      return `<${tag}>${items.join("")}</${tag}>`;
    }
    case "quote":
      return `<blockquote>${lines.map((line) => inline(line.replace(/^\s*>\s?/, ""))).join("<br>")}</blockquote>`;
    case "row":
      return tableHtml(lines);
    default:
      return `<p>${lines.map(inline).join("<br>")}</p>`;
  }
}

function tableHtml(lines: readonly string[]): string {
  const table = readTable(lines);
  if (!table) return `<p>${lines.map(inline).join("<br>")}</p>`;
  const cells = (row: readonly string[], tag: string): string =>
    `<tr>${row.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join("")}</tr>`;
  return `<table>${cells(table.head, "th")}${table.rows.map((row) => cells(row, "td")).join("")}</table>`;
}

/** Inline styles. Code spans come first, because nothing inside them is markup. */
function inline(text: string): string {
  return readSpans(text)
    .map(({ isCode, text: inside }) => (isCode ? `<code>${escapeHtml(inside)}</code>` : words(inside)))
    .join("");
}

function words(text: string): string {
  return escapeHtml(text)
    .replace(LINK, (_, label: string, address: string) => {
      // Markup characters inside a URL are part of it: as entities they are left alone.
      const href = address.replace(/[*_~]/g, (mark) => `&#${mark.charCodeAt(0)};`);
      return `<a href="${href}" rel="noreferrer">${label}</a>`;
    })
    .replace(/\*\*(\S(?:[^*]{0,500}\S)?)\*\*/g, "<strong>$1</strong>")
    .replace(/(?<![\w*])\*(\S(?:[^*]{0,500}\S)?)\*(?![\w*])/g, "<em>$1</em>")
    .replace(/(?<!\w)_(\S(?:[^_]{0,500}\S)?)_(?!\w)/g, "<em>$1</em>")
    .replace(/~~(\S(?:[^~]{0,500}\S)?)~~/g, "<s>$1</s>");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Escapes text for an HTML page, including quoted attributes. Invisible characters and those that reorder text are
 * shown as escapes.
 */
function escapeHtml(text: string): string {
  const visible = safeProse(text.replaceAll("\r\n", "\n"));
  return visible.toWellFormed().replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
