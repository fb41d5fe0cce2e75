import type { FileDiff, ToolEndEvent } from "@agent/core";
import { countOf, escapeToLine } from "@agent/internal";
import { formatDuration } from "../text/amounts.js";
import { safeLines } from "../text/safeText.js";
import type { Style } from "../text/style.js";
import { clipRow, textWidth, wrapLine, wrapWords } from "../text/width.js";
import type { InnerCall, InnerCalls } from "./innerCalls.js";
import type { LiveOutput } from "./liveOutput.js";
import {
  type Body,
  isRead,
  liveLines,
  outputFiles,
  readText,
  resultBody,
  verdictText,
} from "./resultBody.js";

const TITLE_ROWS = 4;
/** How many calls of a script or a child agent are named below the call that made them. */
const INNER_CALLS = 10;

/** An unfinished call: waiting or running. */
export interface OpenCall {
  readonly name: string;
  readonly title: string;
  /** How long it has run; absent while it waits. */
  readonly elapsedMs: number | undefined;
  /** The last lines of its output, safe to display. */
  readonly tail: readonly string[];
  /** Whether the question about it is right above. */
  readonly isBelowQuestion: boolean;
}

/** An argument and its text. */
export type NamedText = readonly [name: string, text: string];

/** A finished call, with its targets. */
export interface FinishedCall {
  readonly title: string;
  readonly event: ToolEndEvent;
  /** Its arguments of several lines. */
  readonly texts?: readonly NamedText[];
  /** Its output while it ran, with the command's own colours. */
  readonly live?: LiveOutput;
  /** The calls that it made. */
  readonly inner?: InnerCalls;
  /** The changes shown in the question about it. */
  readonly previewed?: readonly FileDiff[];
  /** Whether it asked the user what its title says, and the answer is shown. */
  readonly isQuestion?: boolean;
  /** Whether the question about it is right above, with its name and arguments. */
  readonly isBelowQuestion?: boolean;
}

export interface BlockOptions {
  readonly style: Style;
  readonly width: number;
  /** How the user expands the omitted lines: `ctrl+o expands`. Absent if they cannot be expanded. */
  readonly expandHint?: string;
  /** How many rows of output a finished call shows, if not the default. */
  readonly maxLines?: number;
  /** How many rows of read content are shown. Default: none. */
  readonly readRows?: number;
}

/** `● run_bash  npm test`: the first rows of a call, styled differently from model answers. Long titles wrap. */
export function headerLines(
  name: string,
  title: string,
  options: BlockOptions,
  { maxRows = TITLE_ROWS, failed = false, end = "" } = {},
): string[] {
  const { style, width } = options;
  const shown = escapeToLine(name);
  const indent = Math.min(textWidth(shown) + 4, Math.floor(width / 3));
  const mark = failed ? style.red("●") : style.cyan("●");
  const text = `${mark} ${style.bold(shown)}  ${title}`.trimEnd();
  const rows = wrapWords(end === "" ? text : `${text} ${end}`, width, indent);
  if (rows.length <= maxRows) return rows;
  const cut = wrapWords(text, width, indent);
  return [
    ...cut.slice(0, maxRows - 1),
    `${clipRow(cut[maxRows - 1] ?? "", width - 1)}…`,
    ...(end === "" ? [] : [`${style.dim("└")} ${end}`]),
  ];
}

export function openLines(call: OpenCall, options: BlockOptions): string[] {
  const { style } = options;
  const { name, title, elapsedMs, tail, isBelowQuestion } = call;
  if (elapsedMs === undefined && tail.length === 0 && !isBelowQuestion) return [waitingRow(call, options)];
  const state = elapsedMs === undefined ? "waiting" : `executing… ${formatDuration(elapsedMs)}`;
  return [
    ...(isBelowQuestion ? [] : headerLines(name, title, options, { maxRows: 2 })),
    ...tail.map((line) => gutter(style.dim(clipRow(line, options.width - 3)), options)),
    gutter(style.yellow(state), options),
  ];
}

