import { isAbsolute, resolve } from "node:path";
import { isRecord } from "@agent/core/toolkit";
import type { Diff, ToolCallContent } from "@agentclientprotocol/sdk";
import type { TextReader } from "./textReader.js";

type Args = Readonly<Record<string, unknown>>;
type DiffContent = Diff & { readonly type: "diff" };

interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

/**
 * The difference a write or an edit would make: judged by its arguments, so that tools of other packs have it too. An
 * edit whose text is not there as such is shown by its own words: the tool may find it with other spaces or quotes.
 */
export async function predictDiffs(args: Args, cwd: string, read: TextReader): Promise<DiffContent[]> {
  const { path, content } = args;
  if (typeof path !== "string" || path === "") return [];
  const file = isAbsolute(path) ? path : resolve(cwd, path);
  if (typeof content === "string") return [diffOf(file, await read(file), content)];
  const replacements = replacementsOf(args);
  if (replacements.length === 0) return [];
  const before = await read(file);
  const after = before === undefined ? undefined : applyAll(before, replacements);
  if (before === undefined || after === undefined) {
    return replacements.map(({ oldText, newText }) => diffOf(file, oldText, newText));
  }
  return [diffOf(file, before, after)];
}

/** What a call really changed, once it has ended. */
export async function actualDiffs(
  before: ReadonlyMap<string, string | undefined>,
  read: TextReader,
): Promise<ToolCallContent[]> {
  const diffs: ToolCallContent[] = [];
  for (const [file, text] of before) {
    const now = await read(file);
    if (now !== undefined && now !== text) diffs.push(diffOf(file, text, now));
  }
  return diffs;
}

/** The first line that an edit changes, counted from 1: where an editor looks along. */
export function changedLine({ oldText, newText }: Diff): number | undefined {
  if (oldText === undefined || oldText === null) return undefined;
  const [before, after] = [oldText.split("\n"), newText.split("\n")];
  const at = before.findIndex((line, index) => line !== after[index]);
  return at === -1 ? before.length : at + 1;
}

function diffOf(path: string, before: string | undefined, newText: string): DiffContent {
  return { type: "diff", path, newText, ...(before !== undefined && { oldText: before }) };
}

function replacementsOf(args: Args): Replacement[] {
  const several: unknown[] = Array.isArray(args.edits) ? args.edits : [];
  return [args, ...several].flatMap((edit) => {
    if (!isRecord(edit)) return [];
    const { old_text: oldText, new_text: newText, replace_all: all } = edit;
    if (typeof oldText !== "string" || typeof newText !== "string" || oldText === "") return [];
    return [{ oldText, newText, all: all === true }];
  });
}

function applyAll(before: string, replacements: readonly Replacement[]): string | undefined {
  let text = before;
  for (const { oldText, newText, all } of replacements) {
    if (!text.includes(oldText)) return undefined;
    text = all ? text.replaceAll(oldText, () => newText) : text.replace(oldText, () => newText);
  }
  return text;
}
