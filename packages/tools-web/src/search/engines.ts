import { isRecord, packOptions, quote } from "@agent/core/toolkit";
import { parseUrl } from "../network/url.js";
import type { SearchOptions } from "../options.js";
import type { SearchEngine, SearchRequest, SearchResult } from "./engine.js";

const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
// A hosted search is a model that searches before it answers.
const HOSTED_TIMEOUT_MS = 120_000;
const MAX_ERROR = 300;

/** The request to a service, and how its answer is parsed. */
interface Adapter {
  readonly name: string;
  /** Absent: the user has to provide it. */
  readonly url?: string;
  /** The variable with the key. Absent: the service needs none. */
  readonly key?: string;
  readonly timeoutMs?: number;
  request(query: string, request: SearchRequest, key: string, options: SearchOptions): AdapterRequest;
  /** Returns the results of an answer. Entries without a URL that can be fetched are dropped afterwards. */
  read(answer: Readonly<Record<string, unknown>>): readonly Loose[];
  /** What to do about a status, if anything. */
  hint?(status: number): string | undefined;
}

interface AdapterRequest {
  /** Added to the address of the service. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with POST. Absent: GET. */
  readonly body?: Readonly<Record<string, unknown>>;
}

interface Loose {
  readonly url?: unknown;
  readonly title?: unknown;
  readonly text?: unknown;
  readonly date?: unknown;
}

