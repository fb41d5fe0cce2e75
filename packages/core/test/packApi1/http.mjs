// Emitted from the sources of an earlier commit (9bab23aa): a pack that was built for pack API 1. Do not change it.

import { packOptions, quote } from "@agent/core/toolkit";

var WILDCARD = "*.";
var DEFAULT_PORTS = { "http:": "80", "https:": "443" };
function createAllowList(entries) {
  const rules = entries.map(parseEntry);
  return (url) => {
    const port = url.port || DEFAULT_PORTS[url.protocol];
    return rules.some(
      (rule) =>
        (rule.below ? url.hostname.endsWith(`.${rule.host}`) : url.hostname === rule.host) &&
        (rule.port === void 0 ? url.port === "" : rule.port === port),
    );
  };
}
function parseEntry(entry) {
  const below = entry.startsWith(WILDCARD);
  const host = below ? entry.slice(WILDCARD.length) : entry;
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : void 0;
  if (url?.pathname !== "/" || url.username !== "" || /[*/?#@\s]/.test(host)) {
    throw new Error(
      `allow: ${quote(entry)} is not a host. Write "example.com", "*.example.com" or "localhost:8080".`,
    );
  }
  const port = /:(\d+)$/.exec(host)?.[1];
  return { host: url.hostname, port: port === void 0 ? void 0 : String(Number(port)), below };
}

import {
  errorMessage,
  functionTool,
  quote as quote2,
  quote as quote3,
  requireString,
  utf8Boundary,
} from "@agent/core/toolkit";

var TEXT_TYPE = /^(text\/|application\/([\w.-]+\+)?(json|xml|javascript|yaml)\b)/i;
async function readText(response, maxBytes) {
  const type = response.headers.get("content-type") ?? "text/plain";
  if (!TEXT_TYPE.test(type)) {
    await response.body?.cancel();
    throw new Error(`The answer is ${quote2(type)}, not text. Only text can be fetched.`);
  }
  const chunks = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  const bytes = Buffer.concat(chunks);
  const text = new TextDecoder(charset(type)).decode(bytes.subarray(0, utf8Boundary(bytes, maxBytes)));
  return size <= maxBytes
    ? text
    : `${text}
[\u2026 truncated: only the first ${maxBytes} bytes were read.]`;
}
function charset(type) {
  const [, name = "utf-8"] = /charset="?([\w-]+)/i.exec(type) ?? [];
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return "utf-8";
  }
}

var MAX_REDIRECTS = 5;
var REDIRECTS = [301, 302, 303, 307, 308];
var HttpFetchTool = class {
  name = "http_fetch";
  capabilities = ["network"];
  #settings;
  constructor(settings) {
    this.#settings = settings;
  }
  getSchema() {
    return functionTool(
      this.name,
      "Fetch a text (HTML, JSON, plain) by HTTP GET from a host the user has allowed.",
      {
        url: { type: "string", description: "Address to fetch, starting with http:// or https://" },
      },
    );
  }
  async execute(args, call) {
    const timeout = AbortSignal.timeout(this.#settings.timeoutMs);
    const signal = call ? AbortSignal.any([call.signal, timeout]) : timeout;
    try {
      const { url, response } = await this.#follow(this.#checked(requireString(args, "url")), signal);
      const text = await readText(response, this.#settings.maxBytes);
      call?.report({ ok: response.ok, summary: `HTTP ${response.status}` });
      return `HTTP ${response.status} ${url.href}

${text}`;
    } catch (error) {
      if (timeout.aborted) throw new Error(`No complete answer within ${this.#settings.timeoutMs} ms.`);
      throw error;
    }
  }
  /** Follows redirects by hand: each step must be allowed, or an allowed host could lead anywhere. */
  async #follow(start, signal) {
    let url = start;
    for (let step = 0; step <= MAX_REDIRECTS; step++) {
      const response = await request(url, signal);
      const location = response.headers.get("location");
      if (!REDIRECTS.includes(response.status) || location === null) return { url, response };
      await response.body?.cancel();
      url = this.#checked(location, url);
    }
    throw new Error(`${quote3(start.href)} redirects more than ${MAX_REDIRECTS} times.`);
  }
  #checked(address, base) {
    if (!URL.canParse(address, base?.href))
      throw new Error(`"url" must be a full address, got ${quote3(address)}.`);
    const url = new URL(address, base);
    const target = base ? `${quote3(base.href)} redirects to ${quote3(url.origin)}` : quote3(url.origin);
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw new Error(`"url" must start with http:// or https://, got ${quote3(url.protocol)}.`);
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
};
async function request(url, signal) {
  try {
    return await fetch(url, {
      redirect: "manual",
      signal,
      headers: { accept: "text/*, application/json;q=0.9" },
    });
  } catch (error) {
    const { cause } = error;
    throw new Error(`Cannot fetch from ${quote3(url.host)}: ${errorMessage(cause ?? error)}`);
  }
}

var packName = "example-pack-http";
var packApiVersion = 1;
var OPTIONS = {
  allow: { type: "array", items: { type: "string", minLength: 1 } },
  maxBytes: { type: "integer", minimum: 1, maximum: 1024 * 1024 },
  timeoutMs: { type: "integer", minimum: 1, maximum: 10 * 60 * 1e3 },
};
function register(registry, host) {
  const options = packOptions(packName, host?.options, OPTIONS);
  const tool = new HttpFetchTool({
    isAllowed: createAllowList(options.allow ?? []),
    maxBytes: options.maxBytes ?? 256 * 1024,
    timeoutMs: options.timeoutMs ?? 15e3,
  });
  registry.register(tool, { enabled: false });
}

export { packApiVersion, packName, register };
