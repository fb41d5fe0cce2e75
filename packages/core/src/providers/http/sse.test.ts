import { expect, test } from "vitest";
import { readEvents, readText } from "./sse.js";

const MEGABYTE = new Uint8Array(1024 * 1024).fill(0x78);

/** A body that never ends, and whether its reader has let go of it. */
function endless(): { body: ReadableStream<Uint8Array>; isCancelled: () => boolean } {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(MEGABYTE),
    cancel: () => {
      cancelled = true;
    },
  });
  return { body, isCancelled: () => cancelled };
}

const ignore = (): void => undefined;

test.each([
  ["a whole answer", (body: ReadableStream<Uint8Array>) => readText(body, ignore)],
  ["a stream", (body: ReadableStream<Uint8Array>) => readEvents(body, ignore, ignore)],
])("gives up %s without end, and closes the connection", async (_, read) => {
  const { body, isCancelled } = endless();
  await expect(read(body)).rejects.toThrow(
    /^the answer has more than \d+ (bytes|characters that hold no data)$/,
  );
  expect(isCancelled()).toBe(true);
});

test("joins line endings and data split at every place", async () => {
  const bytes = new TextEncoder().encode("data: {é}\r\n\r\ndata: a\rdata: b\r\rdata: [DONE]\n\n");
  const found: string[] = [];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  expect(await readEvents(body, (data) => found.push(data), ignore)).toBe(true);
  expect(found).toEqual(["{é}", "a\nb"]);
});

test("distinguishes comments, blanks and empty events from data, also in pieces", async () => {
  const isData: boolean[] = [];
  const parts = [": ping\n", "\n", "data:\n\n", "id: 1\n", "da", "ta: {", "}", "\n\n", ": ping\n\n"];
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  await readEvents(body, ignore, (isOne) => isData.push(isOne));
  expect(isData.slice(0, parts.length)).toEqual([false, false, false, false, false, true, true, true, false]);
});