/** `● read_file  a.ts (waiting)`. */
function waitingRow({ name, title }: OpenCall, options: BlockOptions): string {
  const { style, width } = options;
  const state = "(waiting)";
  const room = width - textWidth(state) - 1;
  const rows = headerLines(name, title, { ...options, width: Math.max(room, 1) }, { maxRows: 1 });
  return clipRow(`${rows[0] ?? ""} ${style.dim(state)}`, width);
}

/** A finished call in a few rows; `expandable` tells whether some of its output is omitted. */
export function finishedLines(
  call: FinishedCall,
  options: BlockOptions,
): { readonly lines: string[]; readonly expandable: boolean } {
  const { event, title, live } = call;
  const { style, expandHint, readRows = 0 } = options;
  const isReading = isRead(event);
  const verdict = verdictText(event, event.durationMs, style);
  const body = resultBody(event, style, options.width - 3, liveLines(live, style, false));
  if (isReading && readRows === 0) {
    const lines = call.isBelowQuestion
      ? endLines(verdict, options)
      : headerLines(event.name, title, options, { end: readText(event, style) });
    return { lines, expandable: body.lines.length > 0 };
  }
  // The user has just approved this diff, or refused the call: the last row is enough.
  const isKnown = wasShown(call);
  const isRefused = call.isBelowQuestion === true && event.outcome === "denied";
  const limit = isKnown ? 0 : isReading ? readRows : Math.max(body.rows, options.maxLines ?? 0);
  const { rows, hidden } = isRefused ? { rows: [], hidden: 0 } : collapse(body, limit, options);
  const shownRows = rows.map((row) => gutter(row, options));
  const hint = expandHint === undefined ? "" : ` (${expandHint})`;
  if (hidden > 0 && limit > 0) {
    const notice = gutter(style.dim(`… +${countOf(hidden, "line")}${hint}`), options);
    if (body.fromEnd) shownRows.unshift(notice);
    else shownRows.push(notice);
  }
  const failed = event.outcome !== "ok";
  const header = call.isBelowQuestion ? [] : headerLines(event.name, title, options, { failed });
  const isCut = header.length === TITLE_ROWS && header.at(-1)?.endsWith("…") === true;
  const inner = innerRows(call, options);
  // One row stands for the output of a child agent's call.
  const isShort = hidden > 0 ? limit === 0 : inner.hidden === 0 && call.inner?.hasAgents === true;
  return {
    lines: [
      ...header,
      ...inner.lines,
      ...shownRows,
      ...fileRows(call, options),
      ...endLines(isShort ? verdict + style.dim(hint) : verdict, options),
    ],
    expandable: hidden > 0 || isCut || call.inner !== undefined || argumentLines(call, style).length > 0,
  };
}

/**
 * What the calls changed that this call made, and which of them failed. Those that only read, and those for which there
 * is no space, are counted.
 */
function innerRows(
  { inner }: FinishedCall,
  options: BlockOptions,
): { readonly lines: readonly string[]; readonly hidden: number } {
  if (!inner) return { lines: [], hidden: 0 };
  const { style, expandHint } = options;
  const shown = inner.all.filter(({ isRead }) => !isRead).slice(0, INNER_CALLS);
  const hidden = inner.count - shown.length;
  const hint = expandHint === undefined ? "" : ` (${expandHint})`;
  const more = `${shown.length === 0 ? countOf(hidden, "call") : `… +${countOf(hidden, "call")}`}${hint}`;
  const within = { ...options, width: options.width - 2 };
  return {
    lines: [...shown.flatMap((one) => innerBlock(one, within)), ...(hidden > 0 ? [style.dim(more)] : [])].map(
      (row) => gutter(row, options),
    ),
    hidden,
  };
}

/** A call of a script with its changes, as if the model had made it. One of a child agent takes one row. */
function innerBlock(call: InnerCall, options: BlockOptions): string[] {
  const { isOfAgent, title, event, isRead: onlyRead } = call;
  const { style } = options;
  if (!isOfAgent && !onlyRead) return finishedLines(call, options).lines;
  const end = onlyRead ? readText(event, style) : verdictText(event, event.durationMs, style);
  return headerLines(event.name, title, options, { end, failed: event.outcome !== "ok" });
}

/**
 * A finished call with all its output. Long lines are left for the terminal to wrap, so that they are copied whole;
 * those of a diff are wrapped to the right of its signs.
 */
