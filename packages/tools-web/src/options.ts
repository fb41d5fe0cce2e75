import { typedSchema } from "@agent/core";
import type { SearchEngine } from "./search/engine.js";

/** The options of this pack in `agent.config.ts`. */
export interface WebOptions {
  /**
   * Hosts on this machine or in a private network that may be connected to: `["localhost:3000", "*.intranet.example"]`.
   * Without a port only the default ports; `localhost:*` is every port. Default: none; the user is asked about others
   * if the host can ask.
   */
  readonly allow?: readonly string[];
  /**
   * What happens with a URL that the user did not write, that no search returned and that no page of its host links to.
   * `ask`: the user is asked, even in auto mode. `refuse`: the call fails. Default: `ask`.
   */
  readonly unknown?: "ask" | "refuse" | "allow";
  /** The maximum size of a page, after decompression. Default: 10 MiB. */
  readonly maxBytes?: number;
  /** How long one request may take, redirects included. Default: 30 seconds. */
  readonly timeoutMs?: number;
  /** The engine of `web_search`. Without one the tool is not offered to the model. */
  readonly search?: SearchOptions | SearchEngine;
}

export type SearchOptions =
  /** Your own server. Its settings must list `json` under `search.formats`. */
  | { readonly engine: "searxng"; readonly url: string }
  /** `url` replaces the URL of the service, for a gateway. */
  | { readonly engine: "brave" | "tavily" | "exa" | "kagi"; readonly url?: string }
  /** The search that runs on the servers of a model vendor, by a request to this model. */
  | { readonly engine: "anthropic" | "openai" | "google"; readonly model: string; readonly url?: string };

export const PACK_NAME = "@agent/tools-web";

export const OPTIONS = typedSchema<WebOptions>({
  type: "object",
  properties: {
    allow: { type: "array", items: { type: "string", minLength: 1 } },
    unknown: { enum: ["ask", "refuse", "allow"] },
    maxBytes: { type: "integer", minimum: 1, maximum: 20 * 1024 * 1024 },
    timeoutMs: { type: "integer", minimum: 1, maximum: 10 * 60 * 1000 },
    // Checked by createSearchEngine: a custom engine is an object with a function.
    search: {},
  },
});
