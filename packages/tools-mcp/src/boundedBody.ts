import { MAX_LINE_BYTES } from "./stdio/lines.js";

/** The body of an HTTP answer, with an error once it exceeds the maximum line length of a local server. */
export function boundedBody(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
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

/** A response like another, with a different body. */
export function withBody(response: Response, body: ReadableStream<Uint8Array> | string): Response {
  const { status, statusText, headers } = response;
  const changed = new Response(body, { status, statusText, headers });
  // A constructed `Response` has no `url`; the SDK compares it to detect redirects.
  Object.defineProperty(changed, "url", { value: response.url });
  return changed;
}
