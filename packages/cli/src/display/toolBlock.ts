import type { ToolEndEvent } from "@agent/core";
import { escapeToLine } from "@agent/core/toolkit";
import { formatDuration } from "./duration.js";
import type { Style } from "./style.js";
import { isDiffHeader, judge, type ToolVerdict } from "./toolResult.js";
import { cutToWidth, expandTabs, textWidth } from "./width.js";

const COLLAPSED_LINES = 5;
const DIFF_LINES = 24;

/** A call that has not ended. It waits for its turn, waits for a person's answer, or runs. */
export interface OpenCall {
  readonly name: string;
  readonly title: string;
  readonly phase: "waiting" | "asking" | "executing";
  readonly elapsedMs: number;
  /** The last lines it printed, safe to show. */
  readonly tail: readonly string[];
}

/** A call that has ended, with what it was about. */
export interface FinishedCall {
  readonly title: string;
  readonly event: ToolEndEvent;
}

export interface BlockOptions {
  readonly style: Style;
  readonly width: number;
  /** How a person sees the lines left out: `ctrl+o expands`. Absent where there is no way. */
  readonly expandHint?: string;
  /** How many lines of output a finished call shows. */
  readonly maxLines?: number;
}

/** `● run_bash  npm test`: the first row of a call, which no answer of a model looks like. */
export function headerLine(name: string, title: string, { style, width }: BlockOptions): string {
  const shown = cutToWidth(escapeToLine(name), Math.max(1, width - 4));
  return `${style.cyan("●")} ${style.bold(shown)}  ${cutToWidth(title, width - 4 - textWidth(shown))}`.trimEnd();
}

export function openLines(call: OpenCall, options: BlockOptions): string[] {
  const { style } = options;
  const state = {
    waiting: "waiting",
    asking: "waits for your answer",
    executing: `executing… ${formatDuration(call.elapsedMs)}`,
  }[call.phase];
  return [
    headerLine(call.name, call.title, options),
    ...call.tail.map((line) => gutter(style.dim(fit(line, options)), options)),
    gutter(style.yellow(state), options),
  ];
}

/** A finished call in a few lines; `expandable` says whether some of its output is left out. */
export function finishedLines(
  call: FinishedCall,
  options: BlockOptions,
): { readonly lines: string[]; readonly expandable: boolean } {
  const verdict = judge(call.event);
  const { shown, hidden, hiddenFirst } = collapse(verdict, options.maxLines ?? COLLAPSED_LINES);
  const body = shown.map((line) =>
    gutter(paintDiff(line, fit(line, options), verdict, options.style), options),
  );
  if (hidden > 0) {
    const hint = options.expandHint === undefined ? "" : ` (${options.expandHint})`;
    const notice = gutter(
      options.style.dim(`… +${hidden} ${hidden === 1 ? "line" : "lines"}${hint}`),
      options,
    );
    if (hiddenFirst) body.unshift(notice);
    else body.push(notice);
  }
  return {
    lines: [headerLine(call.event.name, call.title, options), ...body, endLine(call.event, verdict, options)],
    expandable: hidden > 0,
  };
}

/** A finished call with all its output, however long its lines are. */
export function expandedLines(call: FinishedCall, options: BlockOptions): string[] {
  const verdict = judge(call.event);
  return [
    headerLine(call.event.name, call.title, options),
    ...verdict.output.map((line) => gutter(paintDiff(line, line, verdict, options.style), options)),
    endLine(call.event, verdict, options),
  ];
}

/** `✗ exit code 2 · 1.2s`: the mark, the tool's own words and the time it took. */
export function verdictText(event: ToolEndEvent, { ok, words }: ToolVerdict, style: Style): string {
  const mark = ok ? style.green("✓") : style.red("✗");
  const time = style.dim(formatDuration(event.durationMs));
  return words === ""
    ? `${mark} ${time}`
    : `${mark} ${ok ? words : style.red(words)} ${style.dim("·")} ${time}`;
}

function endLine(event: ToolEndEvent, verdict: ToolVerdict, { style, width }: BlockOptions): string {
  const words = cutToWidth(verdict.words, Math.max(1, width - 20));
  return `${style.dim("└")} ${verdictText(event, { ...verdict, words }, style)}`;
}

function gutter(text: string, { style }: BlockOptions): string {
  return `${style.dim("│")} ${text}`;
}

function fit(line: string, { width }: BlockOptions): string {
  return cutToWidth(expandTabs(line.length > width * 8 ? line.slice(0, width * 8) : line), width - 3);
}

function collapse(
  verdict: ToolVerdict,
  maxLines: number,
): { shown: readonly string[]; hidden: number; hiddenFirst: boolean } {
  const { output, kind } = verdict;
  const limit = kind === "diff" ? Math.max(DIFF_LINES, maxLines) : maxLines;
  // One line more costs no more room than the notice that it is missing.
  if (output.length <= limit + 1) return { shown: output, hidden: 0, hiddenFirst: false };
  const hidden = output.length - limit;
  return kind === "command"
    ? { shown: output.slice(hidden), hidden, hiddenFirst: true }
    : { shown: output.slice(0, limit), hidden, hiddenFirst: false };
}

function paintDiff(line: string, shown: string, verdict: ToolVerdict, style: Style): string {
  if (verdict.kind !== "diff") return shown;
  if (line.startsWith("+")) return style.green(shown);
  if (line.startsWith("-")) return style.red(shown);
  return isDiffHeader(line) ? style.cyan(shown) : shown;
}
