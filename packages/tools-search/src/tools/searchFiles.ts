import { join } from "node:path";
import type { AccessRules, CallDescription, ChatTool, ExecutableTool, ToolCall } from "@agent/core";
import { countOf, functionTool, optionalString, requireString } from "@agent/core/toolkit";
import { searchFiles } from "../host/fileSearch.js";
import { sharedPool } from "../host/pool/shared.js";
import { filesView, formatFilesResult } from "../host/report.js";
import { MAX_OUTPUT_CHARACTERS, MAX_RESULTS, type SearchOptions } from "../options.js";
import type { GlobQuery } from "../protocol.js";
import { describeSearch, READS, readMaxResults, readScope, type Settings, settingsOf } from "../settings.js";

const ORDERS = ["path", "newest"] as const;

/** Finds files by a glob, with the pattern rules of fast-glob. */
export class SearchFilesTool implements ExecutableTool {
  readonly name = "search_files";
  readonly capabilities = READS;
  readonly kind = "search";
  readonly titleFrom = ["pattern", "path"];
  readonly pathArguments = ["path"];
  readonly deadlineMs: number;
  readonly #settings: Settings;

  /**
   * `access` says which places are read only after a user's yes. Throws on an unknown or mistyped option, and if
   * `root` does not exist.
   */
  constructor(options?: SearchOptions, access?: AccessRules) {
    this.#settings = settingsOf(options, access);
    this.deadlineMs = this.#settings.deadlineMs;
  }

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      'Find files by name with a glob, such as "**/*.ts" or "src/**/{index,main}.*". Returns one path a line, sorted, then one line in brackets that says what was skipped or cut. Dotfiles are found; .git and what .gitignore or .ignore exclude are not, unless the fixed part of the pattern names them.',
      {
        pattern: { type: "string", description: "Glob, relative to path: * ? ** [ab] {a,b} !(a) @(a|b)" },
        path: { type: "string", description: "Directory to search. Default: the working directory" },
        max_results: {
          type: "integer",
          minimum: 1,
          maximum: MAX_RESULTS,
          description: `Most paths to show; all are counted. Default ${this.#settings.maxResults}`,
        },
        sort: { type: "string", enum: [...ORDERS], description: 'Order: "path" (default) or "newest" first' },
        include_ignored: { type: "boolean", description: "Also find ignored files and those in .git" },
      },
      ["path", "max_results", "sort", "include_ignored"],
    );
  }

  describeCall(args: Readonly<Record<string, unknown>>): CallDescription {
    const path = optionalString(args, "path", ".");
    const start = join(path, fixedStart(requireString(args, "pattern")));
    return describeSearch([path], this.#settings, start);
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const pattern = requireString(args, "pattern");
    const order = ORDERS.find((known) => known === optionalString(args, "sort", "path"));
    if (order === undefined) throw new Error('"sort" must be "path" or "newest".');
    const path = optionalString(args, "path", ".");
    const query: GlobQuery = {
      scope: readScope(args, [path], this.#settings, call),
      path,
      pattern,
      order,
      limit: readMaxResults(args, this.#settings),
      maxCharacters: MAX_OUTPUT_CHARACTERS,
    };
    const { workers, timeoutMs } = this.#settings;
    const result = await searchFiles(sharedPool({ workers }), query, { timeoutMs, signal: call?.signal });
    call?.report?.({
      ok: true,
      summary: countOf(result.total, "file"),
      ...(call.wantsView && { view: filesView(result, query.scope.cwd) }),
    });
    return formatFilesResult(result, query);
  }
}

/** The names a pattern begins with, before the first that has a wildcard: `a/b` for `a/b/*.ts`. */
function fixedStart(pattern: string): string {
  const names = pattern.split("/");
  const wildcard = names.findIndex((name) => /[*?[\]{}()!+@|\\]/.test(name));
  return names.slice(0, wildcard === -1 ? names.length : wildcard).join("/");
}
