import type { ChatTool, ExecutableTool, ToolCall } from "@agent/core";
import { errorMessage, functionTool, quote, requireString } from "@agent/core/toolkit";
import { readText } from "../readText.js";

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

export interface HttpFetchSettings {
  readonly isAllowed: (url: URL) => boolean;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Fetches a text over HTTP, from hosts on the user's list only, redirects included. */
export class HttpFetchTool implements ExecutableTool {
  readonly name = "http_fetch";
  readonly capabilities = ["network"] as const;
  readonly #settings: HttpFetchSettings;

  constructor(settings: HttpFetchSettings) {
    this.#settings = settings;
  }

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Fetch a text (HTML, JSON, plain) by HTTP GET from a host the user has allowed.",
      {
        url: { type: "string", description: "Address to fetch, starting with http:// or https://" },
      },
    );
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const timeout = AbortSignal.timeout(this.#settings.timeoutMs);
    const signal = call ? AbortSignal.any([call.signal, timeout]) : timeout;
    try {
      const { url, response } = await this.#follow(this.#checked(requireString(args, "url")), signal);
      const text = await readText(response, this.#settings.maxBytes);
      call?.report?.({ ok: response.ok, summary: `HTTP ${response.status}` });
      return `HTTP ${response.status} ${url.href}\n\n${text}`;
    } catch (error) {
      if (timeout.aborted) throw new Error(`No complete answer within ${this.#settings.timeoutMs} ms.`);
      throw error;
    }
  }

  /** Follows redirects itself, to check each target: an allowed host could redirect to any other. */
  async #follow(start: URL, signal: AbortSignal): Promise<{ url: URL; response: Response }> {
    let url = start;
    for (let step = 0; step <= MAX_REDIRECTS; step++) {
      const response = await request(url, signal);
      const location = response.headers.get("location");
      if (!REDIRECTS.includes(response.status) || location === null) return { url, response };
      await response.body?.cancel();
      url = this.#checked(location, url);
    }
    throw new Error(`${quote(start.href)} redirects more than ${MAX_REDIRECTS} times.`);
  }

  #checked(address: string, base?: URL): URL {
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
    if (!this.#settings.isAllowed(url)) {
      throw new Error(
        `${target}, a host that is not allowed. The user can add it to "allow" of this pack's options.`,
      );
    }
    return url;
  }
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