const ADAPTERS: Readonly<Record<SearchOptions["engine"], Adapter>> = {
  searxng: {
    name: "SearXNG",
    request: (query, { site }) => ({
      path: `/search?${parameters({ q: withSite(query, site), format: "json" })}`,
    }),
    read: ({ results }) =>
      records(results).map((one) => ({ ...one, text: one.content, date: one.publishedDate })),
    hint: (status) =>
      status === 403
        ? "The server may not offer JSON: add json to search.formats in its settings.yml."
        : undefined,
  },
  brave: {
    name: "Brave Search",
    url: "https://api.search.brave.com/res/v1/web/search",
    key: "BRAVE_API_KEY",
    request: (query, { count, site }, key) => ({
      path: `?${parameters({ q: withSite(query, site), count: String(count), text_decorations: "false" })}`,
      headers: { "x-subscription-token": key },
    }),
    read: ({ web }) =>
      records(isRecord(web) ? web.results : undefined).map((one) => ({
        ...one,
        text: one.description,
        date: one.page_age ?? one.age,
      })),
  },
  tavily: {
    name: "Tavily",
    url: "https://api.tavily.com/search",
    key: "TAVILY_API_KEY",
    request: (query, { count, site }, key) => ({
      headers: { authorization: `Bearer ${key}` },
      body: { query, max_results: count, ...(site !== undefined && { include_domains: [site] }) },
    }),
    read: ({ results }) =>
      records(results).map((one) => ({ ...one, text: one.content, date: one.published_date })),
  },
  exa: {
    name: "Exa",
    url: "https://api.exa.ai/search",
    key: "EXA_API_KEY",
    request: (query, { count, site }, key) => ({
      headers: { "x-api-key": key },
      body: {
        query,
        numResults: count,
        contents: { text: { maxCharacters: 500 } },
        ...(site !== undefined && { includeDomains: [site] }),
      },
    }),
    read: ({ results }) => records(results).map((one) => ({ ...one, date: one.publishedDate })),
  },
  kagi: {
    name: "Kagi",
    url: "https://kagi.com/api/v0/search",
    key: "KAGI_API_KEY",
    request: (query, { count, site }, key) => ({
      path: `?${parameters({ q: withSite(query, site), limit: String(count) })}`,
      headers: { authorization: `Bot ${key}` },
    }),
    // Entries of type 0 are results; others are related searches.
    read: ({ data }) =>
      records(data)
        .filter(({ t }) => t === 0)
        .map((one) => ({ ...one, text: one.snippet, date: one.published })),
  },
  anthropic: {
    name: "Anthropic's web search",
    url: "https://api.anthropic.com/v1/messages",
    key: "ANTHROPIC_API_KEY",
    timeoutMs: HOSTED_TIMEOUT_MS,
    request: (query, { site }, key, options) => ({
      headers: { "x-api-key": key, "anthropic-version": "2023-06-01" },
      body: {
        model: "model" in options ? options.model : "",
        max_tokens: 1024,
        tools: [
          {
            type: "web_search_20250305",
            name: "web_search",
            max_uses: 1,
            ...(site !== undefined && { allowed_domains: [site] }),
          },
        ],
        tool_choice: { type: "tool", name: "web_search" },
        messages: [{ role: "user", content: hostedPrompt(query) }],
      },
    }),
    read: ({ content }) =>
      records(content)
        .filter(({ type }) => type === "web_search_tool_result")
        .flatMap((block) => records(block.content))
        .map((one) => ({ ...one, date: one.page_age })),
  },
  openai: {
    name: "OpenAI's web search",
    url: "https://api.openai.com/v1/responses",
    key: "OPENAI_API_KEY",
    timeoutMs: HOSTED_TIMEOUT_MS,
    request: (query, { site }, key, options) => ({
      headers: { authorization: `Bearer ${key}` },
      body: {
        model: "model" in options ? options.model : "",
        input: hostedPrompt(query),
        store: false,
        tools: [{ type: "web_search", ...(site !== undefined && { filters: { allowed_domains: [site] } }) }],
        tool_choice: { type: "web_search" },
        include: ["web_search_call.action.sources"],
      },
    }),
    read: ({ output }) => {
      const items = records(output);
      const sources = items.flatMap(({ action }) => records(isRecord(action) ? action.sources : undefined));
      const texts = items.flatMap(({ content }) => records(content));
      // The answer cites what it used, with titles; the sources are everything it found.
      const cited = texts.flatMap(({ annotations, text }) =>
        records(annotations)
          .filter(({ type }) => type === "url_citation")
          .map((one) => ({ ...one, text: sentenceBefore(text, one.start_index) })),
      );
      return [...cited, ...sources];
    },
  },
  google: {
    name: "Google's grounding with search",
    url: "https://generativelanguage.googleapis.com/v1beta/models",
    key: "GEMINI_API_KEY",
    timeoutMs: HOSTED_TIMEOUT_MS,
    request: (query, { site }, key, options) => ({
      path: `/${encodeURIComponent("model" in options ? options.model : "")}:generateContent`,
      headers: { "x-goog-api-key": key },
      body: {
        contents: [{ role: "user", parts: [{ text: hostedPrompt(withSite(query, site)) }] }],
        tools: [{ google_search: {} }],
      },
    }),
    // The URLs are Google's redirect links to the pages.
    read: ({ candidates }) =>
      records(candidates).flatMap(({ groundingMetadata: found }) => {
        const { groundingChunks, groundingSupports } = isRecord(found) ? found : {};
        const supports = records(groundingSupports);
        return records(groundingChunks).map(({ web }, index) => {
          const { uri, title } = isRecord(web) ? web : {};
          const support = supports.find(
            ({ groundingChunkIndices: at }) => Array.isArray(at) && at.includes(index),
          );
          return { url: uri, title, text: isRecord(support?.segment) ? support.segment.text : undefined };
        });
      }),
  },
};

/** The variables that hold keys of search services. */
export const SEARCH_KEYS = Object.values(ADAPTERS).flatMap(({ key }) => key ?? []);

/** The two lines that configure a search engine. */
const HOW_TO_CONFIGURE = [
  'packs: [["@agent/tools-web", { search: { engine: "searxng", url: "http://localhost:8888" } }]]',
  `packs: [["@agent/tools-web", { search: { engine: "brave" } }]]  // with ${ADAPTERS.brave.key} in the environment; also tavily, exa, kagi`,
].join("\n");

