import { nodeFs } from "../files/nodeModules.js";
import { openedPath } from "../files/openedPath.js";
import { readStart, withRegularFile } from "../files/readRegularFile.js";
import { isInside } from "./isInside.js";

/**
 * The first `most` bytes of a regular file below a directory after following symlinks; `undefined` for any other. The
 * opened file is the one that is checked, as far as `openedPath` can determine: a symlink that replaces the file or a
 * directory meanwhile has no effect.
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
