import { isAbsolute, resolve } from "node:path";
import { isRecord } from "@agent/core/toolkit";
import { applyEdits, editsOf } from "@agent/internal";
import type { Diff, ToolCallContent } from "@agentclientprotocol/sdk";
import type { TextReader } from "./textReader.js";

type Args = Readonly<Record<string, unknown>>;
type DiffContent = Diff & { readonly type: "diff" };

/** The longest text that is shown as the result of an edit. */
const LONGEST_RESULT = 8 * 1024 * 1024;

const EDIT_ARGUMENTS: readonly string[] = ["old_text", "new_text", "replace_all"];

/**
 * The diff that a write or an edit would make. Computed from the arguments, so that it works for tools of other packs
 * too. If the file does not hold the old text exactly, the diff shows the old and new text of the arguments: the tool may
 * find the old text with other spaces or quotes.
 */
export async function predictDiffs(args: Args, cwd: string, read: TextReader): Promise<DiffContent[]> {
  const { path, content } = args;
  if (typeof path !== "string" || path === "") return [];
  const file = isAbsolute(path) ? path : resolve(cwd, path);
  if (typeof content === "string") return [diffOf(file, await read(file), content)];
  const edits = editsOf(args);
  if (edits.length === 0) return [];
  const before = await read(file);
  const after = before === undefined ? undefined : applyEdits(before, edits, LONGEST_RESULT);
  if (before === undefined || after === undefined) {
    return edits.map(({ oldText, newText }) => diffOf(file, oldText, newText));
  }
  return [diffOf(file, before, after)];
}

/** The arguments that the diff does not show: a tool of another pack may take any others. */
export function argumentsBesideDiff(args: Args): Args {
  const { content, edits } = args;
  const isWhole = Array.isArray(edits) && edits.every(isPlainEdit);
  const shown =
    typeof content === "string" ? ["content"] : [...EDIT_ARGUMENTS, ...(isWhole ? ["edits"] : [])];
  return Object.fromEntries(
    Object.entries(args).filter(([name]) => name !== "path" && !shown.includes(name)),
  );
}

/** The diffs of what a call really changed, once it has ended. */
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

/** The first line that an edit changes, counted from 1: an editor that follows the agent scrolls there. */
export function changedLine({ oldText, newText }: Diff): number | undefined {
  if (oldText === undefined || oldText === null) return undefined;
  const [before, after] = [oldText.split("\n"), newText.split("\n")];
  const at = before.findIndex((line, index) => line !== after[index]);
  return at === -1 ? before.length : at + 1;
}

function diffOf(path: string, before: string | undefined, newText: string): DiffContent {
  return { type: "diff", path, newText, ...(before !== undefined && { oldText: before }) };
}

function isPlainEdit(edit: unknown): boolean {
  return isRecord(edit) && Object.keys(edit).every((name) => EDIT_ARGUMENTS.includes(name));
}
