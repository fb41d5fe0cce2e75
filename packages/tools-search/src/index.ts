import type { PackHost, PackRegistry } from "@agent/core";
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

/** Registers `search_text` and `search_files`, both enabled. Throws for an unknown or mistyped option. */
export function register(registry: PackRegistry<SearchToolName>, host?: PackHost<SearchOptions>): void {
  check.registry(registry);
  const options = host?.options;
  registry.register(new SearchTextTool(options, host?.access));
  registry.register(new SearchFilesTool(options, host?.access));
  if (options?.warmUp) sharedPool({ workers: options.workers }).warmUp();
}
