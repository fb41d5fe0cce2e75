import { boundedBody, withBody } from "./boundedBody.js";
import { withEnd } from "./cutStream.js";

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` with a limit on what an answer may weigh: the same as for a line of a server on this machine. An event
 * stream may carry more in all, as it lives long; its single events are bounded by the reader, and its end is told.
 */
export function boundedFetch(inner: Fetch = fetch): Fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
    if (response.body === null) return response;
    return withBody(response, isStream ? withEnd(response.body, init) : boundedBody(response.body));
  };
}
