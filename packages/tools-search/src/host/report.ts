import { resolve } from "node:path";
import type { ResultView } from "@agent/core";
import { countOf, escapeInvisible, escapeToLine, quote } from "@agent/core/toolkit";
import type { OutputMode, Tally } from "../protocol.js";
import type { FilesResult } from "./fileSearch.js";
import type { Stopped } from "./limits.js";
import type { TextResult } from "./textSearch.js";

const MAX_PROBLEMS_SHOWN = 10;
/** More items than a view shows. */
const MAX_VIEW_ITEMS = 500;

/** The result of search_text: lines that a program can parse, and a last line that summarises the search. */
export function formatTextResult(
  result: TextResult,
  {
    mode,
    text: query,
    glob,
    maxCharacters,
    timeoutMs,
  }: {
    mode: OutputMode;
    text: string;
    glob?: string | undefined;
    maxCharacters: number;
    timeoutMs: number;
  },
): string {
  const lines: string[] = [];
  let size = 0;
  let shownMatches = 0;
  let shownFiles = 0;
  let previous: { readonly label: string; readonly line: number } | undefined;
  let withContext = false;
  const fits = (line: string): boolean => {
    size += line.length + 1;
    if (size <= maxCharacters) lines.push(line);
    return size <= maxCharacters;
  };
  show: for (const file of result.files) {
    const label = escapeToLine(file.label);
    if (mode !== "lines") {
      if (!fits(mode === "files" ? label : `${label}:${file.matches}`)) break;
      shownFiles++;
      shownMatches += file.matches;
      continue;
    }
    withContext ||= file.rows.some((row) => !row.match);
    for (const row of file.rows) {
      const gap = previous && (previous.label !== label || previous.line + 1 !== row.line);
      if (withContext && gap && !fits("--")) break show;
      const mark = row.match ? ":" : "-";
      if (!fits(`${label}${mark}${row.line}${mark}${escapeInvisible(row.text)}`)) break show;
      if (row.match) shownMatches++;
      previous = { label, line: row.line };
    }
    shownFiles++;
  }
  if (lines.length === 0) lines.push(nothingFound(result, query, glob));
  const rest = forTheRest(size > maxCharacters, maxCharacters, "paths, glob or query");
  return [
    ...lines,
    ...problemLines(result),
    textAccount(result, mode, { shownMatches, shownFiles, rest }, timeoutMs),
  ].join("\n");
}

/** How to get the omitted results. More results would not help if the text of one answer is full. */
function forTheRest(isFull: boolean, maxCharacters: number, where: string): string {
  return isFull
    ? `no more fits ${maxCharacters} characters, so for the rest narrow ${where}`
    : `for the rest raise max_results or narrow ${where}`;
}

/** "No matches" is used only for a search that skipped nothing. */
function nothingFound(
  { searched, stopped, tally, problems }: TextResult,
  query: string,
  glob: string | undefined,
): string {
  if (stopped) return `Nothing found before the search was stopped.`;
  if (searched === 0) {
    const met = tally.ignoredFiles + tally.binary + tally.tooLarge + tally.unreadable + tally.vanished;
    const reason = glob !== undefined && met === 0 ? `: no file matches glob ${quote(glob)}` : "";
    return `No file was searched${reason}.`;
  }
  const complete = problems.length === 0 && leftOut(tally).length === 0;
  return complete
    ? `No matches for ${quote(query)}.`
    : `Nothing found for ${quote(query)} in ${countOf(searched, "file")}, but others were left out.`;
}

function problemLines({ problems }: { readonly problems: readonly string[] }): string[] {
  const shown = problems
    .slice(0, MAX_PROBLEMS_SHOWN)
    .map((problem) => `Not searched: ${escapeToLine(problem)}`);
  const rest = problems.length - shown.length;
  return rest > 0 ? [...shown, `Not searched: ${rest} more of the given paths.`] : shown;
}

function textAccount(
  result: TextResult,
  mode: OutputMode,
  { shownMatches, shownFiles, rest }: { shownMatches: number; shownFiles: number; rest: string },
  timeoutMs: number,
): string {
  const { matches, matchedFiles, stopped, tally } = result;
  const least = stopped === undefined ? "" : stopped.reason === "counted" ? "more than " : "at least ";
  const [shown, found, noun] =
    mode === "lines" ? [shownMatches, matches, "matching line"] : [shownFiles, matchedFiles, "matching file"];
  const inFiles =
    mode === "files"
      ? ""
      : ` (${countOf(mode === "lines" ? matchedFiles : matches, mode === "lines" ? "file" : "matching line")})`;
  const parts: string[] = [];
  if (shown < found) {
    parts.push(`${shown} of ${least}${countOf(found, noun)} shown${inFiles}; ${rest}`);
  } else if (found > 0) parts.push(`${least}${countOf(found, noun)}${inFiles}`);
  parts.push(
    `${countOf(result.searched, "file")} searched`,
    ...skippedPart(tally),
    ...stoppedPart(stopped, timeoutMs),
  );
  return `[${parts.join("; ")}]`;
}

