import { typedSchema } from "@agent/core";
import { packOptions } from "@agent/core/toolkit";

export const PACK_NAME = "@agent/tools-search";

/** The maximum number of results of one call. */
export const MAX_RESULTS = 100_000;
/** A model cannot use more text than this. */
export const MAX_OUTPUT_CHARACTERS = 200_000;

/** Options of the pack. */
export interface SearchOptions {
  /** Confines both tools to this directory; paths outside are refused. Default: no confinement. */
  readonly root?: string;
  /** The default number of results. Default 200. */
  readonly maxResults?: number;
  /** The maximum number of characters shown per line. Default 500. */
  readonly maxLineLength?: number;
  /** The time limit of a search in milliseconds; the results so far are returned. Default 20000. */
  readonly timeoutMs?: number;
  /**
   * The number of worker threads, started during the first model request or by the first search, and shared by all; 0
   * searches in the host's own thread. Default 2, or 1 on a single core.
   */
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

/** Checks the options of a tool that is used without the pack. Throws for an unknown or mistyped option. */
export function checkedOptions(options: SearchOptions | undefined): SearchOptions {
  return packOptions<SearchOptions>(PACK_NAME, options, PROPERTIES);
}
