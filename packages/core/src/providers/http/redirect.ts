import { quotePath } from "@agent/internal";
import { checkFunction, checkObject, checkText } from "../../toolkit/hostOptions/checks.js";
import { AttemptError } from "./retry.js";

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
// Only these two statuses repeat the request as it is; the others turn it into a GET without a body.
const REPEATING: ReadonlySet<number> = new Set([307, 308]);

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Like `fetch`, but never follows a redirect to another origin, which would receive the conversation and the key.
 * Throws an `AttemptError` for such a redirect.
 */
export async function fetchSameOrigin(
  url: string,
  init: RequestInit,
  send: Fetch = fetch,
): Promise<Response> {
  checkText("url", url);
  checkObject("init", init);
  checkFunction("send", send);
  let address = url;
  for (let redirects = 0; ; redirects++) {
    const response = await send(address, { ...init, redirect: "manual" });
    const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
    if (location === null) return response;
    response.body?.cancel().catch(() => undefined);
    address = nextAddress(new URL(address), location, response.status).href;
    if (redirects >= MAX_REDIRECTS) {
      throw refused(`the server redirects more than ${MAX_REDIRECTS} times. Check baseURL.`);
    }
  }
}

function nextAddress(from: URL, location: string, status: number): URL {
  if (!URL.canParse(location, from.href)) {
    throw refused(`the server redirects to an invalid address: ${quotePath(location)}. Check baseURL.`);
  }
  const to = new URL(location, from);
  if (to.origin !== from.origin) {
    throw refused(
      `the server redirects to another origin, ${quotePath(to.href)}, which must not get the conversation or the key. ` +
        "If you trust it, set baseURL to it.",
    );
  }
  if (!REPEATING.has(status)) {
    throw refused(
      `the server redirects with status ${status} to ${quotePath(to.href)}, which drops the request's body. ` +
        "Set baseURL to that address.",
    );
  }
  return to;
}

function refused(message: string): AttemptError {
  return new AttemptError(message, { retryable: false });
}
