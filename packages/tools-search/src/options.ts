import { typedSchema } from "@agent/core";
import { packOptions } from "@agent/core/toolkit";

export const PACK_NAME = "@agent/tools-search";

/** The most results one call may ask for. */
export const MAX_RESULTS = 100_000;
/** More text than this is of no use to a model. */
export const MAX_OUTPUT_CHARACTERS = 200_000;

/** Options of the pack. */
export interface SearchOptions {
  /** Confines both tools to this directory; what leads out of it is refused. Default: no confinement. */
  readonly root?: string;
  /** How many results are shown when a call does not say. Default 200. */
  readonly maxResults?: number;
  /** How many characters of a line are shown. Default 500. */
  readonly maxLineLength?: number;
  /** When a search is stopped, in milliseconds; what it found so far is returned. Default 20000. */
  readonly timeoutMs?: number;
  /** Worker threads, started while a model is first asked or by the first search, and shared by all; 0 searches in the host's own thread. Default 2, or 1 on a single core. */
  readonly workers?: number;
  /** Adds lines of context to results with few matches, so that no second call is needed. Default false. */
  readonly autoContext?: boolean;
}

const PROPERTIES = {
  root: { type: "string", minLength: 1 },
  maxResults: { type: "integer", minimum: 1, maximum: MAX_RESULTS },
  maxLineLength: { type: "integer", minimum: 20, maximum: 100_000 },
  timeoutMs: { type: "integer", minimum: 1 },
  workers: { type: "integer", minimum: 0, maximum: 64 },
  autoContext: { type: "boolean" },
};

export const OPTIONS = typedSchema<SearchOptions>({ type: "object", properties: PROPERTIES });

/** The options of a tool that is used without the pack. Throws for one that is unknown or has the wrong type. */
export function checkedOptions(options: SearchOptions | undefined): SearchOptions {
  return packOptions<SearchOptions>(PACK_NAME, options, PROPERTIES);
}
