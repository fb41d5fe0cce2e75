import type { PackHost, PackRegistry } from "@agent/core";
import { packOptions } from "@agent/core/toolkit";
import { createAllowList } from "./allowList.js";
import { HttpFetchTool } from "./tools/httpFetch.js";

export const packName = "example-pack-http";
export const packApiVersion = 1;

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
export type HttpToolName = HttpFetchTool["name"];

declare module "@agent/core" {
  interface NamedPacks {
    "example-pack-http": { register: typeof register };
  }
}

const OPTIONS = {
  allow: { type: "array", items: { type: "string", minLength: 1 } },
  maxBytes: { type: "integer", minimum: 1, maximum: 1024 * 1024 },
  timeoutMs: { type: "integer", minimum: 1, maximum: 10 * 60 * 1000 },
};

/** Registers `http_fetch`. It uses the network, so it stays disabled until the user opts in. */
export function register(registry: PackRegistry<HttpToolName>, host?: PackHost<HttpOptions>): void {
  const options = packOptions<HttpOptions>(packName, host?.options, OPTIONS);
  const tool = new HttpFetchTool({
    isAllowed: createAllowList(options.allow ?? []),
    maxBytes: options.maxBytes ?? 256 * 1024,
    timeoutMs: options.timeoutMs ?? 15_000,
  });
  registry.register(tool, { enabled: false });
}
