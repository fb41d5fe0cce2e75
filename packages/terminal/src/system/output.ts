import { escapeInvisible } from "@agent/core/toolkit";

// Not a type of Node, which a project that compiles these declarations may lack.
type StandardOutput = typeof globalThis extends { process: { stdout: infer Stream } } ? Stream : unknown;

/** Standard output as a stream that also works while it is reserved. */
export function ownStandardOutput(): StandardOutput {
  return Object.create(process.stdout, { write: { value: writeOut } });
}

/**
 * Passes everything that other code writes to the terminal to `onLines`, as whole lines that are safe to display, until
 * the returned function is called. Code that draws on the terminal writes to `ownStandardOutput`.
 */
export function divertOutput(onLines: (lines: string[]) => void): () => void {
  const releases = [process.stdout, process.stderr].map((stream) => {
    let rest = "";
    const write = (chunk: string | Uint8Array, ...others: unknown[]): boolean => {
      const lines = (rest + (typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"))).split(
        "\n",
      );
      rest = lines.pop() ?? "";
      if (lines.length > 0) onLines(lines.map((line) => escapeInvisible(line.replace(/\r$/, ""))));
      const done = others.find((other) => typeof other === "function");
      if (done) process.nextTick(done);
      return true;
    };
    const before = Object.getOwnPropertyDescriptor(stream, "write");
    stream.write = write as typeof stream.write;
    return () => {
      if (rest !== "") onLines([escapeInvisible(rest)]);
      rest = "";
      if (before) Object.defineProperty(stream, "write", before);
      else Reflect.deleteProperty(stream, "write");
    };
  });
  return () => {
    for (const release of releases) release();
  };
}

/** Writes with the stream's original method, which a reservation has replaced. */
function writeOut(text: string, done?: () => void): boolean {
  return Object.getPrototypeOf(process.stdout).write.call(process.stdout, text, done);
}
