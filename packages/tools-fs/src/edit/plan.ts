import { applyEdits, countOf, lineStart, newlinesBetween, quote, type TextEdit } from "@agent/core/toolkit";
import { checkBlocks } from "./blocks.js";
import { fileKind, isDocument } from "./fileKind.js";
import { type LiteralFinder, literalFinder } from "./literals.js";
import { EditLimits, findMatch, type Match } from "./match.js";
import { nearestPlaces } from "./nearestPlaces.js";
import { findPlaceholder } from "./placeholders.js";
import { newTextProblem, type Rewritten, rewrittenTexts } from "./rewritten.js";
import { regionSettler } from "./settle.js";
import type { TextFile } from "./textFile.js";

const MAX_PLACES_NAMED = 10;
const NOWHERE = { start: 0, end: 0 };
// Each edit searches the whole text. About a second of work.
const MAX_SEARCHED = 1024 * 1024 * 1024;
export interface Edit {
  /** The name of the argument, for messages: `old_text`, `edits[2].old_text`. */
  readonly name: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

/** All changes of one call, sorted, none overlapping. */
export interface EditPlan {
  readonly regions: readonly TextEdit[];
  /** The differences that were ignored, one sentence per edit that did not match exactly. */
  readonly remarks: readonly string[];
}

/**
 * Finds where every edit applies, all against the same text. Throws if the text of one edit is absent or ambiguous, if
 * two edits overlap, or if the result would be too large; the error names the places. Also throws for new text that is
 * clearly not meant for the file. The caller then changes nothing. `path` distinguishes prose and markup from code.
 */
export function planEdits(file: TextFile, edits: readonly Edit[], path: string): EditPlan {
  if (edits.length * file.text.length > MAX_SEARCHED) {
    throw new Error(
      `${edits.length} edits are too many for a file of this size; nothing was changed. Make several calls.`,
    );
  }
  const remarks = new Set<string>();
  const limits = new EditLimits(file.sizeOf);
  const literalAt = literalFinder(file.text, path);
  const found = edits.map((edit) => {
    const { regions, ignoring, ...texts } = findEdit(file, edit, path, limits, literalAt);
    if (regions.length === 0) throw absent(file, edit);
    if (regions.length > 1 && !edit.replaceAll) throw ambiguous(file, edit, regions);
    if (ignoring !== undefined) remarks.add(`${edit.name} matched only after ignoring ${ignoring}.`);
    if (!file.isDecoded) return regions;
    const kind = fileKind(file.text, path, regions[0] ?? NOWHERE, literalAt);
    const settle = regionSettler(file.text, { ...texts, ...kind }, remarks, literalAt);
    return regions.map(settle);
  });
  const regions = found.flat().sort((a, b) => a.start - b.start);
  const nameOf = (region: TextEdit): string | undefined =>
    edits[found.findIndex((regions) => regions.includes(region))]?.name;
  for (const [index, region] of regions.entries()) {
    const next = regions[index + 1];
    if (next && region.end > next.start) {
      throw new Error(
        `${nameOf(region)} and ${nameOf(next)} overlap; nothing was changed. Make them one edit.`,
      );
    }
  }
  if (file.isDecoded) checkBlocks(file.text, applyEdits(file.text, regions), path);
  return { regions, remarks: [...remarks] };
}

/**
 * The place where an edit applies, with its texts as interpreted. Other interpretations are tried only if the first
 * finds nothing.
 */
function findEdit(
  file: TextFile,
  edit: Edit,
  path: string,
  limits: EditLimits,
  literalAt: LiteralFinder,
): Match & { readonly oldText: string; readonly newText: string } {
  const oldText = file.fromArgument(edit.oldText);
  const newText = file.fromArgument(edit.newText);
  const match = findMatch(file.text, oldText, newText, file.isDecoded, limits);
  if (!file.isDecoded) return { ...match, oldText, newText };
  if (match.regions.length > 0) {
    checkNewText(file, edit.name, { ...match, oldText, newText }, path, literalAt);
    return { ...match, oldText, newText };
  }
  for (const reading of rewrittenTexts(oldText, newText, isDocument(path))) {
    const { without, problem } = reading;
    const texts = { oldText: reading.oldText, newText: reading.newText };
    const found = findMatch(file.text, texts.oldText, texts.newText, true, limits);
    if (
      found.regions.length === 0 ||
      !found.regions.every((region) => isReadAt(file.text, reading, region))
    ) {
      continue;
    }
    if (problem !== undefined) throw unclear(edit.name, problem);
    if (texts.oldText === texts.newText) throw unclear(edit.name, `is old_text without ${without}`);
    checkNewText(file, edit.name, { ...found, ...texts }, path, literalAt);
    const ignoring = [found.ignoring, without].filter((one) => one !== undefined).join(" and ");
    return { ...found, ...texts, ignoring };
  }
  return { ...match, oldText, newText };
}

/** Whether a reading of the old text may mean this place. */
function isReadAt(text: string, { isLines, line }: Rewritten, { start, end }: TextEdit): boolean {
  if (line !== undefined && newlinesBetween(text, 0, start) + 1 !== line) return false;
  if (!isLines) return true;
  const isAtStart = text.slice(lineStart(text, start), start).trim() === "";
  return isAtStart && (text[end - 1] === "\n" || /^$|[\r\n]/.test(text[end] ?? ""));
}

function checkNewText(
  file: TextFile,
  name: string,
  { oldText, newText, regions }: Match & { readonly oldText: string; readonly newText: string },
  path: string,
  literalAt: LiteralFinder,
): void {
  const { start, end } = regions[0] ?? NOWHERE;
  const kind = fileKind(file.text, path, { start, end }, literalAt);
  const problem = newTextProblem(oldText, newText, kind, file.text.slice(0, start), file.text.slice(end));
  if (problem !== undefined) throw unclear(name, problem);
  const placeholder = kind.isDocument ? undefined : findPlaceholder(oldText, newText, file.text, path);
  if (placeholder !== undefined) {
    throw unclear(name, `has ${quote(placeholder)} in place of code, which would be deleted`);
  }
}

function unclear(name: string, problem: string): Error {
  const newName = name.replace(/old_text$/, "new_text");
  return new Error(
    `${newName} ${problem}; nothing was changed. Write the text exactly as the file should have it.`,
  );
}

function absent(file: TextFile, edit: Edit): Error {
  const places = nearestPlaces(file.text, file.fromArgument(edit.oldText), file.toShown);
  const hint = places ?? "Nothing in the file is similar to it; read the file again.";
  return new Error(`${edit.name} was not found; nothing was changed. ${hint}`);
}

function ambiguous(file: TextFile, edit: Edit, regions: readonly TextEdit[]): Error {
  let [counted, line] = [0, 1];
  const named = regions.slice(0, MAX_PLACES_NAMED).map(({ start }) => {
    line += newlinesBetween(file.text, counted, start);
    counted = start;
    return line;
  });
  const more = regions.length > named.length ? ` and ${regions.length - named.length} more` : "";
  return new Error(
    `${edit.name} was found at ${countOf(regions.length, "place")} (lines ${named.join(", ")}${more}); nothing was changed. ` +
      `Add surrounding lines to make it unique, or pass "replace_all": true.`,
  );
}
