import { codeOf, literalLines } from "./code.js";
import { contentLines } from "./textLines.js";

const LONGEST_INDENT = 200;
/** The widths of a step in blanks. */
const STEPS: readonly number[] = [2, 3, 4, 8];
const LONGEST_SHOWN = 80;
// An edit may have a million places.
const MOST_BLANK = 3;
// How far above a line the blocks around it are looked for.
const LONGEST_BLOCK = 100_000;

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
  const literals = literalLines(lines);
  const translate = (line: string, index: number): string => {
    if (line.trim() === "") return line;
    const indent = indentOf(line);
    const opener = literals[index];
    if (opener !== undefined && !isShift(map, indent, indentOf(lines[opener] ?? ""))) throw inLiteral(line);
    return (map.get(indent) ?? translateLevel(indent, map, levels, file)) + line.slice(indent.length);
  };
  return lines.map(translate).join("\n");
}

/** Whether the lines of a literal keep their place relative to the line that opens it. */
function isShift(map: IndentMap, indent: string, opener: string): boolean {
  const widths = new Set([...map].map(([from, to]) => to.length - from.length));
  return indent.startsWith(opener) && widths.size === 1 && isUniform([...map.keys(), ...map.values()]);
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
  const indents = levels.filter((level) => level !== "");
  const own = indents.every((level) => level.startsWith("\t"))
    ? 1
    : smallestStep(levels.map(({ length }) => length));
  const step = stepOf(file);
  if (own > 1 && !STEPS.includes(own)) return Number.NaN;
  return (step?.width ?? own) / own;
}

/** The step by which the lines of a file are indented, most often; `undefined` if none are. */
function stepOf(file: string): { readonly character: string; readonly width: number } | undefined {
  const indents = file.match(/^(?:\t+| {2,})(?=\S)/gm) ?? [];
  const tabs = indents.filter((indent) => indent.startsWith("\t"));
  if (indents.length === 0) return undefined;
  if (tabs.length * 2 >= indents.length) return { character: "\t", width: 1 };
  return { character: " ", width: commonStep(file) ?? smallestStep(indents.map(({ length }) => length)) };
}

