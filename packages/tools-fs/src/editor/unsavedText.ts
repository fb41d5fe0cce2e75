import type { Workspace } from "../workspace.js";
import { isPlainText } from "./plainText.js";

/**
 * The text of a file with unsaved changes in the person's editor. `undefined` if there are no unsaved changes, if there
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
    // An editor opens only what belongs to its project; everything else is read from the disk.
    signal?.throwIfAborted();
    return undefined;
  }
  // If the path was replaced by a link meanwhile, the editor may have read another file.
  workspace.assertStillAt(target);
  if (typeof text !== "string") return undefined;
  const before = onDisk.toString("utf8");
  // Editors normalise line breaks: a file with \r\n arrives without \r.
  if (withoutReturns(text) === withoutReturns(before)) return undefined;
  return Buffer.from(usesReturns(before) && !text.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text);
}

function withoutReturns(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function usesReturns(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}
