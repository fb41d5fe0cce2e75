import { readlinkSync, realpathSync } from "node:fs";
import { readStart, withRegularFile } from "../files/readRegularFile.js";
import { isInside } from "./isInside.js";

/**
 * The first `most` bytes of a regular file that lies below a directory with all links followed; `undefined` for any
 * other. What was opened is what is checked: a link that is put in the place of the file or of a directory meanwhile
 * leads nowhere.
 */
export function readRegularFileInside(root: string, path: string, most: number): Buffer | undefined {
  try {
    return withRegularFile(path, (descriptor, size) => {
      if (!isInside(realpathSync(root), openedPath(descriptor, path))) return undefined;
      return readStart(descriptor, Math.min(size, most));
    });
  } catch {
    return undefined;
  }
}

/** Where an open file lies. Without /proc, where its path leads now. */
function openedPath(descriptor: number, path: string): string {
  return process.platform === "linux" ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync(path);
}
