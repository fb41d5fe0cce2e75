import { readTable } from "../../display/table.js";
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
    const fence = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      const end = lines.findIndex((one, index) => index > at && one.trim().startsWith(fence));
      const close = end === -1 ? lines.length : end;
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
  return /^\s{0,3}(`{3,}|~{3,})/.test(line) ? "fence" : "text";
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

/**
 * Inline marks. Code spans come first, because nothing inside them is a mark: `split` makes every second piece a run of
 * backticks, and two runs of the same length enclose code.
 */
function inline(text: string): string {
  const pieces = text.split(/(`+)/);
  const closing = closingRuns(pieces);
  const parts: string[] = [];
  for (let at = 0; at < pieces.length; at++) {
    const end = closing.get(at);
    if (end === undefined) parts.push(words(pieces[at] ?? ""));
    else {
      parts.push(`<code>${escapeHtml(pieces.slice(at + 1, end).join(""))}</code>`);
      at = end;
    }
  }
  return parts.join("");
}

/** By the index of each run of backticks, the next one of its length, found in one pass from the end. */
function closingRuns(pieces: readonly string[]): ReadonlyMap<number, number> {
  const closing = new Map<number, number>();
  const next = new Map<number, number>();
  for (let at = pieces.length - 2; at > 0; at -= 2) {
    const length = pieces[at]?.length ?? 0;
    const end = next.get(length);
    if (end !== undefined) closing.set(at, end);
    next.set(length, at);
  }
  return closing;
}

function words(text: string): string {
  return escapeHtml(text)
    .replace(LINK, '<a href="$2" rel="noreferrer">$1</a>')
    .replace(/\*\*(\S(?:[^*]{0,500}\S)?)\*\*/g, "<strong>$1</strong>")
    .replace(/(?<![\w*])\*(\S(?:[^*]{0,500}\S)?)\*(?![\w*])/g, "<em>$1</em>")
    .replace(/(?<!\w)_(\S(?:[^_]{0,500}\S)?)_(?!\w)/g, "<em>$1</em>")
    .replace(/~~(\S(?:[^~]{0,500}\S)?)~~/g, "<s>$1</s>");
}
