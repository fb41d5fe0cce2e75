import { nodeFs } from "../files/nodeModules.js";
import { openedPath } from "../files/openedPath.js";
import { readStart, withRegularFile } from "../files/readRegularFile.js";
import { isInside } from "./isInside.js";

/**
 * The first `most` bytes of a regular file that lies below a directory with all links followed; `undefined` for any
 * other. What was opened is what is checked, as far as `openedPath` can tell: a link that is put in the place of the file
 * or of a directory meanwhile leads nowhere.
 */
export function readRegularFileInside(root: string, path: string, most: number): Buffer | undefined {
  try {
    return withRegularFile(path, (descriptor, size) => {
      const place = openedPath(descriptor, path);
      if (place === undefined || !isInside(nodeFs.realpathSync(root), place)) return undefined;
      return readStart(descriptor, Math.min(size, most));
    });
  } catch {
    return undefined;
  }
}
