import { boundedBody, withBody } from "../boundedBody.js";
import { requestId, withEnd } from "./cutStream.js";
import { ownAnswer } from "./foreignAnswer.js";

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` with a limit on what an answer may weigh: the same as for a line of a server on this machine. An event
 * stream may carry more in all, as it lives long; its single events are bounded by the reader, and its end is told. An
 * answer to something else than what was asked is told, too.
 */
export function boundedFetch(inner: Fetch = fetch): Fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (response.body === null) return response;
    const type = response.headers.get("content-type") ?? "";
    const id = requestId(init?.body);
    if (type.includes("text/event-stream")) {
      return id === undefined ? response : withBody(response, withEnd(response.body, id, init?.signal));
    }
    const body = boundedBody(response.body);
    if (id === undefined || !type.includes("application/json")) return withBody(response, body);
    return withBody(response, ownAnswer(await new Response(body).text(), id));
  };
}