export function expandedLines(call: FinishedCall, options: BlockOptions): string[] {
  const { event, title, live } = call;
  const { style, width } = options;
  const body = resultBody(event, style, width - 3, liveLines(live, style, true));
  const more = body.more > 0 ? [style.dim(`… +${countOf(body.more, "line")} that are not stored`)] : [];
  const lines = body.lines.flatMap((line) => (body.indent > 0 ? bodyRows(line, body, options) : line));
  return [
    ...headerLines(event.name, title, options, {
      maxRows: Number.POSITIVE_INFINITY,
      failed: event.outcome !== "ok",
    }),
    ...argumentLines(call, style).map((line) => gutter(line, options)),
    ...expandedInner(call, options),
    ...(body.fromEnd ? [...more, ...lines] : [...lines, ...more]).map((line) => gutter(line, options)),
    ...fileRows(call, options),
    ...endLines(verdictText(event, event.durationMs, style), options),
  ];
}

/** The arguments of several lines. A diff shows those that are written to a file. */
function argumentLines({ texts = [], event: { view } }: FinishedCall, style: Style): string[] {
  if (view?.type === "diff") return [];
  return texts.flatMap(([name, text]) => [
    style.dim(`${escapeToLine(name)}:`),
    ...safeLines(text.trimEnd()).map((line) => `  ${line}`),
  ]);
}

/** All calls that this call made, with their changes. */
function expandedInner({ inner }: FinishedCall, options: BlockOptions): string[] {
  if (!inner) return [];
  const within = { ...options, width: options.width - 2 };
  const dropped = inner.count - inner.all.length;
  const lines = inner.all.flatMap((one) =>
    one.isRead ? innerBlock(one, within) : expandedLines(one, within),
  );
  if (dropped > 0) lines.unshift(options.style.dim(`… +${countOf(dropped, "call")} that are not stored`));
  return lines.map((line) => gutter(line, options));
}

/** Whether the user has already seen this diff, in the question about the call. */
function wasShown({ event: { view }, previewed = [] }: FinishedCall): boolean {
  if (view?.type !== "diff" || previewed.length === 0) return false;
  const hunks = (files: readonly FileDiff[]): string => JSON.stringify(files.map((file) => file.hunks));
  return hunks(view.files) === hunks(previewed);
}

/** Where the full output can be read. */
function fileRows({ event }: FinishedCall, options: BlockOptions): string[] {
  return outputFiles(event)
    .flatMap((line) => wrapLine(line, options.width - 3))
    .map((row) => gutter(options.style.dim(row), options));
}

/** The rows of one line. Those of a diff leave the column of its sign empty, so that no row looks like another line. */
function bodyRows(line: string, { indent }: Body, { width }: BlockOptions): string[] {
  return wrapLine(line, width - 3, indent);
}

function endLines(verdict: string, { style, width }: BlockOptions): string[] {
  return wrapWords(`${style.dim("└")} ${verdict}`, width, 2);
}

function gutter(text: string, { style }: BlockOptions): string {
  return `${style.dim("│")} ${text}`;
}

/** The first or last rows of a body, and how many of its lines are not fully shown. */
function collapse(
  body: Body,
  limit: number,
  options: BlockOptions,
): { readonly rows: readonly string[]; readonly hidden: number } {
  const lines = body.fromEnd ? [...body.lines].reverse() : body.lines;
  const blocks: string[][] = [];
  let count = 0;
  // Long output is not wrapped to its end.
  for (const line of lines) {
    if (count > limit + 1) break;
    const rows = bodyRows(line, body, options);
    blocks.push(body.fromEnd ? rows.reverse() : rows);
    count += rows.length;
  }
  // Show one row more rather than a notice that one row is hidden: both take one row.
  const isWhole = blocks.length === lines.length && count <= limit + 1 && (limit > 0 || count === 0);
  const rows = isWhole ? blocks.flat() : blocks.flat().slice(0, limit);
  let shown = 0;
  for (let left = rows.length; left >= (blocks[shown]?.length ?? Number.POSITIVE_INFINITY); shown++) {
    left -= blocks[shown]?.length ?? 0;
  }
  return { rows: body.fromEnd ? rows.reverse() : rows, hidden: lines.length - shown + body.more };
}
