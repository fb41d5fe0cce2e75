import { unsavedText } from "@agent/core/toolkit";
import type { Workspace } from "../workspace.js";
import { isPlainText } from "./plainText.js";

/**
 * The text of a file with unsaved changes in the user's editor. `undefined` if there are no unsaved changes, if there
 * is no editor, and for files that are not plain text. `target` is canonical and already checked.
 */
export async function readUnsaved(
  workspace: Workspace,
  target: string,
  onDisk: Buffer,
  signal: AbortSignal | undefined,
): Promise<Buffer | undefined> {
  const { editorFiles } = workspace;
  if (!editorFiles?.readText || !isPlainText(onDisk)) return undefined;
  workspace.assertStillAt(target);
  let text: unknown;
  try {
    text = await editorFiles.readText(target, signal);
  } catch {
    // An editor opens only files of its project; everything else is read from the disk.
    signal?.throwIfAborted();
    return undefined;
  }
  // If the path was replaced with a symlink meanwhile, the editor may have read another file.
  workspace.assertStillAt(target);
  const unsaved = unsavedText(onDisk.toString("utf8"), text);
  return unsaved === undefined ? undefined : Buffer.from(unsaved);
}
