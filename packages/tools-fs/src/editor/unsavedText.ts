import type { Workspace } from "../workspace.js";
import { isPlainText } from "./plainText.js";

/**
 * The text that the person's editor has of a file and the disk does not: unsaved changes. `undefined` where there are
 * none, where there is no editor, and for files that are no plain text. `target` is canonical and was checked.
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
  // A link that was put in the way meanwhile could have led the editor to another file.
  workspace.assertStillAt(target);
  if (typeof text !== "string") return undefined;
  const before = onDisk.toString("utf8");
  // Editors keep line breaks apart from the text: a file with \r\n comes without \r.
  if (withoutReturns(text) === withoutReturns(before)) return undefined;
  return Buffer.from(usesReturns(before) && !text.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text);
}

function withoutReturns(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function usesReturns(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}
