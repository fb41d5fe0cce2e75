import type { PackHost, PackRegistry, PackServices } from "@agent/core";
import { check } from "@agent/core/toolkit";
import { sharedPool } from "./host/pool/shared.js";
import type { SearchOptions } from "./options.js";
import { SearchFilesTool } from "./tools/searchFiles.js";
import { SearchTextTool } from "./tools/searchText.js";

export { packName, type SearchOptions } from "./options.js";
export { SearchFilesTool, SearchTextTool };

export const packApiVersion = 1;

/** The tools this pack brings. */
export type SearchToolName = (SearchTextTool | SearchFilesTool)["name"];

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-search": { register: typeof register };
  }
}

// The request to the model goes first: starting threads takes the processor for some milliseconds.
const START_DELAY_MS = 20;

/** Starts the threads while the model thinks, so that the first search does not wait for them. */
function threadStart(workers: number | undefined): PackServices {
  let timer: NodeJS.Timeout | undefined;
  return {
    warmUp() {
      timer = setTimeout(() => sharedPool({ workers }).warmUp(), START_DELAY_MS);
      timer.unref();
    },
    dispose: () => clearTimeout(timer),
  };
}

/** Registers `search_text` and `search_files`, both enabled. Throws for an unknown or mistyped option. */
export function register(registry: PackRegistry<SearchToolName>, host?: PackHost<SearchOptions>): void {
  check.registry(registry);
  const options = host?.options;
  registry.register(new SearchTextTool(options, host?.access));
  registry.register(new SearchFilesTool(options, host?.access));
  if (options?.workers !== 0) registry.provide?.(threadStart(options?.workers));
}
