import type { ToolEndEvent } from "@agent/core";
import { safeLines } from "./safeText.js";

const OUTCOME_WORDS = {
  ok: "",
  error: "failed",
  not_found: "no such tool",
  not_available: "not available",
  denied: "denied",
  aborted: "aborted",
} as const;

// A diff says so within its first lines, after at most a few words about the file.
const DIFF_START = 6;
const DIFF_HEADER = /^@@ .*@@/;

/** How a call ended, as a person needs to know it. */
export interface ToolVerdict {
  readonly ok: boolean;
  /** A few words, or "" if the mark says it all. */
  readonly words: string;
  readonly output: readonly string[];
  /** Of a command, the end matters more than the start; of a diff, every line does. */
  readonly kind: "command" | "diff" | "text";
  readonly exitCode?: number;
}

/** Reads a finished call. Only the outcome `ok` is a success, and never with an exit code other than 0. */
export function judge(event: ToolEndEvent): ToolVerdict {
  const command = asCommandResult(event.text);
  const exitCode = command?.exitCode;
  const ok = event.outcome === "ok" && (exitCode ?? 0) === 0;
  const summary =
    event.summary ?? (exitCode === undefined ? OUTCOME_WORDS[event.outcome] : `exit code ${exitCode}`);
  const output = trimBlankEnds(safeLines(command?.output ?? event.text));
  const diff = ok && (event.name === "edit_file" || output.slice(0, DIFF_START).some(isDiffHeader));
  return {
    ok,
    words: safeLines(summary).join(" "),
    output,
    kind: command ? "command" : diff ? "diff" : "text",
    ...(exitCode !== undefined && { exitCode }),
  };
}

export function isDiffHeader(line: string): boolean {
  return DIFF_HEADER.test(line);
}

/** The JSON that command tools return: `{"stdout","stderr","exit_code"}`, possibly with more. */
function asCommandResult(text: string): { output: string; exitCode: number } | undefined {
  if (!text.startsWith("{") || !text.includes('"exit_code"')) return undefined;
  try {
    const { stdout, stderr, exit_code } = JSON.parse(text) as Record<string, unknown>;
    if (typeof stdout !== "string" || typeof stderr !== "string" || typeof exit_code !== "number") {
      return undefined;
    }
    const gap = stdout !== "" && stderr !== "" && !stdout.endsWith("\n") ? "\n" : "";
    return { output: stdout + gap + stderr, exitCode: exit_code };
  } catch {
    return undefined;
  }
}

function trimBlankEnds(lines: string[]): string[] {
  let start = 0;
  let end = lines.length;
  while (start < end && lines[start] === "") start++;
  while (end > start && lines[end - 1] === "") end--;
  return lines.slice(start, end);
}
