import { Readable } from "node:stream";
import { ndJsonStream, type Stream } from "@agentclientprotocol/sdk";

export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Standard input, and `output` in place of standard output for a program that keeps that for itself. */
export function standardStream(output: { write(chunk: Uint8Array, done: () => void): unknown }): Stream {
  return ndJsonStream(
    new WritableStream<Uint8Array>({
      write: (chunk) => new Promise<void>((resolve) => output.write(chunk, () => resolve())),
    }),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_BYTES },
  );
}
