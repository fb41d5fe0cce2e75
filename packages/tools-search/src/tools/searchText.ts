import { defineTool } from "@agent/core";
import { countOf, quote, requireString } from "@agent/core/toolkit";
import { sharedPool } from "../host/pool/shared.js";
import { formatTextResult, textView } from "../host/report.js";
import { searchText, type TextResult, type TextSearch } from "../host/textSearch.js";
import { MAX_OUTPUT_CHARACTERS, MAX_RESULTS } from "../options.js";
import type { OutputMode, TextQuery } from "../protocol.js";
import { describeSearch, findScope, READS, type SearchSettings } from "../settings.js";

const TITLE = ["query", "paths"] as const;
const PATHS = ["paths"] as const;
const MAX_CONTEXT = 50;
const MAX_QUERY_LENGTH = 10_000;
/**
 * How long matches are still counted after `max_results`: a search through a large tree must not continue just to count
 * the rest.
 */
const COUNT_ON_MS = 100;
/** With `autoContext`: this many lines around a match if there are at most that many matches. */
const AUTO_CONTEXT = { lines: 3, maxMatches: 3 } as const;

/** Creates `search_text`, which searches the text of files, line by line, without any other program. */
export function createSearchText(settings: SearchSettings) {
  return defineTool({
    name: "search_text",
    description:
      "Search the contents of files. Returns path:line:text for each matching line, in path order, then one line in brackets that says what was searched, skipped or cut. Skips binary files, .git and what .gitignore or .ignore exclude; dotfiles are searched. A path named in paths is always searched.",
    input: {
      type: "object",
      properties: {
        query: {
          type: "string",
          description: "Text to find, on one line; a regular expression if regex is true",
        },
        paths: {
          type: "array",
          items: { type: "string" },
          description: "Files or directories to search (directories with all below them)",
        },
        regex: {
          type: "boolean",
          description: "Treat query as a JavaScript regular expression. Default false",
        },
        ignore_case: { type: "boolean", description: "Ignore upper and lower case. Default false" },
        glob: {
          type: "string",
          description:
            'Only files that match, such as "*.ts" (name) or "src/**/*.{js,ts}" (path); "!*.md" excludes',
        },
        context: {
          type: "integer",
          minimum: 0,
          maximum: MAX_CONTEXT,
          description: "Lines to show around each match, marked path-line-text",
        },
        max_results: {
          type: "integer",
          minimum: 1,
          maximum: MAX_RESULTS,
          description: `Most results to show; the rest is counted for a moment. Default ${settings.maxResults}`,
        },
        files_only: { type: "boolean", description: "List only the paths of files with a match" },
        count: {
          type: "boolean",
          description: "List path:number of matching lines for each file with a match",
        },
        include_ignored: { type: "boolean", description: "Also search ignored files and .git" },
      },
      required: ["query", "paths"],
      additionalProperties: false,
    },
    capabilities: READS,
    kind: "search",
    titleFrom: TITLE,
    pathArguments: PATHS,
    deadlineMs: settings.deadlineMs,
    describe: (input) => ({
      ...describeSearch(namedPaths(input), settings),
      title: `${JSON.stringify(input.query)} in ${namedPaths(input).join(", ")}`,
    }),
    async execute(input, call) {
      const { autoContext, timeoutMs, workers } = settings;
      const paths = namedPaths(input);
      const search: TextSearch = {
        query: readQuery(input, settings.maxLineLength),
        walk: {
          kind: "walk",
          scope: findScope(paths, input.include_ignored ?? false, settings, call),
          paths,
          glob: input.glob,
        },
        maxResults: input.max_results ?? settings.maxResults,
        countOnMs: COUNT_ON_MS,
      };
      const run = (one: TextSearch): Promise<TextResult> =>
        searchText(sharedPool({ workers }), one, { timeoutMs, signal: call.signal });
      let result = await run(search);
      if (autoContext && input.context === undefined && fewEnough(search, result)) {
        result = await withContext(search, result, run);
      }
      refuseEmptyHanded(result, search, timeoutMs);
      const more = result.stopped?.reason === "counted" ? "more than " : "";
      call.report({
        ok: true,
        summary: more + countOf(result.matches, "matching line"),
        ...(call.wantsView && { view: textView(result, search.query.mode, search.walk.scope.cwd) }),
      });
      return formatTextResult(result, { ...search.query, glob: search.walk.glob, timeoutMs });
    },
  });
}

