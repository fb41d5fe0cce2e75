import { quote } from "@agent/core/toolkit";
import { indentMap, reindent } from "../edit/indentation.js";
import { nearestPlaces } from "../edit/nearestPlaces.js";
import { findPlaceholder } from "../edit/placeholders.js";
import type { TextFile } from "../edit/textFile.js";
import { plainTypography } from "../edit/typography.js";
import type { Chunk } from "./parsePatch.js";

const MAX_PLACES_NAMED = 10;
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
 * get the file's line endings. Throws if a chunk is not found, or is ambiguous without a context. `codePath` is the path
 * of a file in which text such as `...` is a placeholder; `undefined` for documents.
 */
export function applyChunks(
  file: TextFile,
  text: string,
  chunks: readonly Chunk[],
  codePath: string | undefined,
): PatchedText {
  const eol = commonBreak(text);
  const isClosed = text === "" || /[\r\n]$/.test(text);
  const lines: readonly string[] = (isClosed ? text : text + eol).match(/[^\r\n]*(?:\r\n|\n|\r)/g) ?? [];
  const bare = lines.map((line) => line.replace(/[\r\n]+$/, ""));
  if (chunks.length * lines.length > MAX_COMPARED) {
    throw new Error("The patch has too many blocks for a file of this size. Nothing was changed.");
  }
  const remarks = new Set<string>();
  const result: string[] = [];
  let taken = 0;
  for (const [index, chunk] of chunks.entries()) {
    const name = `block ${index + 1}`;
    const own = chunk.lines.map((line) => line[0] + file.fromArgument(line.slice(1)));
    const wanted = own.filter((line) => line[0] !== "+").map((line) => line.slice(1));
    const from = afterContexts(bare, chunk.contexts, taken, name);
    const fresh = own.filter((line) => line[0] === "+").map((line) => line.slice(1));
    if (codePath !== undefined && file.isDecoded) checkPlaceholders(wanted, own, text, name, codePath);
    const place = findPlace(file, bare, wanted, from, chunk, name);
    if (place.ignoring !== undefined)
      remarks.add(`${capital(name)} matched only after ignoring ${place.ignoring}.`);
    const actual = bare.slice(place.at, place.at + wanted.length);
    const indents = place.ignoring === "indentation" ? indentMap(wanted, actual) : undefined;
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
  return { text: result.join(""), remarks: [...remarks] };
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
    `Added lines of ${name} have ${quote(placeholder)} in place of code. Nothing was changed. Write the lines exactly as the file should have them.`,
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
