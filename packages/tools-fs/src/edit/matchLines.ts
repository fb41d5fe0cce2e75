import { indentMap, reindent } from "./indentation.js";
import type { EditLimits, Match, Region } from "./match.js";
import { keepSpacing, withoutSpacing } from "./spacing.js";
import { type Line, lineBreakFinder, lineBreakVariants, linesOf, newlinesBetween } from "./textLines.js";
import { plainTypography } from "./typography.js";

// Every line is kept in memory several times, so their number is limited.
const MAX_LINES = 500_000;

/**
 * Finds whole lines that differ from `oldText` only in trailing blanks or, if there are none, only in indentation, or
 * else only in blanks.
 */
export function matchLines(
  text: string,
  oldText: string,
  newText: string,
  limits: EditLimits,
): Match | undefined {
  const wanted = oldText.split(/\r?\n/);
  const closed = wanted.length > 1 && wanted.at(-1) === "";
  if (closed) wanted.pop();
  // Blank lines alone match everywhere, so they identify no place.
  if (wanted.every((line) => line.trim() === "")) return undefined;
  if (newlinesBetween(text, 0, text.length) > MAX_LINES) return undefined;
  const lines = linesOf(text);
  const content = lines.map((line) => plainTypography(text.slice(line.start, line.end)));
  const find = (simplify: (line: string) => string): number[] => {
    return runs(
      content.map(simplify),
      wanted.map((line) => simplify(plainTypography(line))),
    );
  };
  const lineBreakAt = lineBreakFinder(text);
  let firstPlace: number | undefined;
  const place = (first: number, withBreaks: (eol: string | undefined) => string): Region => {
    const { start, end } = spanOf(lines, first, wanted.length, closed);
    const replacement = withBreaks(lineBreakAt(start));
    limits.addPlace();
    firstPlace ??= first;
    if (first !== firstPlace) limits.addRepeated(replacement);
    return { start, end, replacement };
  };

  const trailing = find((line) => line.trimEnd());
  if (trailing.length > 0) {
    const withBreaks = lineBreakVariants(newText);
    return { regions: trailing.map((first) => place(first, withBreaks)), ignoring: "trailing blanks" };
  }
  const regions = find((line) => line.trim()).flatMap((first) => {
    const indents = indentMap(wanted, content.slice(first, first + wanted.length));
    return indents ? [place(first, lineBreakVariants(reindent(newText, indents, text)))] : [];
  });
  if (regions.length > 0) return { regions, ignoring: "indentation" };
  const spaced = find(withoutSpacing).flatMap((first) => {
    const actual = lines.slice(first, first + wanted.length).map(({ start, end }) => text.slice(start, end));
    const indents = indentMap(wanted, actual);
    if (!indents) return [];
    const inFile = wanted.map((line) => reindent(line, indents, text));
    const replacement = keepSpacing(reindent(newText, indents, text), inFile, actual);
    return [place(first, lineBreakVariants(replacement))];
  });
  return spaced.length > 0 ? { regions: spaced, ignoring: "blanks within lines" } : undefined;
}

/**
 * The indexes at which `wanted` occurs in `lines` as a block; of blocks that overlap only the first counts. Linear
 * time even if all lines are the same (Knuth-Morris-Pratt).
 */
function runs(lines: readonly string[], wanted: readonly string[]): number[] {
  const fallback = fallbacks(wanted);
  const found: number[] = [];
  let matched = 0;
  for (const [index, line] of lines.entries()) {
    while (matched > 0 && line !== wanted[matched]) matched = fallback[matched] ?? 0;
    if (line === wanted[matched]) matched++;
    if (matched < wanted.length) continue;
    found.push(index + 1 - matched);
    matched = 0;
  }
  return found;
}

/** The failure table of Knuth-Morris-Pratt: for each prefix, the length of its longest border. */
function fallbacks(wanted: readonly string[]): number[] {
  const fallback = [0, 0];
  let matched = 0;
  for (const line of wanted.slice(1)) {
    while (matched > 0 && line !== wanted[matched]) matched = fallback[matched] ?? 0;
    if (line === wanted[matched]) matched++;
    fallback.push(matched);
  }
  return fallback;
}

/** The span of `count` lines; it includes the last line break if the block is closed. */
function spanOf(lines: readonly Line[], first: number, count: number, closed: boolean): Omit<Line, "next"> {
  const last = lines[first + count - 1];
  const start = lines[first]?.start ?? 0;
  return { start, end: (closed ? last?.next : last?.end) ?? start };
}
