import { Readable } from "node:stream";
import { ndJsonStream, type Stream } from "@agentclientprotocol/sdk";

export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** A stream over standard input and `output`, which replaces standard output if the program prints there. */
export function standardStream(output: { write(chunk: Uint8Array, done: () => void): unknown }): Stream {
  return ndJsonStream(
    new WritableStream<Uint8Array>({
      write: (chunk) => new Promise<void>((resolve) => output.write(chunk, () => resolve())),
    }),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_BYTES },
  );
}