/** The most frequent difference between a line and a deeper one below it. Lines that are aligned have any other. */
function commonStep(file: string): number | undefined {
  const counts = new Map<number, number>();
  let before = 0;
  for (const [, indent = ""] of file.matchAll(/^( *)\S/gm)) {
    const step = indent.length - before;
    before = indent.length;
    if (STEPS.includes(step)) counts.set(step, (counts.get(step) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

function smallestStep(widths: readonly number[]): number {
  const sorted = [...new Set([0, ...widths])].sort((a, b) => a - b);
  const steps = sorted.slice(1).map((width, index) => width - (sorted[index] ?? 0));
  return steps.length === 0 ? 1 : Math.min(...steps);
}

/** Writes the indentation of a text as the file does. */
interface IndentWriter {
  readonly write: (text: string) => string;
  /** What it does, for the result of the call. */
  readonly remark: string;
}

/**
 * Returns what replaces spaces that indent a text with tabs, or tabs with spaces. `undefined` unless the file is indented
 * with one of them only, `old_text` has none of the others, and spaces of `new_text` are multiples of one width.
 */
export function indentWriter(oldText: string, newText: string, file: string): IndentWriter | undefined {
  const literals = literalLines(newText.split("\n"), true);
  if (literals.some((opener) => opener !== undefined)) return undefined;
  return tabWriter(oldText, newText, file) ?? spaceWriter(oldText, newText, file);
}

function tabWriter(oldText: string, newText: string, file: string): IndentWriter | undefined {
  const spaced = /^(\t*)( {2,})(?=\S)/gm;
  const widths = [...newText.matchAll(spaced)].map(([, , spaces = ""]) => spaces.length);
  if (widths.length === 0 || /^\t* {2,}\S/m.test(oldText) || !/^\t/m.test(file)) return undefined;
  if (/^\t* {2,}\S/m.test(file)) return undefined;
  // In a makefile only commands need tabs.
  if (/^(?:ifn?(?:eq|def)|define)\b/m.test(newText)) return undefined;
  const least = smallestStep(widths);
  // Eight spaces are one step, or two of four if such a level fits to the lines around.
  const deepest = mostOf(`${oldText}\n${newText}`, tabsOf);
  const step = least === 8 && Math.max(...new Set(widths)) / 4 <= deepest + 1 ? 4 : least;
  const isStep = STEPS.includes(step) && widths.every((width) => width % step === 0);
  // Spaces alone that stand for fewer tabs than all lines of old_text have: their step is not known.
  const fewest = fewestOf(oldText, tabsOf);
  const shallow = [...newText.matchAll(/^( {2,})(?=\S)/gm)].find(
    ([, spaces = ""]) => spaces.length / least < fewest,
  );
  if (shallow) throw unclear(shallow[0]);
  if (!isStep) return undefined;
  return {
    write: (text) =>
      text.replace(spaced, (_, tabs: string, spaces: string) => tabs + "\t".repeat(spaces.length / step)),
    remark: "Spaces that indent new_text were written as tabs, as in the file.",
  };
}

function spaceWriter(oldText: string, newText: string, file: string): IndentWriter | undefined {
  const tabbed = /^( *)(\t+)(?=\S)/gm;
  const tabs = [...newText.matchAll(tabbed)];
  if (tabs.length === 0 || /^ *\t/m.test(oldText) || /^ *\t/m.test(file)) return undefined;
  const step = commonStep(file);
  if (step === undefined) return undefined;
  const fewest = fewestOf(oldText, (line) => indentOf(line).length);
  const shallow = tabs.find(([, spaces = "", own = ""]) => spaces.length + own.length * step < fewest);
  if (shallow) throw unclear(shallow[0]);
  return {
    write: (text) =>
      text.replace(tabbed, (_, spaces: string, own: string) => spaces + " ".repeat(own.length * step)),
    remark: "Tabs that indent new_text were written as spaces, as in the file.",
  };
}

/** The least indentation of the lines of a text. */
function fewestOf(text: string, count: (line: string) => number): number {
  return contentLines(text)
    .map(count)
    .reduce((least, one) => Math.min(least, one), Infinity);
}

/** The greatest one. */
function mostOf(text: string, count: (line: string) => number): number {
  return contentLines(text)
    .map(count)
    .reduce((most, one) => Math.max(most, one), 0);
}

function tabsOf(line: string): number {
  return /^\t*/.exec(line)?.[0].length ?? 0;
}

/** The nearest line with content above a line that starts here; `undefined` if none starts here or none is near. */
function lineAbove(text: string, start: number): string | undefined {
  let end = start - 1;
  for (let blank = 0; blank <= MOST_BLANK && text[end] === "\n"; blank++) {
    const from = text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(from, end);
    if (line.trim() !== "") return line;
    end = from - 1;
  }
  return undefined;
}

/** Throws if whole lines in a block become lines that are not deeper than the statement of Python that opens it. */
export function checkBody(replacement: string, text: string, start: number, end: number): void {
  const opener = lineAbove(text, start);
  if (opener === undefined || !STATEMENT.test(opener.trim())) return;
  const first = (lines: string): string | undefined =>
    lines.split(/\r?\n/).find((line) => line.trim() !== "" && !COMMENT.test(line));
  const [old, made] = [first(text.slice(start, end)), first(replacement)];
  // A list in YAML may be as deep as its key.
  if (old === undefined || made === undefined || /^\s*- /.test(made)) return;
  const { length } = indentOf(opener);
  if (indentOf(old).length <= length || indentOf(made).length > length) return;
  throw new IndentationError(
    `new_text begins with ${JSON.stringify(made.slice(0, LONGEST_SHOWN))}, which is not deeper than ${JSON.stringify(opener.slice(0, LONGEST_SHOWN))} above it; nothing was changed. Write both texts as whole lines with the file's indentation.`,
  );
}

/**
 * Throws if a replacement for part of a line leaves the block of that line although nothing indicates that this is meant:
 * usually the caller left out the indentation, and in some languages the lines are then in another block. `mark` opened
 * the string of several lines that the part begins in.
 */
export function checkMargin(replacement: string, text: string, start: number, end: number, mark = ""): void {
  const indent = /(?:^|\n)([ \t]+)$/.exec(text.slice(Math.max(0, start - LONGEST_INDENT), start))?.[1];
  if (indent === undefined || /^\s/.test(replacement)) return;
  const lines = replacement.split(/\r?\n/);
  const [, ...literals] = literalLines([mark, ...lines]);
  const [parent = "", ...outer] = outerIndents(text, start, indent);
  const [, ...old] = text.slice(start, end).split(/\r?\n/);
  // Where the old text leaves the block, the new one may as well.
  const left = new Set(old.filter((line) => line.trim() !== "" && !CLOSING.test(line)).map(indentOf));
  checkBlock(lines, old, indent);
  let isAfterBlank = false;
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") isAfterBlank = true;
    if (index === 0 || line.trim() === "" || literals[index] !== undefined || COMMENT.test(line)) continue;
    const own = indentOf(line);
    if (left.has(own)) continue;
    const isMeant =
      isAfterBlank || CLOSING.test(line) || LABEL.test(line) || (parent === "" && CLAUSE.test(line));
    // From the margin on, the lines are no longer part of the block.
    if (own === "" && isMeant) return;
    if (own === "" || ![parent, ...outer].concat(indent).some((one) => matches(own, one, indent))) {
      throw outside(own, indent);
    }
    isAfterBlank = false;
  }
}

/**
 * Throws if the first line opens a block whose lines are indented as if that line were at the margin: the block is closed
 * there, or its lines are not deeper, although a statement of Python or the block of the old text needs that.
 */
function checkBlock(lines: readonly string[], old: readonly string[], indent: string): void {
  const [opener = "", ...rest] = lines;
  if (!OPENING.test(opener)) return;
  const inner = rest.find((line) => line.trim() !== "" && !COMMENT.test(line));
  if (inner === undefined || CLOSING.test(inner)) return;
  const before = old.find((line) => line.trim() !== "" && !COMMENT.test(line));
  const isDeeper = (line: string): boolean => indentOf(line).length > indent.length;
  const wasDeeper = before !== undefined && isDeeper(before) && !/^\s*- /.test(inner);
  if (isClosedAtMargin(lines)) throw outside("", indent);
  if ((wasDeeper || STATEMENT.test(opener)) && !isDeeper(inner)) throw outside(indentOf(inner), indent);
}

/** Whether brackets that the lines open are closed at the margin, as many as there are. */
function isClosedAtMargin(lines: readonly string[]): boolean {
  const count = (marks: RegExp): number =>
    lines
      .map((line) => codeOf(line))
      .join("")
      .match(marks)?.length ?? 0;
  return /^[)}\]]/.test(lines.at(-1) ?? "") && count(/[([{]/g) === count(/[)\]}]/g);
}

