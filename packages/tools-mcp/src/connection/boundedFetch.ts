import { MAX_LINE_BYTES } from "../stdio/lines.js";
import { withEnd } from "./cutStream.js";

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` with a limit on what an answer may weigh: the same as for a line of a server on this machine. An event
 * stream may carry more in all, as it lives long; its single events are bounded by the reader, and its end is told.
 */
export function boundedFetch(inner: Fetch = fetch): Fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
    if (response.body === null) return response;
    const body = isStream ? withEnd(response.body, init) : counted(response.body);
    const { status, statusText, headers } = response;
    const bounded = new Response(body, { status, statusText, headers });
    // A made response has no address; the reader compares it to detect redirects.
    Object.defineProperty(bounded, "url", { value: response.url });
    return bounded;
  };
}

function counted(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes <= MAX_LINE_BYTES) controller.enqueue(chunk);
        else controller.error(new Error(`The answer is larger than ${MAX_LINE_BYTES / 1024 / 1024} MiB.`));
      },
    }),
  );
}
