import * as shared from "@agent/internal";

/**
 * The path with every symlink resolved, as far as it exists; components that do not exist yet are appended unchanged.
 *
 * @example
 * ```ts
 * import { mkdirSync, symlinkSync } from "node:fs";
 * import { basename } from "node:path";
 * import { canonicalPath } from "@agent/core/toolkit";
 *
 * mkdirSync("real");
 * symlinkSync("real", "link");
 * console.log(canonicalPath("link/new.txt").endsWith("/real/new.txt"), basename("link")); // true link
 * ```
 */
export const canonicalPath = shared.canonicalPath;

/**
 * `canonicalPath` for many paths that share directories: each directory is looked up once.
 *
 * @example
 * ```ts
 * import { canonicalPaths } from "@agent/core/toolkit";
 *
 * console.log(canonicalPaths(["/no/such/a", "/no/such/b"]).join(" ")); // /no/such/a /no/such/b
 * ```
 */
export const canonicalPaths = shared.canonicalPaths;

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
export const isInside = shared.isInside;

/**
 * Normalises a path for comparison, with "/" as the separator. Ignores case, composition and invisible characters, as
 * some file systems do.
 *
 * @example
 * ```ts
 * import { foldPath } from "@agent/core/toolkit";
 *
 * console.log(foldPath(".GIT/Hooks")); // .git/hooks
 * ```
 */
export const foldPath = shared.foldPath;