const OPENING = /[:{([]\s*$/;
const STATEMENT = /^(?:async )?(?:if|elif|else|for|while|with|def|class|try|except|finally)\b.*:\s*$/;
const COMMENT = /^\s*(#|\/\/|--|\/?\*)/;
const CLOSING = /^([)}\]]|<\/|\{%|(end|fi|done|esac)\b)/;
const CLAUSE = /^(else|elif|elsif|except|finally|catch|rescue|ensure)\b/;
/** Labels of C and C++, and sections of settings. */
const LABEL =
  /^(?:(?:(?:public|protected|private)(?: \w+)?|out|err\w*|fail\w*|cleanup|exit|retry|again):|\[.*\])$/;

/** Whether an indentation is that of the line or deeper, or exactly that of a block around it. */
function matches(own: string, level: string, indent: string): boolean {
  return level === indent ? own.startsWith(indent) : own === level;
}

/** The indentations of the blocks around a line, from the nearest one to the margin. */
function outerIndents(text: string, start: number, indent: string): string[] {
  const found: string[] = [];
  let width = indent.length;
  const above = text
    .slice(Math.max(0, start - LONGEST_BLOCK), start)
    .split("\n")
    .slice(0, -1);
  for (const line of above.reverse()) {
    const own = indentOf(line);
    if (line.trim() === "" || own.length >= width) continue;
    found.push(own);
    width = own.length;
  }
  return found;
}

function isUniform(indents: readonly string[]): boolean {
  return new Set(indents.join("")).size <= 1;
}

function unclear(indent: string): IndentationError {
  return new IndentationError(
    `new_text has lines indented by ${JSON.stringify(indent)}, which old_text does not show, and the file is indented in another way; nothing was changed. Write both texts with the file's own indentation.`,
  );
}

function outside(own: string, indent: string): IndentationError {
  return new IndentationError(
    `new_text continues ${own === "" ? "at the margin" : `with ${JSON.stringify(own)}`} after a line that is indented by ${JSON.stringify(indent)}; nothing was changed. Write both texts as whole lines with the file's indentation.`,
  );
}

function inLiteral(line: string): IndentationError {
  return new IndentationError(
    `new_text has ${JSON.stringify(line.trim())} inside a string of several lines, and the file is indented in another way than old_text; nothing was changed. Write both texts with the file's own indentation.`,
  );
}

function indentOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}
