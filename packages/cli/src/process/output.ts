import { escapeInvisible } from "@agent/core/toolkit";

/** Writes to standard output. On a terminal nothing in the text can control it; in a pipe it stays as it is. */
export function print(text: string): void {
  writeOut(process.stdout.isTTY ? escapeInvisible(text) : text);
}

export function printLine(text: string): void {
  print(text.endsWith("\n") ? text : `${text}\n`);
}

/** A message for the person, on standard error. Always escaped: it may quote a file or a server. */
export function note(text: string): void {
  process.stderr.write(`${escapeInvisible(text)}\n`);
}

/**
 * Keeps standard output for what the command itself prints, where a program may read it: what a tool, a pack or a
 * config prints there goes to standard error from now on.
 */
export function reserveStandardOutput(): void {
  const { stdout, stderr } = process;
  if (!stdout.isTTY) stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
}

/** Standard output as a stream that is written also while it is reserved. */
export function ownStandardOutput(): NodeJS.WriteStream {
  return Object.create(process.stdout, { write: { value: writeOut } });
}

/** Writes by the stream's own method, which a reservation has replaced. */
function writeOut(text: string, done?: () => void): boolean {
  return Object.getPrototypeOf(process.stdout).write.call(process.stdout, text, done);
}

/** Resolves when everything written so far has left the process. */
export async function flush(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(drained));
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // EPIPE: the reader is gone, so there is nothing left to flush.
    if (stream.destroyed || stream.writableNeedDrain === undefined) return resolve();
    stream.once("error", () => resolve());
    stream.once("close", () => resolve());
    if (stream === process.stdout) writeOut("", () => resolve());
    else stream.write("", () => resolve());
  });
}

/**
 * Lets writing fail without ending the program: a reader that went away ("agent … | head") is no error, and a
 * full disk is told at the end. The result says, in words, why standard output could not be written, if so.
 */
export function watchOutput(): () => string | undefined {
  let failure: NodeJS.ErrnoException | undefined;
  process.stderr.on("error", () => undefined);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") failure ??= error;
  });
  return () => {
    const reason = failure?.message.replace(/^E[A-Z0-9]+: /, "").replace(/, write$/, "");
    return reason && `cannot write to standard output: ${reason}. What was printed is not all.`;
  };
}

/** Rows as aligned columns; the last one is not padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row
        .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
        .join("  "),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}
