import type { ToolEndEvent } from "@agent/core";
import { escapeToLine, isRecord } from "@agent/internal";
import { sizeText } from "./amounts.js";
import { formatDuration } from "./duration.js";
import { safeLines, trimBlankLines } from "./safeText.js";
import type { Style } from "./style.js";

const OUTCOME_WORDS = {
  ok: "",
  error: "failed",
  not_found: "no such tool",
  not_available: "not available",
  denied: "denied",
  aborted: "aborted",
  interrupted: "interrupted",
} as const;

// A diff is recognised within its first lines, after at most a few words about the file.
const DIFF_START = 6;
const DIFF_HEADER = /^@@ .*@@/;

/** How a call ended, as a person needs to know it. */
export interface ToolVerdict {
  readonly ok: boolean;
  /** A few words, or "" if the mark says it all. */
  readonly words: string;
  readonly output: readonly string[];
  /** Where all of a command's output is, if the model got only its beginning and its end. Safe to show. */
  readonly wholeOutput: readonly string[];
  /** Decides which lines are shown: of a command its end, of a text its start, of a diff all. */
  readonly kind: "command" | "diff" | "text";
}

/** Reads the result of a finished call. Only its outcome decides whether it succeeded. */
export function judge(event: ToolEndEvent): ToolVerdict {
  const command = asCommandResult(event.text);
  const ok = event.outcome === "ok";
  const summary = event.summary ?? OUTCOME_WORDS[event.outcome];
  const output = trimBlankLines(safeLines(command?.output ?? event.text));
  const diff = ok && (event.name === "edit_file" || output.slice(0, DIFF_START).some(isDiffHeader));
  return {
    ok,
    words: safeLines(summary).join(" "),
    output,
    wholeOutput: command?.wholeOutput ?? [],
    // A shell line of the person is a command too, although its result is not a command tool's JSON.
    kind: command || event.name === "!" ? "command" : diff ? "diff" : "text",
  };
}

/** A result of a kept conversation: of a command its exit code and what it printed, else the text. */
export function resultText(text: string): string {
  const command = asCommandResult(text);
  return command ? `exit code ${command.exitCode}\n${command.output}` : text;
}

function isDiffHeader(line: string): boolean {
  return DIFF_HEADER.test(line);
}

/** The JSON that command tools return: `{"stdout","stderr","exit_code"}`, possibly with more. */
function asCommandResult(
  text: string,
): { output: string; exitCode: number; wholeOutput: string[] } | undefined {
  if (!text.startsWith("{") || !text.includes('"exit_code"')) return undefined;
  try {
    const { stdout, stderr, exit_code, truncated } = JSON.parse(text) as Record<string, unknown>;
    if (typeof stdout !== "string" || typeof stderr !== "string" || typeof exit_code !== "number") {
      return undefined;
    }
    const gap = stdout !== "" && stderr !== "" && !stdout.endsWith("\n") ? "\n" : "";
    return { output: stdout + gap + stderr, exitCode: exit_code, wholeOutput: wholeOutputLines(truncated) };
  } catch {
    return undefined;
  }
}

/** `{"stdout":{"total_bytes","file"}}`, for each stream that was cut. */
function wholeOutputLines(truncated: unknown): string[] {
  if (!isRecord(truncated)) return [];
  return Object.entries(truncated).flatMap(([stream, about]) => {
    if (!isRecord(about) || typeof about.file !== "string") return [];
    const size = typeof about.total_bytes === "number" ? ` (${sizeText(about.total_bytes)})` : "";
    return [escapeToLine(`all of ${stream}${size}: ${about.file}`)];
  });
}

/** `✗ exit code 2 · 1.2s`: the mark, the tool's own words, what it changed, and the time it took. */
export function verdictText(
  event: ToolEndEvent,
  { ok, words }: ToolVerdict,
  style: Style,
  changed = "",
): string {
  const mark = ok ? style.green("✓") : style.red("✗");
  const time = style.dim(formatDuration(event.durationMs));
  const facts = [ok || words === "" ? words : style.red(words), changed, time].filter((fact) => fact !== "");
  return `${mark} ${facts.join(` ${style.dim("·")} `)}`;
}
