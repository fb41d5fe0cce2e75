import { countOf } from "@agent/internal";
import { EditLimits, findMatch, type Region } from "./match.js";
import { nearestPlaces } from "./nearestPlaces.js";
import type { TextFile } from "./textFile.js";
import { newlinesBetween } from "./textLines.js";

const MAX_PLACES_NAMED = 10;
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
  readonly regions: readonly Region[];
  /** The differences that were ignored, one sentence per edit that did not match exactly. */
  readonly remarks: readonly string[];
}

/**
 * Finds where every edit applies, all against the same text. Throws if the text of one edit is absent or ambiguous, if
 * two edits overlap, or if the result would be too large; the error names the places. The caller then changes nothing.
 */
export function planEdits(file: TextFile, edits: readonly Edit[]): EditPlan {
  if (edits.length * file.text.length > MAX_SEARCHED) {
    throw new Error(
      `${edits.length} edits are too many for a file of this size; nothing was changed. Make several calls.`,
    );
  }
  const remarks: string[] = [];
  const limits = new EditLimits(file.sizeOf);
  const found = edits.map((edit) => {
    const { regions, ignoring } = findMatch(
      file.text,
      file.fromArgument(edit.oldText),
      file.fromArgument(edit.newText),
      file.isDecoded,
      limits,
    );
    if (regions.length === 0) throw absent(file, edit);
    if (regions.length > 1 && !edit.replaceAll) throw ambiguous(file, edit, regions);
    if (ignoring !== undefined) remarks.push(`${edit.name} matched only after ignoring ${ignoring}.`);
    return regions;
  });
  const regions = found.flat().sort((a, b) => a.start - b.start);
  const nameOf = (region: Region): string | undefined =>
    edits[found.findIndex((regions) => regions.includes(region))]?.name;
  for (const [index, region] of regions.entries()) {
    const next = regions[index + 1];
    if (next && region.end > next.start) {
      throw new Error(
        `${nameOf(region)} and ${nameOf(next)} overlap; nothing was changed. Make them one edit.`,
      );
    }
  }
  return { regions, remarks };
}

function absent(file: TextFile, edit: Edit): Error {
  const places = nearestPlaces(file.text, file.fromArgument(edit.oldText), file.toShown);
  const hint = places ?? "Nothing in the file is similar to it; read the file again.";
  return new Error(`${edit.name} was not found; nothing was changed. ${hint}`);
}

function ambiguous(file: TextFile, edit: Edit, regions: readonly Region[]): Error {
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
