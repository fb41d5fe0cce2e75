import { boundedBody, withBody } from "../boundedBody.js";
import { requestId, withEnd } from "./cutStream.js";
import { ownAnswer } from "./foreignAnswer.js";

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` with a limit on the size of an answer, the same as for one line of a server on this machine. An event stream
 * may carry more in all, since it stays open; its reader bounds each event. A stream that ends without an answer, and an
 * answer to a request that was never sent, become errors immediately.
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
