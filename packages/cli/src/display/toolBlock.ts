import type { ToolEndEvent } from "@agent/core";
import { countOf, escapeToLine } from "@agent/internal";
import { formatDuration } from "./duration.js";
import { changeCounts, type FileChange } from "./fileChange.js";
import type { LiveOutput } from "./liveOutput.js";
import type { Style } from "./style.js";
import { judge, type ToolVerdict, verdictText } from "./toolResult.js";
import { clipRow, textWidth, wrapLine, wrapWords } from "./width.js";
import { paintDiff } from "./wordDiff.js";

const COLLAPSED_ROWS = 5;
// If output is too long to be kept whole, its first rows are shown besides the last: they say what the end belongs to.
const HEAD_ROWS = 3;
const DIFF_ROWS = 40;
const CREATED_ROWS = 10;
const ERROR_ROWS = 12;
const TITLE_ROWS = 4;

/** A call that has not ended. It waits for its turn, or runs. */
export interface OpenCall {
  readonly name: string;
  readonly title: string;
  /** How long it has run; absent while it waits. */
  readonly elapsedMs: number | undefined;
  /** The last lines it printed, safe to show. */
  readonly tail: readonly string[];
}

/** A call that has ended, with what it was about. */
export interface FinishedCall {
  readonly title: string;
  readonly event: ToolEndEvent;
  /** What it printed while it ran, with the command's own colours. */
  readonly live?: LiveOutput;
  readonly change?: FileChange;
}

export interface BlockOptions {
  readonly style: Style;
  readonly width: number;
  /** How a person sees the lines left out: `ctrl+o expands`. Absent where there is no way. */
  readonly expandHint?: string;
  /** How many rows of output a finished call shows. */
  readonly maxLines?: number;
}

/** `● run_bash  npm test`: the first rows of a call, styled unlike any answer of a model. Long titles wrap. */
export function headerLines(
  name: string,
  title: string,
  options: BlockOptions,
  maxRows = TITLE_ROWS,
): string[] {
  const { style, width } = options;
  const shown = escapeToLine(name);
  const indent = Math.min(textWidth(shown) + 4, Math.floor(width / 3));
  const text = `${style.cyan("●")} ${style.bold(shown)}  ${title}`.trimEnd();
  const rows = wrapWords(text, width, indent);
  if (rows.length <= maxRows) return rows;
  return [...rows.slice(0, maxRows - 1), `${clipRow(rows[maxRows - 1] ?? "", width - 1)}…`];
}

export function openLines(call: OpenCall, options: BlockOptions): string[] {
  const { style } = options;
  const state = call.elapsedMs === undefined ? "waiting" : `executing… ${formatDuration(call.elapsedMs)}`;
  return [
    ...headerLines(call.name, call.title, options, 2),
    ...call.tail.map((line) => gutter(style.dim(clipRow(line, options.width - 3)), options)),
    gutter(style.yellow(state), options),
  ];
}

/** A finished call in a few rows; `expandable` says whether some of its output is left out. */
export function finishedLines(
  call: FinishedCall,
  options: BlockOptions,
): { readonly lines: string[]; readonly expandable: boolean } {
  const verdict = judge(call.event);
  const body = bodyOf(call, verdict, options.style);
  // The person has just agreed to this very diff: the counts say enough.
  const isKnown = verdict.ok && call.change?.wasShown === true && call.change.diff.length > 0;
  const rows = isKnown ? [] : body.lines.flatMap((line) => bodyRows(line, body, options));
  const { shown, hidden, hiddenFirst } = collapse(rows, body, options.maxLines);
  const shownRows = shown.map((row) => gutter(row, options));
  if (hidden > 0) {
    const hint = options.expandHint === undefined ? "" : ` (${options.expandHint})`;
    const notice = gutter(options.style.dim(`… +${countOf(hidden, "line")}${hint}`), options);
    if (hiddenFirst) shownRows.unshift(...headRows(verdict, options), notice);
    else shownRows.push(notice);
  }
  shownRows.push(...wholeOutputRows(verdict, options));
  const header = headerLines(call.event.name, call.title, options);
  const isCut = header.length === TITLE_ROWS && header.at(-1)?.endsWith("…") === true;
  return {
    lines: [...header, ...shownRows, ...endLines(call, verdict, options, isKnown)],
    expandable: hidden > 0 || isCut || isKnown,
  };
}

/**
 * A finished call with all its output. Long lines are left for the terminal to wrap, so that they are copied whole; those
 * of a diff are wrapped behind its signs.
 */
export function expandedLines(call: FinishedCall, options: BlockOptions): string[] {
  const verdict = judge(call.event);
  const body = bodyOf(call, verdict, options.style, true);
  return [
    ...headerLines(call.event.name, call.title, options, Number.POSITIVE_INFINITY),
    ...body.lines
      .flatMap((line) => (isDiff(body) ? bodyRows(line, body, options) : line))
      .map((line) => gutter(line, options)),
    ...wholeOutputRows(verdict, options),
    ...endLines(call, verdict, options),
  ];
}

