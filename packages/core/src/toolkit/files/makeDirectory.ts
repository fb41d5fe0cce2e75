import { nodeFs, nodePath } from "./nodeModules.js";

/**
 * Makes a directory and the missing ones above it. Node's own `recursive` never returns where no directory can be made,
 * such as below /proc.
 */
export function makeDirectory(path: string, mode?: number): void {
  try {
    nodeFs.mkdirSync(path, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && nodeFs.statSync(path).isDirectory()) return;
    const parent = nodePath.dirname(path);
    if (code !== "ENOENT" || parent === path || nodeFs.existsSync(parent)) throw error;
    makeDirectory(parent, mode);
    nodeFs.mkdirSync(path, mode);
  }
}
