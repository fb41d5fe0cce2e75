import { errorMessage, quote } from "@agent/core/toolkit";
import { checkBlocks } from "../edit/blocks.js";
import { type FileKind, fileKind, isDocument } from "../edit/fileKind.js";
import { indentMap, indentWriter, reindent } from "../edit/indentation.js";
import { type LiteralFinder, literalFinder } from "../edit/literals.js";
import { nearestPlaces } from "../edit/nearestPlaces.js";
import { findPlaceholder } from "../edit/placeholders.js";
import { newTextProblem } from "../edit/rewritten.js";
import { keepTypography } from "../edit/settle.js";
import type { TextFile } from "../edit/textFile.js";
import { isTypographic, plainTypography } from "../edit/typography.js";
import type { Chunk } from "./parsePatch.js";

const MAX_PLACES_NAMED = 10;
const WRITE_EXACTLY = "Write the lines exactly as the file should have them.";
// Each chunk searches all lines. About a second of work.
const MAX_COMPARED = 200_000_000;

/** A text after the chunks of a patch, and which differences were ignored to place them. */
export interface PatchedText {
  readonly text: string;
  readonly remarks: readonly string[];
}

/** How lines are compared, from exact to lenient. */
const TOLERANCES: readonly {
  readonly ignoring: string | undefined;
  readonly simplify: (line: string) => string;
}[] = [
  { ignoring: undefined, simplify: (line) => line },
  { ignoring: "trailing blanks", simplify: (line) => line.trimEnd() },
  {
    ignoring: "typographic quotes, dashes and spaces",
    simplify: (line) => plainTypography(line).trimEnd(),
  },
  { ignoring: "indentation", simplify: (line) => plainTypography(line).trim() },
];

/**
 * Applies the chunks of a patch in order, each after the previous one. Context lines stay as in the file; added lines
 * get the file's line endings. Throws if a chunk is not found, is ambiguous without a context, or has text that is clearly
 * not meant for the file. `path` distinguishes prose and markup from code.
 */
export function applyChunks(
  file: TextFile,
  text: string,
  chunks: readonly Chunk[],
  path: string,
): PatchedText {
  const eol = commonBreak(text);
  const isClosed = text === "" || /[\r\n]$/.test(text);
  const whole = isClosed ? text : text + eol;
  const lines: readonly string[] = whole.match(/[^\r\n]*(?:\r\n|\n|\r)/g) ?? [];
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length);
  const bare = lines.map((line) => line.replace(/[\r\n]+$/, ""));
  if (chunks.length * lines.length > MAX_COMPARED) {
    throw new Error("The patch has too many blocks for a file of this size. Nothing was changed.");
  }
  const remarks = new Set<string>();
  const literalAt = literalFinder(whole, path);
  const result: string[] = [];
  let taken = 0;
  for (const [index, chunk] of chunks.entries()) {
    const name = `block ${index + 1}`;
    const own = chunk.lines.map((line) => line[0] + file.fromArgument(line.slice(1)));
    const wanted = own.filter((line) => line[0] !== "+").map((line) => line.slice(1));
    const from = afterContexts(bare, chunk.contexts, taken, name);
    if (file.isDecoded && !isDocument(path)) checkPlaceholders(wanted, own, text, name, path);
    const place = findPlace(file, bare, wanted, from, chunk, name);
    if (place.ignoring !== undefined)
      remarks.add(`${capital(name)} matched only after ignoring ${place.ignoring}.`);
    const actual = bare.slice(place.at, place.at + wanted.length);
    const indents = place.ignoring === "indentation" ? indentMap(wanted, actual) : undefined;
    const span = { start: starts[place.at] ?? 0, end: starts[place.at + wanted.length] ?? whole.length };
    const placed = { name, own, wanted, actual, ...span };
    const fresh = file.isDecoded ? settledLines(placed, whole, path, remarks, literalAt) : addedOf(own);
    const added = indents ? reindent(fresh.join("\n"), indents, text).split("\n") : fresh;
    result.push(...lines.slice(taken, place.at));
    let [old, next] = [place.at, 0];
    for (const line of own) {
      if (line[0] === "+") result.push((added[next++] ?? "") + eol);
      else {
        if (line[0] === " ") result.push(lines[old] ?? "");
        old++;
      }
    }
    taken = place.at + wanted.length;
  }
  result.push(...lines.slice(taken));
  const patched = result.join("");
  if (file.isDecoded) checkBlocks(text, patched, path);
  return { text: patched, remarks: [...remarks] };
}

/** A chunk at its place in the file. */
interface PlacedChunk {
  readonly name: string;
  readonly own: readonly string[];
  /** The lines that the chunk shows, as the patch and as the file has them. */
  readonly wanted: readonly string[];
  readonly actual: readonly string[];
  readonly start: number;
  readonly end: number;
}

function addedOf(own: readonly string[]): readonly string[] {
  return own.filter((line) => line[0] === "+").map((line) => line.slice(1));
}

/**
 * The lines that a chunk adds, with the typographic characters of the file where the patch did not mean to change them.
 * Throws for text that is clearly not meant for the file.
 */