/** Several calls that only read, on one line: `● 3 reads  read_file a.ts, b.ts · search_text TODO`. */
export function foldedLines(calls: readonly FinishedCall[], options: BlockOptions): string[] {
  const { style } = options;
  const titles = new Map<string, string[]>();
  for (const { title, event } of calls) titles.set(event.name, [...(titles.get(event.name) ?? []), title]);
  const text = [...titles].map(([name, list]) => `${escapeToLine(name)} ${list.join(", ")}`).join(" · ");
  const duration = calls.reduce((sum, { event }) => sum + event.durationMs, 0);
  const hint = options.expandHint === undefined ? "" : style.dim(` (${options.expandHint})`);
  return [
    ...headerLines(`${calls.length} reads`, text, options, 3),
    `${style.dim("└")} ${style.green("✓")} ${style.dim(formatDuration(duration))}${hint}`,
  ];
}

interface Body {
  readonly lines: readonly string[];
  readonly kind: ToolVerdict["kind"] | "failed command" | "created" | "error";
}

/** The body to show for a call: its diff, or its output with colours, or the text the model got. */
function bodyOf(
  { event, live, change }: FinishedCall,
  verdict: ToolVerdict,
  style: Style,
  whole = false,
): Body {
  const diff = change?.diff ?? [];
  if (verdict.ok && diff.length > 0) {
    const isNew = diff[0]?.startsWith("@@ -1,0 ") === true;
    return isNew
      ? { kind: "created", lines: diff.slice(1).map((line) => style.green(line)) }
      : { kind: "diff", lines: paintDiff(diff, style) };
  }
  if (verdict.kind === "command" && live && !live.isEmpty && (!whole || live.isWhole)) {
    return { kind: verdict.ok ? "command" : "failed command", lines: live.lines(style.output) };
  }
  if (verdict.kind === "diff") return { kind: "diff", lines: paintDiff(verdict.output, style) };
  // The mark says enough: `✗ aborted`.
  if (event.outcome === "aborted" && verdict.kind === "text") return { kind: "text", lines: [] };
  const failed = { text: "error", command: "failed command" } as const;
  return { kind: verdict.ok ? verdict.kind : failed[verdict.kind], lines: verdict.output };
}

/** The first rows of output that was too long to be kept whole. */
function headRows({ wholeOutput, output }: ToolVerdict, options: BlockOptions): string[] {
  if (wholeOutput.length === 0) return [];
  const rows = output.slice(0, HEAD_ROWS).flatMap((line) => wrapLine(line, options.width - 3));
  return rows.slice(0, HEAD_ROWS).map((row) => gutter(row, options));
}

/** Where the rest can be read. */
function wholeOutputRows({ wholeOutput }: ToolVerdict, options: BlockOptions): string[] {
  return wholeOutput
    .flatMap((line) => wrapLine(line, options.width - 3))
    .map((row) => gutter(options.style.dim(row), options));
}

/** The rows of one line. Those of a diff leave the column of its sign free, so that no row looks like another line. */
function bodyRows(line: string, body: Body, { width }: BlockOptions): string[] {
  return wrapLine(line, width - 3, isDiff(body) ? 1 : 0);
}

function isDiff({ kind }: Body): boolean {
  return kind === "diff" || kind === "created";
}

/** How the call ended. `isLeftOut` says that its diff is not shown. */
function endLines(
  { event, change }: FinishedCall,
  verdict: ToolVerdict,
  { style, width, expandHint }: BlockOptions,
  isLeftOut = false,
): string[] {
  const counts = verdict.ok && change ? changeCounts(change.diff, style) : "";
  const hint = isLeftOut && expandHint !== undefined ? style.dim(` (${expandHint})`) : "";
  return wrapWords(`${style.dim("└")} ${verdictText(event, verdict, style, counts)}${hint}`, width, 2);
}

function gutter(text: string, { style }: BlockOptions): string {
  return `${style.dim("│")} ${text}`;
}

function collapse(
  rows: readonly string[],
  { kind }: Body,
  maxLines = COLLAPSED_ROWS,
): { shown: readonly string[]; hidden: number; hiddenFirst: boolean } {
  const limits = {
    diff: DIFF_ROWS,
    created: CREATED_ROWS,
    error: ERROR_ROWS,
    "failed command": ERROR_ROWS,
    command: 0,
    text: 0,
  };
  const limit = Math.max(limits[kind], maxLines);
  // Show one row more rather than a notice that one row is hidden: both take one row.
  if (rows.length <= limit + 1) return { shown: rows, hidden: 0, hiddenFirst: false };
  const hidden = rows.length - limit;
  return kind.endsWith("command")
    ? { shown: rows.slice(hidden), hidden, hiddenFirst: true }
    : { shown: rows.slice(0, limit), hidden, hiddenFirst: false };
}
