import { defineTool } from "@agent/core";
import { errorMessage, quote } from "@agent/core/toolkit";
import { readText } from "../readText.js";

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

export interface HttpFetchSettings {
  readonly isAllowed: (url: URL) => boolean;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Fetches a text over HTTP, from hosts on the user's list only, redirects included. */
export function httpFetch(settings: HttpFetchSettings) {
  return defineTool({
    name: "http_fetch",
    description: "Fetch a text (HTML, JSON, plain) by HTTP GET from a host the user has allowed.",
    input: {
      type: "object",
      properties: {
        url: {
          type: "string",
          minLength: 1,
          description: "Address to fetch, starting with http:// or https://",
        },
      },
      required: ["url"],
      additionalProperties: false,
    },
    capabilities: ["network"],
    // Rules match the address, and a user is not asked about one that is refused anyway.
    describe({ url }) {
      try {
        return { targets: [{ type: "url", url: checked(settings, url).href }] };
      } catch (error) {
        return { refusal: errorMessage(error) };
      }
    },
    async execute({ url: address }, call) {
      const timeout = AbortSignal.timeout(settings.timeoutMs);
      const signal = AbortSignal.any([call.signal, timeout]);
      try {
        const { url, response } = await follow(settings, checked(settings, address), signal);
        const text = await readText(response, settings.maxBytes);
        call.report({ ok: response.ok, summary: `HTTP ${response.status}` });
        return `HTTP ${response.status} ${url.href}\n\n${text}`;
      } catch (error) {
        if (timeout.aborted) throw new Error(`No complete answer within ${settings.timeoutMs} ms.`);
        throw error;
      }
    },
  });
}

/** Follows redirects itself, to check each target: an allowed host could redirect to any other. */
async function follow(
  settings: HttpFetchSettings,
  start: URL,
  signal: AbortSignal,
): Promise<{ url: URL; response: Response }> {
  let url = start;
  for (let step = 0; step <= MAX_REDIRECTS; step++) {
    const response = await request(url, signal);
    const location = response.headers.get("location");
    if (!REDIRECTS.includes(response.status) || location === null) return { url, response };
    await response.body?.cancel();
    url = checked(settings, location, url);
  }
  throw new Error(`${quote(start.href)} redirects more than ${MAX_REDIRECTS} times.`);
}

function checked({ isAllowed }: HttpFetchSettings, address: string, base?: URL): URL {
  if (!URL.canParse(address, base?.href))
    throw new Error(`"url" must be a full address, got ${quote(address)}.`);
  const url = new URL(address, base);
  const target = base ? `${quote(base.href)} redirects to ${quote(url.origin)}` : quote(url.origin);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Error(`"url" must start with http:// or https://, got ${quote(url.protocol)}.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error('"url" must not hold a user name or password. Leave out the part before "@".');
  }
  if (!isAllowed(url)) {
    throw new Error(
      `${target}, a host that is not allowed. The user can add it to "allow" of this pack's options.`,
    );
  }
  return url;
}

async function request(url: URL, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      redirect: "manual",
      signal,
      headers: { accept: "text/*, application/json;q=0.9" },
    });
  } catch (error) {
    throw new Error(`Cannot fetch from ${quote(url.host)}: ${errorMessage(error)}`);
  }
}
