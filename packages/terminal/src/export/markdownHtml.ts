import { closesFence, openedFence } from "../markdown/markdown.js";
import { readTable } from "../markdown/table.js";
import { readSpans } from "./codeSpans.js";
import { escapeHtml } from "./escapeHtml.js";

const LINK = /\[([^\]\n]{1,300})\]\((https?:\/\/[^\s)]{1,2000})\)/g;

/**
 * The Markdown that models write as HTML: headings, lists, quotes, tables, code and inline marks. The text is escaped
 * first, so that only these marks become tags; anything else stays as it was written.
 */
export function markdownToHtml(text: string): string {
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

/** Inline marks. Code spans come first, because nothing inside them is a mark. */
function inline(text: string): string {
  return readSpans(text)
    .map(({ isCode, text: inside }) => (isCode ? `<code>${escapeHtml(inside)}</code>` : words(inside)))
    .join("");
}

function words(text: string): string {
  return escapeHtml(text)
    .replace(LINK, (_, label: string, address: string) => {
      // Marks inside of an address are part of it: as entities they are left alone.
      const href = address.replace(/[*_~]/g, (mark) => `&#${mark.charCodeAt(0)};`);
      return `<a href="${href}" rel="noreferrer">${label}</a>`;
    })
    .replace(/\*\*(\S(?:[^*]{0,500}\S)?)\*\*/g, "<strong>$1</strong>")
    .replace(/(?<![\w*])\*(\S(?:[^*]{0,500}\S)?)\*(?![\w*])/g, "<em>$1</em>")
    .replace(/(?<!\w)_(\S(?:[^_]{0,500}\S)?)_(?!\w)/g, "<em>$1</em>")
    .replace(/~~(\S(?:[^~]{0,500}\S)?)~~/g, "<s>$1</s>");
}
