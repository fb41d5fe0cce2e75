import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";

/** The file descriptor of the first input of a program. */
export const FIRST_INPUT = 3;

/** Writes to file descriptors 3, 4… of a program that was started with a pipe for each. */
export function feedInputs(child: ChildProcess, inputs: readonly Uint8Array[]): void {
  for (const [index, bytes] of inputs.entries()) {
    const stream = child.stdio[FIRST_INPUT + index] as Writable | null | undefined;
    // A program that exits without reading reports the reason itself.
    stream?.on("error", () => undefined);
    stream?.end(bytes);
  }
}
