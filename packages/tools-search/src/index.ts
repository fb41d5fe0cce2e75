import type { PackHost, PackRegistry } from "@agent/core";
import { checkOptions } from "./options.js";
import { SearchFilesTool } from "./tools/searchFiles.js";
import { SearchTextTool } from "./tools/searchText.js";

export type { SearchOptions } from "./options.js";
export { packApiVersion, packName } from "./pack.js";
export { SearchFilesTool, SearchTextTool };

/** Registers `search_text` and `search_files`, both enabled. Throws for an unknown or mistyped option. */
export function register(registry: PackRegistry, host?: PackHost): void {
  const options = checkOptions(host?.options);
  registry.register(new SearchTextTool(options));
  registry.register(new SearchFilesTool(options));
}
