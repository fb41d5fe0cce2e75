import type { Match, Region } from "./match.js";
import { type Line, lineBreakAt, linesOf, withLineBreaks } from "./textLines.js";
import { plainTypography } from "./typography.js";

/** Finds whole lines that are `oldText` but for trailing blanks, or else but for their indentation. */
export function matchLines(text: string, oldText: string, newText: string): Match | undefined {
  const wanted = oldText.split(/\r?\n/);
  const closed = wanted.length > 1 && wanted.at(-1) === "";
  if (closed) wanted.pop();
  // Blank lines are everywhere: alone they say nothing about the place.
  if (wanted.every((line) => line.trim() === "")) return undefined;
  const lines = linesOf(text);
  const content = lines.map((line) => plainTypography(text.slice(line.start, line.end)));
  const find = (simplify: (line: string) => string): number[] => {
    return runs(
      content.map(simplify),
      wanted.map((line) => simplify(plainTypography(line))),
    );
  };
  const place = (first: number, replacement: string): Region => {
    return toRegion(text, lines, first, wanted.length, closed, replacement);
  };

  const trailing = find((line) => line.trimEnd());
  if (trailing.length > 0) {
    return { regions: trailing.map((first) => place(first, newText)), ignoring: "trailing blanks" };
  }
  const regions = find((line) => line.trim()).flatMap((first) => {
    const indents = indentMap(wanted, content.slice(first, first + wanted.length));
    return indents ? [place(first, reindent(newText, indents))] : [];
  });
  return regions.length > 0 ? { regions, ignoring: "indentation" } : undefined;
}

/** Where `wanted` stands in `lines` as a block; blocks that overlap are counted once. */
function runs(lines: readonly string[], wanted: readonly string[]): number[] {
  const found: number[] = [];
  for (let first = 0; first + wanted.length <= lines.length; first++) {
    if (!wanted.every((line, index) => line === lines[first + index])) continue;
    found.push(first);
    first += wanted.length - 1;
  }
  return found;
}

function toRegion(
  text: string,
  lines: readonly Line[],
  first: number,
  count: number,
  closed: boolean,
  replacement: string,
): Region {
  const last = lines[first + count - 1];
  const start = lines[first]?.start ?? 0;
  const end = (closed ? last?.next : last?.end) ?? start;
  const eol = lineBreakAt(text, start, end);
  return { start, end, replacement: eol === undefined ? replacement : withLineBreaks(replacement, eol) };
}

/**
 * How the caller's indentation translates to the file's. `undefined` if one indentation of the caller's
 * stands for two of the file's: then the lines only look alike.
 */
function indentMap(wanted: readonly string[], actual: readonly string[]): Map<string, string> | undefined {
  const map = new Map<string, string>();
  for (const [index, line] of wanted.entries()) {
    if (line.trim() === "") continue;
    const from = indentOf(line);
    const to = indentOf(actual[index] ?? "");
    if ((map.get(from) ?? to) !== to) return undefined;
    map.set(from, to);
  }
  return map;
}

function reindent(text: string, map: ReadonlyMap<string, string>): string {
  const longestFirst = [...map].sort(([a], [b]) => b.length - a.length);
  const translate = (line: string): string => {
    if (line.trim() === "") return line;
    const indent = indentOf(line);
    const known = longestFirst.find(([from]) => indent.startsWith(from));
    return known ? known[1] + line.slice(known[0].length) : line;
  };
  return text.split("\n").map(translate).join("\n");
}

function indentOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}
