import type { Style } from "../text/style.js";
import { highlightLine, type OpenToken } from "./highlight.js";
import { renderInline } from "./inlineMarkdown.js";
import { findLanguage, type Language } from "./languages.js";

/** The state that earlier lines leave for the next one. */
export interface MarkdownState {
  /** The fence that opened the code block this line is in. */
  readonly fence: string | undefined;
  /** The language of that block, if known, and the token that earlier lines left open. */
  readonly language?: Language | undefined;
  readonly open?: OpenToken;
  /** The block is a diff. */
  readonly isDiff?: boolean;
}

export const MARKDOWN_START: MarkdownState = { fence: undefined };

// The first characters of lines with block markup. Most lines have none and take the fast path.
const BLOCK_MARK = /^\s*[`~#>*+_\d-]/;
const FENCE = /^\s{0,3}(`{3,}|~{3,})(.*)$/;
const HEADING = /^(#{1,6}\s+)(.*)$/;
const LIST_ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+)(.*)$/;
const QUOTE = /^(\s*>+\s?)(.*)$/;
const DIFF_INFO = /^\s*(?:diff|patch)\b/i;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;

/**
 * Styles one line of Markdown. Adds and removes no characters: the delimiters stay, dimmed, so that text copied from
 * the screen is the text the model wrote. The line must be free of control characters.
 */
export function renderMarkdownLine(
  line: string,
  state: MarkdownState,
  style: Style,
): { readonly text: string; readonly state: MarkdownState } {
  if (!BLOCK_MARK.test(line)) {
    return state.fence === undefined
      ? { text: renderInline(line, style), state }
      : codeLine(line, state, style);
  }
  if (state.fence !== undefined) {
    return closesFence(line, state.fence)
      ? { text: style.dim(line), state: MARKDOWN_START }
      : codeLine(line, state, style);
  }
  const opened = openedFence(line);
  if (!opened) return { text: renderTextLine(line, style), state };
  const { fence, info } = opened;
  return {
    text: style.dim(line),
    state: { fence, language: findLanguage(info), isDiff: DIFF_INFO.test(info) },
  };
}

/** The fence that a line opens, and the text after it. If that contains a backtick, it is inline code instead. */
export function openedFence(line: string): { readonly fence: string; readonly info: string } | undefined {
  const [, fence, info = ""] = FENCE.exec(line) ?? [];
  return fence === undefined || info.includes("`") ? undefined : { fence, info };
}

/** Whether a line closes the code block that this fence opened. */
export function closesFence(line: string, opened: string): boolean {
  const [, fence = "", rest = ""] = FENCE.exec(line) ?? [];
  return fence.startsWith(opened) && rest.trim() === "";
}

function codeLine(
  line: string,
  state: MarkdownState,
  style: Style,
): { readonly text: string; readonly state: MarkdownState } {
  if (state.isDiff) return { text: diffLine(line, style), state };
  if (!state.language) return { text: style.cyan(line), state };
  const { text, open } = highlightLine(line, state.language, state.open, style);
  return { text, state: { ...state, open } };
}

function diffLine(line: string, style: Style): string {
  if (line.startsWith("+")) return style.green(line);
  if (line.startsWith("-")) return style.red(line);
  return line.startsWith("@@") ? style.cyan(line) : line;
}

const INDENT = /^ {0,3}(?=\S)/;
const TABLE_ROW = /^\s{0,3}\|/;

/** Whether a line may be part of a table. */
export function isTableRow(line: string, state: MarkdownState): boolean {
  return state.fence === undefined && TABLE_ROW.test(line);
}

/**
 * The indentation of a wrapped line's further rows, which aligns them with its text. `undefined` for code and tables,
 * which are not wrapped between words. `state` is the state before the line, `next` the state after it.
 */
export function hangingIndent(line: string, state: MarkdownState, next: MarkdownState): number | undefined {
  if (state.fence !== undefined || next.fence !== undefined || TABLE_ROW.test(line)) return undefined;
  const [, indent = "", bullet = "", gap = ""] = LIST_ITEM.exec(line) ?? [];
  if (bullet !== "") return indent.length + bullet.length + gap.length;
  return (QUOTE.exec(line)?.[1] ?? INDENT.exec(line)?.[0])?.length;
}

function renderTextLine(line: string, style: Style): string {
  const heading = HEADING.exec(line);
  if (heading) return style.dim(heading[1] ?? "") + style.bold(style.underline(heading[2] ?? ""));
  if (RULE.test(line)) return style.dim(line);
  const item = LIST_ITEM.exec(line);
  if (item) {
    const [, indent = "", bullet = "", gap = "", rest = ""] = item;
    return indent + style.cyan(bullet) + gap + renderInline(rest, style);
  }
  const quote = QUOTE.exec(line);
  if (quote) return style.dim(quote[1] ?? "") + style.italic(quote[2] ?? "");
  return renderInline(line, style);
}
