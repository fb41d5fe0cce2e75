import { isRecord } from "@agent/core/toolkit";

/** A stream that stays open as long as the client listens: no answer is missing when it ends. */
const LISTENING = "subscriptions/listen";
const EVENT_ID = /(?:^|[\r\n])id:/;
const encoder = new TextEncoder();

/**
 * The event stream that answers the request `id`, with an error as its last event if it ends without the means to go on: the
 * SDK would wait for the deadline of the call. A request that was answered ignores it.
 */
export function withEnd(
  body: ReadableStream<Uint8Array>,
  id: string | number,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder("latin1");
  let last = "";
  let canResume = false;
  const end = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const error = { code: -32000, message: "the connection was cut before the answer came" };
    const event = JSON.stringify({ jsonrpc: "2.0", id, error });
    // The empty line ends an event that was cut in the middle.
    if (!canResume) controller.enqueue(encoder.encode(`\n\nevent: message\ndata: ${event}\n\n`));
    controller.close();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return end(controller);
        const text = last + decoder.decode(value);
        canResume ||= EVENT_ID.test(text);
        last = text.slice(-4);
        controller.enqueue(value);
      } catch (error) {
        if (signal?.aborted || canResume) controller.error(error);
        else end(controller);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** The id of the request that a body holds and that is answered immediately; undefined for anything else. */
export function requestId(body: unknown): string | number | undefined {
  if (typeof body !== "string") return undefined;
  try {
    const message: unknown = JSON.parse(body);
    if (!isRecord(message) || message.method === LISTENING) return undefined;
    const { id } = message;
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    return undefined;
  }
}
