import type { EditorFiles } from "@agent/core";
import { canonicalPath, isInside, readRegularFile, unsavedText } from "@agent/internal";

const MAX_BYTES = 4 * 1024 * 1024;

/** Reads the text of a file for a diff; `undefined` for a file that is missing, binary or huge. */
export type TextReader = (path: string) => Promise<string | undefined>;

/** Reads files as the person sees them: for files of the project, with unsaved changes in the editor. */
export function textReader(roots: readonly string[], files: EditorFiles | undefined): TextReader {
  const real = roots.map((root) => canonicalPath(root));
  return async (path) => {
    const onDisk = readDisk(path);
    const target = canonicalPath(path);
    const isAsked = onDisk !== undefined && real.some((root) => isInside(root, target));
    if (!isAsked || !files?.readText) return onDisk;
    const inEditor = await files.readText(target).catch(() => undefined);
    return unsavedText(onDisk, inEditor) ?? onDisk;
  };
}

/** Never waits for a pipe or a device: the model chooses the path and could name one. */
function readDisk(path: string): string | undefined {
  const bytes = readRegularFile(path, MAX_BYTES + 1);
  if (bytes === undefined || bytes.length > MAX_BYTES || bytes.includes(0)) return undefined;
  return bytes.toString("utf8");
}
