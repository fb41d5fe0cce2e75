import type { PackHost, PackRegistry } from "@agent/core";
import { packOptions } from "@agent/core/toolkit";
import { KnownAddresses } from "./known.js";
import { createHostList } from "./network/hosts.js";
import { OPTIONS, type WebOptions } from "./options.js";
import { createSearchEngine, SEARCH_KEYS } from "./search/engines.js";
import { createWebFetch } from "./tools/webFetch.js";
import { createWebSearch } from "./tools/webSearch.js";

export type { SearchOptions, WebOptions } from "./options.js";
export type { SearchEngine, SearchRequest, SearchResult } from "./search/engine.js";

export const packName = "@agent/tools-web";
export const packApiVersion = 1;
/** The keys of search services. */
export const secrets: readonly string[] = SEARCH_KEYS;

/** The tools this pack brings. */
export type WebToolName = "web_fetch" | "web_search";

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-web": { register: typeof register };
  }
}

/**
 * Registers `web_fetch` and `web_search`. Both reach the network, so they stay off until the user opts in; `web_search` is
 * withheld while no engine is configured. Throws for an unknown or mistyped option.
 */
export function register(registry: PackRegistry<WebToolName>, host?: PackHost<WebOptions>): void {
  const options = packOptions<WebOptions>(packName, host?.options, OPTIONS);
  const isAllowed = createHostList(`${packName}: option allow`, options.allow ?? []);
  const known = new KnownAddresses(host?.context, host?.state);
  const web = createSearchEngine(packName, options.search, host?.secrets ?? process.env);
  const engine = "missing" in web ? undefined : web;
  const fetch = createWebFetch({
    known,
    unknown: options.unknown ?? "ask",
    maxBytes: options.maxBytes ?? 10 * 1024 * 1024,
    timeoutMs: options.timeoutMs ?? 30_000,
    contextTokens: () => host?.model?.contextTokens,
    loadGuard: async () => {
      const { createAddressGuard } = await import("./network/guard.js");
      return createAddressGuard({ isAllowed, permit: host?.permit, tool: "web_fetch" });
    },
  });
  registry.register(fetch, { enabled: false });
  registry.register(createWebSearch({ engine, known }), { enabled: false });
  if ("missing" in web) registry.withhold?.("web_search", web.missing);
}
