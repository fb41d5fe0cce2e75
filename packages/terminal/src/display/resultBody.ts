import type { ResultView, ToolEndEvent } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import { tableLines } from "../markdown/table.js";
import { formatDuration, sizeText } from "../text/amounts.js";
import { safeLine, safeLines, shownPath, trimBlankLines } from "../text/safeText.js";
import type { Style } from "../text/style.js";
import { AnswerStream } from "./answerStream.js";
import { changeCounts, diffLines } from "./fileDiff.js";
import type { LiveOutput } from "./liveOutput.js";

const OUTCOME_WORDS = {
  ok: "",
  error: "failed",
  not_found: "no such tool",
  not_available: "not available",
  denied: "denied",
  aborted: "aborted",
  interrupted: "interrupted",
} as const;

const FEW_ROWS = 5;
const ERROR_ROWS = 12;
const CREATED_ROWS = 10;
const TABLE_ROWS = 20;
const DIFF_ROWS = 40;

/** The parts of a result that a display needs, stored or just reported. */
export type ShownResult = Pick<ToolEndEvent, "outcome" | "text" | "summary" | "about" | "view">;

/** The lines of a result, safe to display, and how many rows of them are shown at first. */
export interface Body {
  readonly lines: readonly string[];
  /** Where the rows of a long line continue. */
  readonly indent: number;
  readonly rows: number;
  /** Whether the end is shown first instead of the start. */
  readonly fromEnd: boolean;
  /** The number of lines that the view omitted. */
  readonly more: number;
}

/** Whether a call read something: one row names it, and the text is shown on demand. */
export function isRead({ outcome, view, about }: ShownResult): boolean {
  if (outcome !== "ok") return false;
  if (view) return view.type === "code" || view.type === "list";
  return about?.kind === "read" || about?.kind === "search";
}

/** Renders the result of a call by its view, or its text if it has none. */
export function resultBody(result: ShownResult, style: Style, width: number, live?: readonly string[]): Body {
  const { view, outcome, text } = result;
  const failed = outcome !== "ok";
  const rows = failed ? ERROR_ROWS : FEW_ROWS;
  if (view) return viewBody(view, rows, style, width, live);
  // The mark is enough: `✗ aborted`.
  if (outcome === "aborted") return plainBody([], 0);
  return plainBody(trimBlankLines(safeLines(text)), rows);
}

function plainBody(lines: readonly string[], rows: number, more = 0): Body {
  return { lines, indent: 0, rows, fromEnd: false, more };
}

function viewBody(
  view: ResultView,
  rows: number,
  style: Style,
  width: number,
  live: readonly string[] | undefined,
): Body {
  switch (view.type) {
    case "diff": {
      const changes = new Set(view.files.map(({ change }) => change));
      // Deleted or moved files are named in the title.
      const few = changes.has("edited") ? DIFF_ROWS : changes.has("created") ? CREATED_ROWS : 0;
      return { ...plainBody([], few), ...diffLines(view.files, style) };
    }
    case "code":
      return { ...codeBody(view, style), rows, more: view.more ?? 0 };
    case "output":
      return {
        ...plainBody(live ?? trimBlankLines(safeLines(view.text)), rows, live ? 0 : view.more),
        fromEnd: true,
      };
    case "list":
      return plainBody(
        view.items.map((item) => itemLine(item, style)),
        rows,
        view.more,
      );
    case "table":
      return plainBody(
        tableLines(
          {
            head: view.columns.map(escapeToLine),
            rows: view.rows.map((row) => row.map(escapeToLine)),
            alignments: view.columns.map(() => "left"),
          },
          width,
          style,
        ),
        TABLE_ROWS,
        view.more,
      );
    case "fields":
      return plainBody(
        view.fields.flatMap(([name, value]) => {
          const [first = "", ...rest] = safeLines(value);
          return [`${style.dim(`${escapeToLine(name)}:`)} ${first}`, ...rest.map((line) => `  ${line}`)];
        }),
        TABLE_ROWS,
        view.more,
      );
    case "markdown": {
      const answer = new AnswerStream(style);
      answer.add(view.text);
      return plainBody(answer.finish(width), Math.max(rows, CREATED_ROWS), view.more);
    }
  }
}

/** Lines of a file with their numbers. */
function codeBody(
  { text, startLine }: Extract<ResultView, { type: "code" }>,
  style: Style,
): Pick<Body, "lines" | "indent" | "fromEnd"> {
  const lines = safeLines(text);
  if (lines.at(-1) === "") lines.pop();
  if (startLine === undefined) return { lines, indent: 0, fromEnd: false };
  const digits = String(startLine + lines.length).length;
  return {
    lines: lines.map((line, at) => `${style.dim(String(startLine + at).padStart(digits))}  ${line}`),
    indent: digits + 2,
    fromEnd: false,
  };
}

/** `src/a.ts:12  the line`, or the text alone if there is no line. */
function itemLine(
  { text, path, line }: Extract<ResultView, { type: "list" }>["items"][number],
  style: Style,
): string {
  const place =
    path === undefined || line === undefined ? "" : `${style.dim(`${shownPath(path)}:${line}`)}  `;
  return place + safeLine(text);
}

/** The files with the full output, one line each: `all of stdout (2.3 MB): /tmp/…`. */
export function outputFiles({ view }: ShownResult): string[] {
  if (view?.type !== "output") return [];
  return (view.files ?? []).map(({ label, path, bytes }) => {
    const size = bytes === undefined ? "" : ` (${sizeText(bytes)})`;
    return escapeToLine(`all of ${label}${size}: ${path}`);
  });
}

/** A result as full plain text, for exports and for tools that read text. */
export function plainResult(result: ShownResult, style: Style): string {
  const { lines } = resultBody(result, style, Number.MAX_SAFE_INTEGER);
  return [...lines, ...outputFiles(result)].join("\n");
}

/** The output of a command while it ran, with its own colours, unless more of it is needed than was kept. */
export function liveLines(live: LiveOutput | undefined, style: Style, whole: boolean): string[] | undefined {
  return live && !live.isEmpty && (!whole || live.isWhole) ? live.lines(style.output) : undefined;
}

/** The outcome of a call in a few words, or "" if the mark is enough. */
export function outcomeWords({ outcome, summary }: Pick<ShownResult, "outcome" | "summary">): string {
  return escapeToLine(summary ?? OUTCOME_WORDS[outcome]);
}

/** `✗ exit code 2 · 1.2s`: the mark, the tool's summary, its changes, and the duration. */
export function verdictText(result: ShownResult, durationMs: number | undefined, style: Style): string {
  const ok = result.outcome === "ok";
  const words = outcomeWords(result);
  const mark = ok ? style.green("✓") : style.red("✗");
  const facts = [
    ok || words === "" ? words : style.red(words),
    ok && result.view?.type === "diff" ? changeCounts(result.view.files, style) : "",
    durationMs === undefined ? "" : style.dim(formatDuration(durationMs)),
  ];
  return `${mark} ${facts.filter((fact) => fact !== "").join(` ${style.dim("·")} `)}`.trimEnd();
}

/** What a call read, for its only row: `(9 matching lines)`. */
export function readText(result: ShownResult, style: Style): string {
  const words = outcomeWords(result);
  return words === "" ? style.green("✓") : style.dim(`(${words})`);
}
