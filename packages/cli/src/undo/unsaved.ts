import type { EditorFiles } from "@agent/core";
import type { BlobStore } from "./blobStore.js";
import type { FileState } from "./fileState.js";

/**
 * The states with the unsaved text of the person's editor. A tool edits such a file from the editor's text: undoing to
 * the content on disk would lose the person's own changes.
 */
export async function withUnsaved(
  states: ReadonlyMap<string, FileState>,
  blobs: BlobStore,
  files: EditorFiles | undefined,
): Promise<ReadonlyMap<string, FileState>> {
  if (!files?.readText) return states;
  const found = new Map(states);
  for (const [path, state] of states) {
    if (state.kind !== "file") continue;
    const text = await files.readText(path).catch(() => undefined);
    const onDisk = (await blobs.read(state.blob)).toString("utf8");
    if (typeof text !== "string" || sameLines(text, onDisk)) continue;
    found.set(path, { ...state, blob: await blobs.add(Buffer.from(text)) });
  }
  return found;
}

/** Whether two texts are equal except for line endings, which editors keep apart from the text. */
function sameLines(a: string, b: string): boolean {
  return a.replaceAll("\r\n", "\n") === b.replaceAll("\r\n", "\n");
}
