import { definePack, off } from "@agent/core";
import { KnownAddresses } from "./known.js";
import { createHostList } from "./network/hosts.js";
import { OPTIONS, PACK_NAME } from "./options.js";
import { createSearchEngine, SEARCH_KEYS } from "./search/engines.js";
import { createWebFetch } from "./tools/webFetch.js";
import { createWebSearch } from "./tools/webSearch.js";

export type { SearchOptions, WebOptions } from "./options.js";
export type { SearchEngine, SearchRequest, SearchResult } from "./search/engine.js";

/** The names of this pack's tools. */
export type WebToolName = "web_fetch" | "web_search";

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-web": { register: typeof register };
  }
}

/**
 * Registers `web_fetch` and `web_search`. Both use the network, so they stay disabled until the user opts in;
 * `web_search` is withheld while no engine is configured. Throws for an unknown or mistyped option.
 */
export const { packName, packApiVersion, secrets, followsDirectory, register } = definePack({
  name: PACK_NAME,
  options: OPTIONS,
  secrets: SEARCH_KEYS,
  followsDirectory: true,
  setup({ options, context, state, model, permit, secrets: keys = process.env }) {
    const isAllowed = createHostList(`${PACK_NAME}: option allow`, options.allow ?? []);
    const known = new KnownAddresses(context, state);
    const web = createSearchEngine(PACK_NAME, options.search, keys);
    const engine = "missing" in web ? undefined : web;
    const fetch = createWebFetch({
      known,
      unknown: options.unknown ?? "ask",
      maxBytes: options.maxBytes ?? 10 * 1024 * 1024,
      timeoutMs: options.timeoutMs ?? 30_000,
      contextTokens: () => model?.contextTokens,
      isAllowed,
      loadGuard: async () => {
        const { createAddressGuard } = await import("./network/guard.js");
        return createAddressGuard({ isAllowed, permit, tool: "web_fetch" });
      },
    });
    return {
      tools: [off(fetch), off(createWebSearch({ engine, known }))],
      withheld: { web_search: "missing" in web ? web.missing : undefined },
      diagnose: () => [
        {
          subject: "web search",
          ok: engine !== undefined || options.search === undefined,
          detail: "missing" in web ? firstLine(web.missing) : web.name,
        },
      ],
    };
  },
});

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
