import type { EditorFiles } from "@agent/core";
import { unsavedText } from "@agent/internal";
import type { BlobStore } from "./blobStore.js";
import type { FileState } from "./fileState.js";

/**
 * The states with the unsaved text of the user's editor. A tool edits such a file from the editor's text: undoing to
 * the content on disk would lose the user's own changes.
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
    const inEditor = await files.readText(path).catch(() => undefined);
    const text = unsavedText((await blobs.read(state.blob)).toString("utf8"), inEditor);
    if (text !== undefined) found.set(path, { ...state, blob: await blobs.add(Buffer.from(text)) });
  }
  return found;
}