/** The arguments that define the query. */
interface QueryInput {
  readonly query: string;
  readonly regex?: boolean | undefined;
  readonly ignore_case?: boolean | undefined;
  readonly context?: number | undefined;
  readonly files_only?: boolean | undefined;
  readonly count?: boolean | undefined;
}

/** Searches the few files with matches again, with context; everything else is kept from the whole search. */
async function withContext(
  search: TextSearch,
  result: TextResult,
  run: (search: TextSearch) => Promise<TextResult>,
): Promise<TextResult> {
  const paths = result.files.map((file) => file.label);
  const again = await run({
    ...search,
    query: { ...search.query, context: AUTO_CONTEXT.lines },
    walk: { ...search.walk, paths, glob: undefined },
  });
  return again.matches === result.matches ? { ...result, files: again.files } : result;
}

function readQuery(input: QueryInput, maxLineLength: number): TextQuery {
  const { regex = false, ignore_case = false, context = 0, files_only = false, count = false } = input;
  const text = requireString({ ...input }, "query");
  if (text.length > MAX_QUERY_LENGTH) {
    throw new Error(
      `"query" has ${text.length} characters; at most ${MAX_QUERY_LENGTH} can be searched for. Search for a part of it.`,
    );
  }
  if (/[\n\r]/.test(text)) {
    throw new Error(
      '"query" contains a line break, but a match lies within one line. Search for one line of it.',
    );
  }
  if (files_only && count) throw new Error('"files_only" and "count" cannot both be true. Choose one.');
  const mode: OutputMode = files_only ? "files" : count ? "count" : "lines";
  return {
    text,
    regex,
    ignoreCase: ignore_case,
    mode,
    context: mode === "lines" ? context : 0,
    maxLineLength,
    maxCharacters: MAX_OUTPUT_CHARACTERS,
  };
}

function namedPaths({ paths }: { readonly paths: readonly string[] }): readonly string[] {
  if (paths.length === 0) {
    throw new Error('"paths" must name at least one file or directory. Pass ["."] to search here.');
  }
  if (paths.includes("")) throw new Error('"paths" contains an empty string. Pass "." to search here.');
  return paths;
}

function fewEnough({ query }: TextSearch, { matches, stopped }: TextResult): boolean {
  return query.mode === "lines" && stopped === undefined && matches > 0 && matches <= AUTO_CONTEXT.maxMatches;
}

function stalledIn(file: string): string {
  return file === ""
    ? "Stopped: the files could not be listed, since glob takes too long to match or a directory does not answer. Use a simpler glob, or narrow paths."
    : `Stopped: matching did not finish in ${quote(file)}. The expression backtracks without end; use a simpler one.`;
}

/** Nothing to show and a reason for it: that is a failure, not a result. */
function refuseEmptyHanded(
  { matches, stopped, searched, problems }: TextResult,
  { walk }: TextSearch,
  timeoutMs: number,
): void {
  if (stopped && matches === 0) {
    throw new Error(
      stopped.reason === "stalled"
        ? stalledIn(stopped.file)
        : `Stopped after ${timeoutMs} ms with nothing found in ${searched} files; not all files were searched. Narrow paths or glob.`,
    );
  }
  if (searched === 0 && problems.length > 0 && problems.length === walk.paths.length) {
    const rest = problems.length > 5 ? `; and ${problems.length - 5} more` : "";
    throw new Error(`Nothing to search. ${problems.slice(0, 5).join("; ")}${rest}`);
  }
}