function stoppedPart(stopped: Stopped | undefined, timeoutMs: number): string[] {
  if (stopped === undefined) return [];
  if (stopped.reason === "counted") return ["the others were not searched, because enough was found"];
  if (stopped.reason === "deadline") {
    return [`STOPPED after ${timeoutMs} ms before all files were searched: narrow paths or glob`];
  }
  return stopped.file === ""
    ? ["STOPPED before all files were listed: use a simpler glob, or narrow paths"]
    : [
        `STOPPED: matching did not finish in ${quote(stopped.file)}, other files may not have been searched: use a simpler expression`,
      ];
}

/** The result of search_files. */
export function formatFilesResult(
  { paths, isFull, total, tally, hint }: FilesResult,
  { pattern, maxCharacters }: { pattern: string; maxCharacters: number },
): string {
  const lines = paths.map(escapeToLine);
  if (total === 0) {
    lines.push(
      leftOut(tally).length === 0
        ? `No files match ${quote(pattern)}.`
        : `Nothing found for ${quote(pattern)}, but something was left out.`,
    );
    if (hint !== undefined) lines.push(hint);
  }
  const found =
    paths.length < total
      ? `${paths.length} of ${countOf(total, "file")} shown; ${forTheRest(isFull, maxCharacters, "path or pattern")}`
      : countOf(total, "file");
  return [...lines, `[${[found, ...skippedPart(tally)].join("; ")}]`].join("\n");
}

type ListView = Extract<ResultView, { type: "list" }>;

/**
 * The result of search_text for a display: one item per matching line, or per file. `base` is the directory that labels
 * are relative to.
 */
export function textView(
  { files, matches, matchedFiles }: TextResult,
  mode: OutputMode,
  base: string,
): ListView {
  const items = files.flatMap(({ label, rows, matches: inFile }) => {
    const path = resolve(base, label);
    if (mode === "lines")
      return rows.filter(({ match }) => match).map(({ text, line }) => ({ text, path, line }));
    return [{ text: mode === "files" ? label : `${label}: ${inFile}`, path }];
  });
  return listView(items, mode === "lines" ? matches : matchedFiles);
}

/** The result of search_files for a display. */
export function filesView({ paths, total }: FilesResult, base: string): ListView {
  return listView(
    paths.map((path) => ({ text: path, path: resolve(base, path) })),
    total,
  );
}

function listView(items: ListView["items"], total: number): ListView {
  const shown = items.slice(0, MAX_VIEW_ITEMS);
  const more = total - shown.length;
  return { type: "list", items: shown, ...(more > 0 && { more }) };
}

function skippedPart(tally: Tally): string[] {
  const skipped = leftOut(tally);
  const parts = skipped.length === 0 ? [] : [`skipped ${skipped.join(", ")}`];
  if (tally.pieces > 0) {
    parts.push(`${countOf(tally.pieces, "file")} with a line too long to be searched in one piece`);
  }
  return parts;
}

/** The skipped files and directories: each kind with its count and how to include it. */
function leftOut(tally: Tally): string[] {
  const ignored = [
    tally.ignoredDirectories > 0 ? directories(tally.ignoredDirectories) : "",
    tally.ignoredFiles > 0 ? countOf(tally.ignoredFiles, "file") : "",
  ].filter(Boolean);
  return [
    ignored.length > 0 ? `${ignored.join(" and ")} ignored (include_ignored: true searches them)` : "",
    tally.binary > 0 ? `${tally.binary} binary` : "",
    tally.tooLarge > 0 ? `${tally.tooLarge} too large` : "",
    tally.unreadable > 0 ? `${tally.unreadable} unreadable: ${examples(tally)}` : "",
    tally.vanished > 0 ? `${tally.vanished} vanished` : "",
    tally.links > 0 ? `${countOf(tally.links, "link")} not followed` : "",
    tally.special > 0 ? `${tally.special} not regular files` : "",
    tally.outside > 0 ? `${tally.outside} that led outside the root` : "",
    tally.secret > 0
      ? `${countOf(tally.secret, "place")} for keys or credentials (name one as the path to ask a user for it)`
      : "",
    tally.process > 0 ? `${tally.process} with the memory or environment of a process` : "",
  ].filter(Boolean);
}

function examples({ examples: shown, unreadable }: Tally): string {
  return shown.map(escapeToLine).join(", ") + (unreadable > shown.length ? ", …" : "");
}

function directories(count: number): string {
  return count === 1 ? "1 directory" : `${count} directories`;
}
