import { open, stat } from "node:fs/promises";

/** Larger files are generated or data: a server would waste its time on them. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;

/** A text file as it is on disk. */
export interface FileText {
  readonly text: string;
  /** Changes when the file does. */
  readonly stamp: string;
}

/** The text of a file; `undefined` if it does not exist, or is not a UTF-8 text of a limited size. */
export async function readText(path: string): Promise<FileText | undefined> {
  try {
    // A FIFO without a writer would block the open.
    if (!(await stat(path)).isFile()) return undefined;
    const file = await open(path);
    try {
      const info = await file.stat();
      if (!info.isFile() || info.size > MAX_FILE_BYTES) return undefined;
      const bytes = Buffer.alloc(info.size);
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await file.read(bytes, length, bytes.length - length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
      return { text, stamp: stampOf(info) };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** The stamp of a file as it is now; `undefined` if there is no such file. */
export async function readStamp(path: string): Promise<string | undefined> {
  try {
    return stampOf(await stat(path));
  } catch {
    return undefined;
  }
}

function stampOf(info: { readonly mtimeMs: number; readonly size: number; readonly ino: number }): string {
  return `${info.mtimeMs} ${info.size} ${info.ino}`;
}