function settledLines(
  { name, own, wanted, actual, start, end }: PlacedChunk,
  text: string,
  path: string,
  remarks: Set<string>,
  literalAt: LiteralFinder,
): readonly string[] {
  const added = addedOf(own);
  const kept = own.filter((line) => line[0] !== "-");
  const [oldText, found] = [wanted.join("\n"), actual.join("\n")];
  const newText = kept.map((line) => line.slice(1)).join("\n");
  try {
    const kind = fileKind(text, path, { start, end }, literalAt);
    checkRuns(own, text.slice(0, start), text.slice(end), kind);
    const indents = kind.isDocument ? undefined : indentWriter(oldText, added.join("\n"), text);
    if (indents) {
      remarks.add(indents.remark.replace("new_text", "added lines"));
      return indents.write(added.join("\n")).split("\n");
    }
    if (![oldText, newText, found].some(isTypographic)) return added;
    const changes = new Set<string>();
    const settled = keepTypography("", found, newText, { ...kind, oldText, newText }, changes)
      .split("\n")
      .filter((_, index) => kept[index]?.[0] === "+");
    // Context lines stay as the file has them in any case.
    if (settled.some((line, index) => line !== added[index])) for (const one of changes) remarks.add(one);
    return settled;
  } catch (error) {
    const problem = errorMessage(error).replace(/^new_text /, "");
    throw new Error(`${capital(name)} ${problem.replaceAll("old_text has", "the lines before have")}`);
  }
}

/** Throws if lines that replace others are clearly not meant as they are. */
function checkRuns(own: readonly string[], before: string, after: string, kind: FileKind): void {
  let [removed, added, passed]: [string[], string[], string] = [[], [], before];
  for (const line of [...own, " "]) {
    if (line[0] === "-") removed.push(line.slice(1));
    else if (line[0] === "+") added.push(line.slice(1));
    else {
      const [oldText, newText] = [removed.join("\n"), added.join("\n")];
      const problem = added.length > 0 && newTextProblem(oldText, newText, kind, passed, `\n${after}`);
      if (problem) throw new Error(`${problem}; nothing was changed. ${WRITE_EXACTLY}`);
      passed += `${[...removed, line.slice(1)].join("\n")}\n`;
      [removed, added] = [[], []];
    }
  }
}

/** The line after the contexts of a chunk. */
function afterContexts(
  bare: readonly string[],
  contexts: readonly string[],
  from: number,
  name: string,
): number {
  let at = from;
  for (const context of contexts) {
    const found = TOLERANCES.map(({ simplify }) =>
      bare.findIndex((line, index) => index >= at && simplify(line) === simplify(context)),
    ).find((index) => index !== -1);
    if (found === undefined) {
      throw new Error(
        `The line after "@@" of ${name} was not found after line ${at}: ${quote(context)}. Nothing was changed. Write a whole line of the file, or leave it out.`,
      );
    }
    at = found + 1;
  }
  return at;
}

interface Place {
  readonly at: number;
  readonly ignoring: string | undefined;
}

function findPlace(
  file: TextFile,
  bare: readonly string[],
  wanted: readonly string[],
  from: number,
  { contexts, atEnd }: Chunk,
  name: string,
): Place {
  // Lines without context are added at the end, or after the line that "@@" names.
  if (wanted.length === 0)
    return { at: contexts.length > 0 && !atEnd ? from : bare.length, ignoring: undefined };
  const tolerances = file.isDecoded ? TOLERANCES : TOLERANCES.slice(0, 2);
  // A blank line at the end of the chunk is often the end of the file, which is not a line.
  const shorter = wanted.at(-1) === "" ? [wanted, wanted.slice(0, -1)] : [wanted];
  for (const lines of shorter) {
    if (lines.length === 0) continue;
    for (const { ignoring, simplify } of tolerances) {
      const simple = lines.map(simplify);
      const isAt = (at: number): boolean =>
        at >= from &&
        simple.every((line, offset) => line === simplify(bare[at + offset] ?? "\0")) &&
        (ignoring !== "indentation" || indentMap(lines, bare.slice(at, at + lines.length)) !== undefined);
      const last = bare.length - lines.length;
      if (atEnd && isAt(last)) return { at: last, ignoring };
      const places: number[] = [];
      for (let at = from; at <= last; at++) if (isAt(at)) places.push(at);
      const [first] = places;
      if (first === undefined) continue;
      // With a context, or with blank lines only, the next match is the intended one.
      if (places.length > 1 && contexts.length === 0) throw ambiguous(places, name);
      return { at: first, ignoring };
    }
  }
  const text = bare.join("\n");
  const hint = nearestPlaces(text, wanted.join("\n"), file.toShown);
  const order = from > 0 ? ` after line ${from}` : "";
  throw new Error(
    `The lines of ${name} were not found${order}. Nothing was changed. ${hint ?? "Nothing in the file is similar to them; read the file again."}`,
  );
}

function ambiguous(places: readonly number[], name: string): Error {
  const named = places.slice(0, MAX_PLACES_NAMED).map((at) => at + 1);
  const more = places.length > named.length ? ` and ${places.length - named.length} more` : "";
  return new Error(
    `The lines of ${name} were found at ${places.length} places (lines ${named.join(", ")}${more}). Nothing was changed. Add lines around them, or a line "@@ CONTEXT" that comes before the right place.`,
  );
}

function checkPlaceholders(
  wanted: readonly string[],
  own: readonly string[],
  text: string,
  name: string,
  path: string,
): void {
  const after = own.filter((line) => line[0] !== "-").map((line) => line.slice(1));
  const placeholder = findPlaceholder(wanted.join("\n"), after.join("\n"), text, path);
  if (placeholder === undefined) return;
  throw new Error(
    `Added lines of ${name} have ${quote(placeholder)} in place of code. Nothing was changed. ${WRITE_EXACTLY}`,
  );
}

/** The most frequent line ending of a text; the first if there are several. */
function commonBreak(text: string): string {
  const counts = new Map<string, number>();
  for (const [eol] of text.matchAll(/\r\n|\n|\r/g)) counts.set(eol, (counts.get(eol) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "\n";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
