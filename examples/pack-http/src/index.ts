import { definePack, off, typedSchema } from "@agent/core";
import { createAllowList } from "./allowList.js";
import { httpFetch } from "./tools/httpFetch.js";

/** The options of this pack in `agent.config.ts`. */
export interface HttpOptions {
  /** Hosts that may be fetched from: `["example.com", "*.example.org", "localhost:8080"]`. Default: none. */
  readonly allow?: readonly string[];
  /** The maximum size of a body. Default: 256 KiB. */
  readonly maxBytes?: number;
  /** How long one fetch may take, redirects included. Default: 15 seconds. */
  readonly timeoutMs?: number;
}

/** The name of this pack's tool. */
export type HttpToolName = "http_fetch";

declare module "@agent/core" {
  interface NamedPacks {
    "example-pack-http": { register: typeof register };
  }
}

/** Registers `http_fetch`. It uses the network, so it stays disabled until the user opts in. */
export const { packName, packApiVersion, register } = definePack({
  name: "example-pack-http",
  options: typedSchema<HttpOptions>({
    type: "object",
    properties: {
      allow: { type: "array", items: { type: "string", minLength: 1 } },
      maxBytes: { type: "integer", minimum: 1, maximum: 1024 * 1024 },
      timeoutMs: { type: "integer", minimum: 1, maximum: 10 * 60 * 1000 },
    },
  }),
  setup: ({ options: { allow = [], maxBytes = 256 * 1024, timeoutMs = 15_000 } }) => ({
    tools: [off(httpFetch({ isAllowed: createAllowList(allow), maxBytes, timeoutMs }))],
  }),
});
