import { nodeFs, nodePath } from "./nodeModules.js";

/**
 * Creates a directory and its missing parents. Node's own `recursive` never returns where no directory can be created,
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
