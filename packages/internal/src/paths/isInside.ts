import { nodePath } from "../files/nodeModules.js";

/** Whether `path` is `directory` or below it. Both absolute; compares whole names, never prefixes. */
export function isInside(directory: string, path: string): boolean {
  const way = nodePath.relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(way));
}
