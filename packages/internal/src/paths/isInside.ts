import { nodePath } from "../files/nodeModules.js";

/**
 * Whether a path is a directory or below it. Both are absolute; whole names are compared, never prefixes.
 *
 * @example
 * ```ts
 * import { isInside } from "@agent/core/toolkit";
 *
 * console.log(isInside("/srv/app", "/srv/app/src"), isInside("/srv/app", "/srv/apple")); // true false
 * ```
 */
export function isInside(directory: string, path: string): boolean {
  const way = nodePath.relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${nodePath.sep}`) && !nodePath.isAbsolute(way));
}
