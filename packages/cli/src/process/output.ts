import { escapeInvisible } from "@agent/core/toolkit";
import { ownStandardOutput, styledWidth, wrapWords } from "@agent/terminal/host";

/** Writes to standard output. For a terminal, control characters are escaped; in a pipe the text is unchanged. */
export function print(text: string): void {
  ownStandardOutput().write(process.stdout.isTTY ? escapeInvisible(text) : text);
}

export function printLine(text: string): void {
  print(text.endsWith("\n") ? text : `${text}\n`);
}

/** Prints a message for the user on standard error. Always escaped: it may quote a file or a server. */
export function note(text: string): void {
  process.stderr.write(`${escapeInvisible(text)}\n`);
}

/**
 * Reserves standard output for the command's own output, which a program may parse: from now on, anything a tool, a
 * pack or a config prints there goes to standard error.
 */
export function reserveStandardOutput(): void {
  const { stdout, stderr } = process;
  if (!stdout.isTTY) stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
}

/** Resolves when everything written so far is flushed. */
export async function flush(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(drained));
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // EPIPE: the reader has closed the pipe, so there is nothing left to flush.
    if (stream.destroyed || stream.writableNeedDrain === undefined) return resolve();
    stream.once("error", () => resolve());
    stream.once("close", () => resolve());
    if (stream === process.stdout) ownStandardOutput().write("", () => resolve());
    else stream.write("", () => resolve());
  });
}

/**
 * Prevents a failed write from crashing the program: a closed pipe ("agent … | head") is not an error, and a full disk
 * is reported at the end. The returned function returns why standard output could not be written, or `undefined`.
 */
export function watchOutput(): () => string | undefined {
  let failure: NodeJS.ErrnoException | undefined;
  process.stderr.on("error", () => undefined);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") failure ??= error;
  });
  return () => {
    const reason = failure?.message.replace(/^E[A-Z0-9]+: /, "").replace(/, write$/, "");
    return reason && `cannot write to standard output: ${reason}. The output is incomplete.`;
  };
}

const LEAST_LAST_COLUMN = 24;

type Row = readonly string[];

/**
 * Formats rows as aligned columns below a header; the last column is not padded, and wraps. If the window is too
 * narrow, there is no header, and each row is its first cell with the others below it. In a pipe nothing wraps.
 */
export function columns(
  rows: readonly Row[],
  head?: Row,
  // A terminal that does not know its width reports 0.
  width = process.stdout.columns || Number.POSITIVE_INFINITY,
): string {
  const all = head ? [head, ...rows] : rows;
  const widths: number[] = [];
  for (const row of all) {
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, styledWidth(cell));
  }
  const last = widths.slice(0, -1).reduce((sum, column) => sum + column + 2, 0);
  const lines =
    last + Math.min(LEAST_LAST_COLUMN, widths.at(-1) ?? 0) <= width
      ? all.flatMap((row) => wrapWords(aligned(row, widths), width, last))
      : rows.flatMap(([first = "", ...rest]) => [
          ...wrapWords(first, width, 2),
          ...wrapWords(`  ${rest.filter((cell) => cell !== "").join(" · ")}`, width, 2),
        ]);
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function aligned(row: Row, widths: readonly number[]): string {
  return row
    .map((cell, index) =>
      index === row.length - 1 ? cell : cell + " ".repeat((widths[index] ?? 0) - styledWidth(cell)),
    )
    .join("  ");
}