/** Creates the engine in the options. Returns why there is none if its key is not set. Throws for invalid options. */
export function createSearchEngine(
  packName: string,
  options: unknown,
  secrets: Readonly<Record<string, string | undefined>>,
): SearchEngine | { readonly missing: string } {
  if (options === undefined)
    return { missing: `no search engine is configured. To configure one:\n${HOW_TO_CONFIGURE}` };
  if (isOwnEngine(options)) return options;
  const { search } = packOptions<{ search: SearchOptions }>(
    packName,
    { search: options },
    {
      search: {
        type: "object",
        properties: {
          engine: { enum: Object.keys(ADAPTERS) },
          url: { type: "string", minLength: 1 },
          model: { type: "string", minLength: 1 },
        },
        required: ["engine"],
        additionalProperties: false,
      },
    },
  );
  const adapter = ADAPTERS[search.engine];
  const address = search.url ?? adapter.url;
  if (address === undefined) {
    throw new Error(`${packName}: option search needs the url of your ${adapter.name} server.`);
  }
  const isHosted = adapter.timeoutMs === HOSTED_TIMEOUT_MS;
  if (isHosted !== "model" in search) {
    throw new Error(
      `${packName}: option search.model ${isHosted ? `is needed: ${adapter.name} is a request to a model` : `has no meaning for ${adapter.name}`}.`,
    );
  }
  const url = parseUrl(address);
  const key = adapter.key === undefined ? "" : secrets[adapter.key];
  if (key === undefined) {
    return { missing: `${adapter.name} needs its key in the variable ${adapter.key}, which is not set.` };
  }
  return {
    name: `${adapter.name} (${url.host})`,
    url: url.href,
    search: (query, request) => ask(adapter, url, query, request, key, search),
  };
}

async function ask(
  adapter: Adapter,
  url: URL,
  query: string,
  request: SearchRequest,
  key: string,
  options: SearchOptions,
): Promise<readonly SearchResult[]> {
  const { path = "", headers = {}, body } = adapter.request(query, request, key, options);
  const [{ requestPage }, { createAddressGuard }, { userAgent }] = await Promise.all([
    import("../network/request.js"),
    import("../network/guard.js"),
    import("../userAgent.js"),
  ]);
  const answer = await requestPage({
    url: parseUrl(url.href.replace(/\/$/, "") + path),
    // The user named this server in the configuration.
    guard: createAddressGuard({ isAllowed: () => true, tool: "web_search" }),
    headers: {
      accept: "application/json",
      "user-agent": userAgent(),
      ...headers,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    signal: request.signal,
    maxBytes: MAX_BYTES,
    timeoutMs: adapter.timeoutMs ?? TIMEOUT_MS,
    // A key must not be sent to a redirect target.
    follow: false,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if ("redirect" in answer)
    throw new Error(`${adapter.name} redirects to ${quote(answer.redirect.href)}. Set search.url.`);
  const text = answer.body.toString("utf8");
  if (answer.status !== 200) throw new Error(failure(adapter, answer.status, text));
  const parsed = parseObject(text);
  if (parsed === undefined || answer.cut !== undefined) {
    throw new Error(`${adapter.name} did not answer with JSON: ${quote(text.slice(0, MAX_ERROR))}`);
  }
  return adapter.read(parsed).flatMap(toResult);
}

function failure({ name, key, hint }: Adapter, status: number, text: string): string {
  const advice =
    hint?.(status) ??
    (status === 401 || status === 403
      ? `Check ${key ?? "the access to the server"}.`
      : status === 429
        ? "The limit of requests is reached. Wait before the next search."
        : "");
  return `${name} answered with HTTP ${status}: ${quote(text.slice(0, MAX_ERROR))}${advice && `. ${advice}`}`;
}

function isOwnEngine(options: unknown): options is SearchEngine {
  return isRecord(options) && typeof options.search === "function" && typeof options.name === "string";
}

function hostedPrompt(query: string): string {
  return `Search the web for the following and name the pages you found.\n\n${query}`;
}

function sentenceBefore(text: unknown, end: unknown): string {
  if (typeof text !== "string" || typeof end !== "number") return "";
  return text.slice(Math.max(0, end - MAX_ERROR), end).trim();
}

function withSite(query: string, site: string | undefined): string {
  return site === undefined ? query : `${query} site:${site}`;
}

function parameters(values: Readonly<Record<string, string>>): string {
  return new URLSearchParams(values).toString();
}

function records(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toResult({ url, title, text, date }: Loose): SearchResult[] {
  if (typeof url !== "string") return [];
  return [
    {
      url,
      title: typeof title === "string" ? title : "",
      ...(typeof text === "string" && { text }),
      ...(typeof date === "string" && { date }),
    },
  ];
}
