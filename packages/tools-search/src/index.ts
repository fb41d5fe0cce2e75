import { type AccessRules, definePack, type PackServices } from "@agent/core";
import { sharedPool } from "./host/pool/shared.js";
import { checkedOptions, OPTIONS, PACK_NAME, type SearchOptions } from "./options.js";
import { settingsOf } from "./settings.js";
import { createSearchFiles } from "./tools/searchFiles.js";
import { createSearchText } from "./tools/searchText.js";

export type { SearchOptions };

/** The names of this pack's tools. */
export type SearchToolName = "search_text" | "search_files";

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-search": { register: typeof register };
  }
}

// Send the model request first: starting threads uses the CPU for a few milliseconds.
const START_DELAY_MS = 20;

/** Starts the threads during the model request, so that the first search does not wait for them. */
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

/**
 * Registers `search_text` and `search_files`, both enabled. Throws for an unknown or mistyped option, and if `root`
 * does not exist.
 */
export const { packName, packApiVersion, followsDirectory, register } = definePack({
  name: PACK_NAME,
  options: OPTIONS,
  followsDirectory: true,
  setup({ options, ...host }) {
    const settings = settingsOf(options, host);
    return {
      tools: [createSearchText(settings), createSearchFiles(settings)],
      ...(options.workers !== 0 && threadStart(options.workers)),
    };
  },
});

/** Creates `search_text` alone. `access` lists the paths that need approval to read. */
export function searchTextTool(options?: SearchOptions, access?: AccessRules) {
  return createSearchText(settingsOf(checkedOptions(options), access ? { access } : {}));
}

/** Creates `search_files` alone. */
export function searchFilesTool(options?: SearchOptions, access?: AccessRules) {
  return createSearchFiles(settingsOf(checkedOptions(options), access ? { access } : {}));
}
