import { join } from "node:path";
import { defineTool } from "@agent/core";
import { countOf, requireString } from "@agent/core/toolkit";
import { searchFiles } from "../host/fileSearch.js";
import { sharedPool } from "../host/pool/shared.js";
import { filesView, formatFilesResult } from "../host/report.js";
import { MAX_OUTPUT_CHARACTERS, MAX_RESULTS } from "../options.js";
import type { GlobQuery } from "../protocol.js";
import { describeSearch, findScope, READS, type SearchSettings } from "../settings.js";

const TITLE = ["pattern", "path"] as const;
const PATHS = ["path"] as const;

/** Creates `search_files`, which finds files by a glob, with the pattern rules of fast-glob. */
export function createSearchFiles(settings: SearchSettings) {
  return defineTool({
    name: "search_files",
    description:
      'Find files by name with a glob, such as "**/*.ts" or "src/**/{index,main}.*". Returns one path a line, sorted, then one line in brackets that says what was skipped or cut. Dotfiles are found; .git and what .gitignore or .ignore exclude are not, unless the fixed part of the pattern names them.',
    input: {
      type: "object",
      properties: {
        pattern: { type: "string", description: "Glob, relative to path: * ? ** [ab] {a,b} !(a) @(a|b)" },
        path: { type: "string", description: "Directory to search. Default: the working directory" },
        max_results: {
          type: "integer",
          minimum: 1,
          maximum: MAX_RESULTS,
          description: `Most paths to show; all are counted. Default ${settings.maxResults}`,
        },
        sort: {
          type: "string",
          enum: ["path", "newest"],
          description: 'Order: "path" (default) or "newest" first',
        },
        include_ignored: { type: "boolean", description: "Also find ignored files and those in .git" },
      },
      required: ["pattern"],
      additionalProperties: false,
    },
    capabilities: READS,
    kind: "search",
    titleFrom: TITLE,
    pathArguments: PATHS,
    deadlineMs: settings.deadlineMs,
    describe(input) {
      const { path = "." } = input;
      return describeSearch([path], settings, join(path, fixedStart(requireString(input, "pattern"))));
    },
    async execute(input, call) {
      const pattern = requireString(input, "pattern");
      const { path = ".", sort = "path", max_results = settings.maxResults, include_ignored = false } = input;
      const query: GlobQuery = {
        scope: findScope([path], include_ignored, settings, call),
        path,
        pattern,
        order: sort,
        limit: max_results,
        maxCharacters: MAX_OUTPUT_CHARACTERS,
      };
      const { workers, timeoutMs } = settings;
      const result = await searchFiles(sharedPool({ workers }), query, { timeoutMs, signal: call.signal });
      call.report({
        ok: true,
        summary: countOf(result.total, "file"),
        ...(call.wantsView && { view: filesView(result, query.scope.cwd) }),
      });
      return formatFilesResult(result, query);
    },
  });
}

/** The leading path components of a pattern without wildcards: `a/b` for `a/b/*.ts`. */
function fixedStart(pattern: string): string {
  const names = pattern.split("/");
  const wildcard = names.findIndex((name) => /[*?[\]{}()!+@|\\]/.test(name));
  return names.slice(0, wildcard === -1 ? names.length : wildcard).join("/");
}
