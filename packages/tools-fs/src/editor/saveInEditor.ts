import { lstatSync, readFileSync } from "node:fs";
import type { Workspace } from "../workspace.js";
import { isPlainText } from "./plainText.js";

/** A text for the editor to save. */
export interface EditorSave {
  /** The canonical path, already checked. */
  readonly target: string;
  /** The same file below its pinned directory. */
  readonly place: string;
  readonly content: Buffer;
  /** Throws if the file has changed since the content was computed. */
  readonly assertUnchanged: () => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * Lets the user's editor write a file, so that its open buffer is updated too. `isExact` tells whether the disk now
 * holds exactly that text: an editor may format on save. `undefined` if there is no editor or it refuses the file: the
 * caller then writes it to the disk.
 */
export async function saveInEditor(
  workspace: Workspace,
  { target, place, content, assertUnchanged, signal }: EditorSave,
): Promise<{ readonly created: boolean; readonly isExact: boolean } | undefined> {
  const { editorFiles } = workspace;
  if (!editorFiles?.writeText || !isPlainText(content)) return undefined;
  const created = lstatSync(place, { throwIfNoEntry: false }) === undefined;
  assertUnchanged();
  workspace.assertStillAt(target);
  try {
    await editorFiles.writeText(target, content.toString("utf8"), signal);
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
  workspace.assertStillAt(target);
  return { created, isExact: holds(place, content) };
}

function holds(place: string, content: Buffer): boolean {
  const info = lstatSync(place, { throwIfNoEntry: false });
  return info?.isFile() === true && info.size === content.length && readFileSync(place).equals(content);
}
