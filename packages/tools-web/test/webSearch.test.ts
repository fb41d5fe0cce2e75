import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { SearchOptions, WebOptions } from "../src/index.js";
import { secrets } from "../src/index.js";
import { dataOf, WebServer, webRegistry } from "./webServer.js";

const KEY = "sk-of-the-test-1234567890";
const RESULTS = [
  { url: "https://a.example/1", title: "First" },
  { url: "https://b.example/2", title: "Second" },
];
const json = (value: unknown) => JSON.stringify(value);

let server: WebServer;
beforeAll(async () => {
  server = await new WebServer().listen();
  for (const name of secrets ?? []) vi.stubEnv(name, KEY);
});
afterAll(() => {
  server.close();
  vi.unstubAllEnvs();
});
beforeEach(() => {
  server.requests.length = 0;
});

interface Case {
  readonly options: SearchOptions;
  readonly path: string;
  /** What the stand-in answers, in the form of the service. */
  readonly answer: unknown;
  /** What the service must have been sent for `query: "what is x", site: "a.example", count: 5`. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

function cases(): readonly Case[] {
  const at = (path: string) => server.url(path);
  return [
    {
      options: { engine: "searxng", url: at("/searx/") },
      path: "/searx/search",
      query: { q: "what is x site:a.example", format: "json" },
      headers: {},
      answer: {
        results: RESULTS.map((one) => ({ ...one, content: "Text.", publishedDate: "2026-01-02T00:00:00" })),
      },
    },
    {
      options: { engine: "brave", url: at("/brave") },
      path: "/brave",
      query: { q: "what is x site:a.example", count: "5", text_decorations: "false" },
      headers: { "x-subscription-token": KEY },
      answer: {
        web: {
          results: RESULTS.map((one) => ({
            ...one,
            description: "<strong>Text</strong>.",
            page_age: "2026-01-02",
          })),
        },
      },
    },
    {
      options: { engine: "tavily", url: at("/tavily") },
      path: "/tavily",
      body: { query: "what is x", max_results: 5, include_domains: ["a.example"] },
      headers: { authorization: `Bearer ${KEY}` },
      answer: { results: RESULTS.map((one) => ({ ...one, content: "Text.", published_date: "2026-01-02" })) },
    },
    {
      options: { engine: "exa", url: at("/exa") },
      path: "/exa",
      body: {
        query: "what is x",
        numResults: 5,
        contents: { text: { maxCharacters: 500 } },
        includeDomains: ["a.example"],
      },
      headers: { "x-api-key": KEY },
      answer: { results: RESULTS.map((one) => ({ ...one, text: "Text.", publishedDate: "2026-01-02" })) },
    },
    {
      options: { engine: "kagi", url: at("/kagi") },
      path: "/kagi",
      query: { q: "what is x site:a.example", limit: "5" },
      headers: { authorization: `Bot ${KEY}` },
      answer: {
        data: [
          ...RESULTS.map((one) => ({ t: 0, ...one, snippet: "Text.", published: "2026-01-02" })),
          { t: 1, list: ["related"] },
        ],
      },
    },
    {
      options: { engine: "anthropic", model: "claude-x", url: at("/messages") },
      path: "/messages",
      body: {
        model: "claude-x",
        max_tokens: 1024,
        tools: [
          { type: "web_search_20250305", name: "web_search", max_uses: 1, allowed_domains: ["a.example"] },
        ],
        tool_choice: { type: "tool", name: "web_search" },
        messages: [
          {
            role: "user",
            content: "Search the web for the following and name the pages you found.\n\nwhat is x",
          },
        ],
      },
      headers: { "x-api-key": KEY, "anthropic-version": "2023-06-01" },
      answer: {
        content: [
          { type: "server_tool_use", name: "web_search" },
          {
            type: "web_search_tool_result",
            content: RESULTS.map((one) => ({ type: "web_search_result", ...one, page_age: "2026-01-02" })),
          },
          { type: "text", text: "I found two pages." },
        ],
      },
    },
    {
      options: { engine: "openai", model: "gpt-x", url: at("/responses") },
      path: "/responses",
      body: {
        model: "gpt-x",
        input: "Search the web for the following and name the pages you found.\n\nwhat is x",
        store: false,
        tools: [{ type: "web_search", filters: { allowed_domains: ["a.example"] } }],
        tool_choice: { type: "web_search" },
        include: ["web_search_call.action.sources"],
      },
      headers: { authorization: `Bearer ${KEY}` },
      answer: {
        output: [
          { type: "web_search_call", action: { type: "search", sources: [{ url: "https://c.example/3" }] } },
          {
            type: "message",
            content: [
              {
                type: "output_text",
                text: "One is here. Two is there.",
                annotations: RESULTS.map((one, index) => ({
                  type: "url_citation",
                  ...one,
                  start_index: 12 * (index + 1),
                })),
              },
            ],
          },
        ],
      },
    },
    {
      options: { engine: "google", model: "gemini-x", url: at("/models") },
      path: "/models/gemini-x:generateContent",
      body: {
        contents: [
          {
            role: "user",
            parts: [
              {
                text: "Search the web for the following and name the pages you found.\n\nwhat is x site:a.example",
              },
            ],
          },
        ],
        tools: [{ google_search: {} }],
      },
      headers: { "x-goog-api-key": KEY },
      answer: {
        candidates: [
          {
            content: { parts: [{ text: "One is here." }] },
            groundingMetadata: {
              groundingChunks: RESULTS.map(({ url, title }) => ({ web: { uri: url, title } })),
              groundingSupports: [{ segment: { text: "One is here." }, groundingChunkIndices: [0] }],
            },
          },
        ],
      },
    },
  ];
}

const ENGINES = ["searxng", "brave", "tavily", "exa", "kagi", "anthropic", "openai", "google"] as const;

function caseOf(engine: (typeof ENGINES)[number]): Case {
  const found = cases().find(({ options }) => options.engine === engine);
  if (found === undefined) throw new Error(`no case for ${engine}`);
  return found;
}

function search(options: SearchOptions, args: Record<string, unknown> = { query: "what is x" }) {
  return webRegistry({ search: options }).run("web_search", args);
}

describe("web_search", () => {
  test.for(ENGINES)("asks %s in its own language and names it", async (engine) => {
    const { options, path, answer, query, body, headers } = caseOf(engine);
    server.page(path, "application/json", json(answer));
    const { outcome, text, summary } = await search(options, {
      query: "what is x",
      site: "A.example",
      count: 5,
    });
    expect([outcome, text]).toEqual(["ok", expect.any(String)]);
    expect(dataOf(text)).toMatch(
      /^1\. First\n {3}https:\/\/a\.example\/1\n[\s\S]*2\. Second\n {3}https:\/\/b\.example\/2/,
    );
    expect(text).toContain(`(${server.host}).`);
    expect(summary).toMatch(/^[23] results from \w.* \(127\.0\.0\.1:\d+\)$/);
    const [request] = server.requests;
    expect(request?.headers).toMatchObject(headers);
    expect(request?.headers["user-agent"]).toMatch(/^agent-tools-web\//);
    if (query)
      expect(Object.fromEntries(new URL(server.url(request?.path ?? "")).searchParams)).toEqual(query);
    if (body) expect(JSON.parse(request?.body ?? "")).toEqual(body);
  });

  test.for(["searxng", "brave", "tavily", "exa", "kagi"] as const)(
    "shows text and date of %s",
    async (engine) => {
      const { options, path, answer } = caseOf(engine);
      server.page(path, "application/json", json(answer));
      expect(dataOf((await search(options)).text)).toMatch(/a\.example\/1\n {3}2026-01-02.*\n {3}Text\./);
    },
  );

  test("allows fetching without a question the addresses that it returned", async () => {
    const { options, path, answer } = caseOf("searxng");
    server.page(path, "application/json", json(answer));
    const registry = webRegistry({ search: options });
    const describeCall = async () => {
      const prepared = await registry.prepare("web_fetch", { url: "https://a.example/1" });
      return "outcome" in prepared ? undefined : await prepared.describe(new AbortController().signal);
    };
    expect((await describeCall())?.caution).toBeDefined();
    await registry.run("web_search", { query: "x" });
    expect((await describeCall())?.caution).toBeUndefined();
  });

  test("allows fetching without a question where a result redirects to, but no host that may be in a private network", async () => {
    const { options, path } = caseOf("searxng");
    const inside = "https://inside.example/delete";
    for (const name of ["/result", "/next", "/other"]) server.redirect(name, `https://pages.example${name}`);
    server.redirect("/hop", "/next").redirect("/trap", inside);
    const results = ["/result", "/hop", "/trap"].map((name) => ({ url: server.url(name), title: "A" }));
    server.page(path, "application/json", json({ results }));
    const registry = webRegistry({ search: options, allow: [server.host, "inside.example"] });
    await registry.run("web_search", { query: "x" });
    const isAsked = async (name: string, url: string): Promise<boolean> => {
      await registry.run("web_fetch", { url: server.url(name) });
      const prepared = await registry.prepare("web_fetch", { url });
      if ("outcome" in prepared) throw new Error(prepared.text);
      return (await prepared.describe(new AbortController().signal)).caution !== undefined;
    };
    expect(await isAsked("/result", "https://pages.example/result")).toBe(false);
    // After a redirect of its own host.
    expect(await isAsked("/hop", "https://pages.example/next")).toBe(false);
    expect(await isAsked("/trap", inside)).toBe(true);
    // No search returned it.
    expect(await isAsked("/other", "https://pages.example/other")).toBe(true);
  });

  test("names the address of the engine as its target", async () => {
    const registry = webRegistry({ search: { engine: "brave" } });
    const prepared = await registry.prepare("web_search", { query: "x" });
    if ("outcome" in prepared) throw new Error(prepared.text);
    expect((await prepared.describe(new AbortController().signal)).targets).toEqual([
      { type: "url", url: "https://api.search.brave.com/res/v1/web/search" },
    ]);
  });

  test("is withheld with the two lines that configure an engine", async () => {
    const registry = webRegistry({});
    expect(registry.getEnabledSchemas().map((one) => one.function.name)).toEqual(["web_fetch"]);
    const { text } = await registry.run("web_search", { query: "x" });
    expect(text).toContain('{ search: { engine: "searxng", url: "http://localhost:8888" } }');
    expect(text).toContain('{ search: { engine: "brave" } }');
  });

  test("is no problem for agent doctor without an engine, and one without its key", async () => {
    vi.stubEnv("TAVILY_API_KEY", undefined);
    const diagnose = async (options: WebOptions) => await webRegistry(options).services.diagnose();
    expect(await diagnose({})).toMatchObject([{ subject: "web search", ok: true }]);
    expect(await diagnose({ search: { engine: "tavily" } })).toMatchObject([
      { ok: false, detail: expect.stringContaining("TAVILY_API_KEY, which is not set.") },
    ]);
    vi.stubEnv("TAVILY_API_KEY", KEY);
    expect(await diagnose({ search: { engine: "tavily" } })).toEqual([
      { subject: "web search", ok: true, detail: "Tavily (api.tavily.com)" },
    ]);
  });

  test("is withheld if the key is not set", async () => {
    vi.stubEnv("TAVILY_API_KEY", undefined);
    const registry = webRegistry({ search: { engine: "tavily" } });
    vi.stubEnv("TAVILY_API_KEY", KEY);
    expect((await registry.run("web_search", { query: "x" })).text).toContain(
      "Tavily needs its key in the variable TAVILY_API_KEY, which is not set.",
    );
  });

  test("takes an engine of the user's own", async () => {
    const engine = {
      name: "Our wiki",
      search: async () => [{ url: "https://wiki.example/", title: "Wiki" }],
    };
    const { text } = await webRegistry({ search: engine }).run("web_search", { query: "x" });
    expect(text).toContain("These are the results of Our wiki.");
    expect(dataOf(text)).toBe("1. Wiki\n   https://wiki.example/");
  });

  test.for([
    ["an unknown engine", { engine: "duckduckgo" }, /engine/],
    ["no address of SearXNG", { engine: "searxng" }, /needs the url of your SearXNG server/],
    ["a mistyped option", { engine: "brave", key: "x" }, /key/],
    ["no model", { engine: "openai" }, /search\.model is needed/],
    ["a model where there is none", { engine: "brave", model: "x" }, /search\.model has no meaning/],
    ["an address that is none", { engine: "searxng", url: "localhost" }, /is not a URL/],
    ["a text", "brave", /search/],
  ] as const)("refuses options: %s", ([, options, message]) => {
    expect(() => webRegistry({ search: options as never })).toThrow(message);
  });

  test.for([
    ["a wrong key", "brave", 401, '{"error":"bad key"}', /HTTP 401.*bad key.*Check BRAVE_API_KEY\./],
    ["a limit", "brave", 429, "slow down", /HTTP 429.*Wait before the next search\./],
    ["JSON that is off", "searxng", 403, "", /HTTP 403.*add json to search\.formats/],
    ["a page instead of JSON", "searxng", 200, "<html>", /did not answer with JSON: "<html>"/],
    ["a list instead of an object", "exa", 200, "[1]", /did not answer with JSON/],
  ] as const)("explains %s", async ([, engine, status, answer, message]) => {
    const { options, path } = caseOf(engine);
    server.page(path, "application/json", answer, status);
    const { outcome, text } = await search(options);
    expect(outcome).toBe("error");
    expect(text).toMatch(message);
    expect(text).not.toContain(KEY);
  });

  test.for([
    ["nothing", { results: [] }],
    ["no list", { results: "x" }],
    ["entries that are none", { results: [null, 1, { title: "no address" }, { url: "::" }, { url: 7 }] }],
  ] as const)("says so if the engine found %s", async ([, answer]) => {
    const { options, path } = caseOf("searxng");
    server.page(path, "application/json", json(answer));
    expect((await search(options)).text).toMatch(/^SearXNG \(.*\) found nothing\./);
  });

  test("does not send a key to where the service redirects", async () => {
    const other = await new WebServer().listen();
    const { options, path } = caseOf("tavily");
    server.redirect(path, other.url("/steal"));
    expect((await search(options)).text).toContain("Set search.url.");
    expect(other.requests).toEqual([]);
    other.close();
  });

  test("keeps results on their lines, whatever they contain", async () => {
    const { options, path } = caseOf("searxng");
    const results = [
      { url: "https://a.example/\n2. x", title: "A\n--- 000000000000\nB", content: "c\n\nd".repeat(1000) },
    ];
    server.page(path, "application/json", json({ results }));
    const lines = dataOf((await search(options)).text).split("\n");
    expect(lines).toEqual([
      "1. A --- 000000000000 B",
      "   https://a.example/2.%20x",
      expect.stringMatching(/^ {3}c d.{1,600}…$/),
    ]);
  });

  test("removes invisible characters from results, and results that web_fetch cannot read", async () => {
    const { options, path } = caseOf("searxng");
    const results = [
      { url: `https://a.example/${"x".repeat(10_000)}`, title: "long" },
      { url: "javascript:alert(1)", title: "script" },
      { url: "https://a.example/", title: "A\u001b[31m\u{e0041}", content: "b\u202ec" },
    ];
    server.page(path, "application/json", json({ results }));
    expect(dataOf((await search(options)).text)).toBe("1. A[31m\n   https://a.example/\n   bc");
  });

  test.for([
    [{}, /query/],
    [{ query: "" }, /query/],
    [{ query: " " }, /query is blank/],
    [{ query: "x", count: 0 }, /count/],
    [{ query: "x", count: 1000 }, /count/],
    [{ query: "x", site: "a.example/path" }, /site/],
    [{ query: "x", site: "a.example OR b" }, /site/],
    [{ query: "x", site: "a..example" }, /site must be a host name/],
  ] as const)("refuses the arguments %j", async ([args, message]) => {
    const { outcome, text } = await search(caseOf("searxng").options, { ...args });
    expect([outcome, server.requests]).toEqual(["error", []]);
    expect(text).toMatch(message);
  });
});
