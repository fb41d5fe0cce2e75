const LONGEST_INDENT = 200;

/** Maps the caller's indentation to the file's. */
export type IndentMap = ReadonlyMap<string, string>;

/**
 * Thrown if new lines cannot be indented: they have a level that is not in `old_text`, so the file's level is unknown.
 */
class IndentationError extends Error {}

/**
 * Maps each indentation in the caller's text to the one in the file. `undefined` if one indentation would map to two
 * different ones: then the blocks have a different structure and do not match.
 */
export function indentMap(wanted: readonly string[], actual: readonly string[]): IndentMap | undefined {
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

/** Returns the text with the file's indentation. Throws an `IndentationError` if the level of a line is ambiguous. */
export function reindent(text: string, map: IndentMap, file: string): string {
  const lines = text.split("\n");
  const levels = [...map.keys(), ...lines.filter((line) => line.trim() !== "").map(indentOf)];
  const translate = (line: string): string => {
    if (line.trim() === "") return line;
    const indent = indentOf(line);
    return (map.get(indent) ?? translateLevel(indent, map, levels, file)) + line.slice(indent.length);
  };
  return lines.map(translate).join("\n");
}

/**
 * The file's indentation for a level that is not in `old_text`: derived from the nearest known level and the width of
 * the file's steps.
 */
function translateLevel(indent: string, map: IndentMap, levels: readonly string[], file: string): string {
  const known = [...map].sort(
    ([a], [b]) => Math.abs(a.length - indent.length) - Math.abs(b.length - indent.length),
  );
  const [from, to] = known[0] ?? ["", ""];
  if (!isUniform([indent, ...map.keys()]) || !isUniform([...map.values()])) throw unclear(indent);
  // Less indented than all of old_text: with one known level it is unclear whether it counts from there or from the
  // margin.
  if (map.size === 1 && indent.length < from.length) throw unclear(indent);
  const width = (indent.length - from.length) * ratio(map, levels, file);
  if (!Number.isInteger(width) || to.length + width < 0) throw unclear(indent);
  const character = to[0] ?? [...map.values()].join("")[0] ?? stepOf(file)?.character ?? indent[0] ?? " ";
  return character.repeat(to.length + width);
}

/** How many characters of the file's indentation correspond to one of the caller's. */
function ratio(map: IndentMap, levels: readonly string[], file: string): number {
  const pairs = [...map].map(([from, to]) => [from.length, to.length] as const).sort(([a], [b]) => a - b);
  const [first, last] = [pairs[0], pairs.at(-1)];
  if (first && last && last[0] > first[0]) return (last[1] - first[1]) / (last[0] - first[0]);
  // One known level does not show the width of a step: compare the caller's step with the file's.
  const own = smallestStep(levels.map((level) => level.length));
  return (stepOf(file)?.width ?? own) / own;
}

/** The step by which the lines of a file are indented; `undefined` if none are. */
function stepOf(file: string): { readonly character: string; readonly width: number } | undefined {
  const indents = file.match(/^(?:\t+| {2,})(?=\S)/gm) ?? [];
  const tabs = indents.filter((indent) => indent.startsWith("\t"));
  if (indents.length === 0) return undefined;
  if (tabs.length * 2 >= indents.length) return { character: "\t", width: 1 };
  return { character: " ", width: smallestStep(indents.map((indent) => indent.length)) };
}

function smallestStep(widths: readonly number[]): number {
  const sorted = [...new Set([0, ...widths])].sort((a, b) => a - b);
  const steps = sorted.slice(1).map((width, index) => width - (sorted[index] ?? 0));
  return steps.length === 0 ? 1 : Math.min(...steps);
}

/**
 * Replaces the spaces that indent a text with tabs. `undefined` unless the file is indented only with tabs, `old_text`
 * has no such spaces, and those of `new_text` are multiples of one width.
 */
export function tabWriter(
  oldText: string,
  newText: string,
  file: string,
): ((text: string) => string) | undefined {
  const spaced = /^(\t*)( {2,})(?=\S)/gm;
  const widths = [...newText.matchAll(spaced)].map(([, , spaces = ""]) => spaces.length);
  if (widths.length === 0 || /^\t* {2,}\S/m.test(oldText) || !/^\t/m.test(file)) return undefined;
  const step = smallestStep(widths);
  if (![2, 3, 4, 8].includes(step) || widths.some((width) => width % step !== 0)) return undefined;
  if (/^\t* {2,}\S/m.test(file)) return undefined;
  return (text) =>
    text.replace(spaced, (_, tabs: string, spaces: string) => tabs + "\t".repeat(spaces.length / step));
}

/**
 * Throws if a replacement for part of a line continues at the margin although that line is indented: in some languages
 * that starts another block, and usually the caller left out the indentation.
 */
export function checkMargin(replacement: string, text: string, start: number): void {
  const [, next = ""] = replacement.split("\n");
  const indent = /(?:^|\n)([ \t]+)$/.exec(text.slice(Math.max(0, start - LONGEST_INDENT), start))?.[1];
  if (indent === undefined || /^\s/.test(replacement) || /^(\s|$)/.test(next)) return;
  if (/^([)}\]]|end\b|else\b|fi\b|done\b|<\/|#|\/\/)/.test(next)) return;
  throw new IndentationError(
    `new_text continues at the margin after a line that is indented by ${JSON.stringify(indent)}; nothing was changed. Write both texts as whole lines with the file's indentation.`,
  );
}

function isUniform(indents: readonly string[]): boolean {
  return new Set(indents.join("")).size <= 1;
}

function unclear(indent: string): IndentationError {
  return new IndentationError(
    `new_text has lines indented by ${JSON.stringify(indent)}, which old_text does not show, and the file is indented in another way; nothing was changed. Write both texts with the file's own indentation.`,
  );
}

function indentOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}
