import * as shared from "@agent/internal";

/**
 * The git repository of a path: that of the nearest worktree above it, unless another user owns it.
 *
 * @example
 * ```ts
 * import { findRepository } from "@agent/core/toolkit";
 *
 * console.log(findRepository("/no/such/place")); // undefined
 * ```
 */
export const findRepository = shared.findRepository;

/**
 * Finds files that git runs or reads because of its configuration: hooks at `core.hooksPath`, included configuration,
 * filter and diff programs. A tool that writes files refuses them.
 *
 * @example
 * ```ts
 * import { GitConfigs } from "@agent/core/toolkit";
 *
 * console.log(new GitConfigs().findKey("/no/such/file")); // undefined
 * ```
 */
export const GitConfigs = shared.GitConfigs;
export type GitConfigs = shared.GitConfigs;

/**
 * Names of files whose presence in a directory affects what is ignored below it.
 *
 * @example
 * ```ts
 * import { IGNORE_FILES } from "@agent/core/toolkit";
 *
 * console.log(IGNORE_FILES.git); // .gitignore
 * ```
 */
export const IGNORE_FILES = shared.IGNORE_FILES;

/** Reads ignore files for an `IgnoreScope`. A file that it refuses is treated as missing. */
export type IgnoreFileReader = shared.IgnoreFileReader;

/**
 * The ignore rules in effect in a directory, as git and search tools apply them. `enter` returns the rules one
 * directory deeper.
 *
 * @example
 * ```ts
 * import { readFileSync, writeFileSync } from "node:fs";
 * import { IgnoreScope } from "@agent/core/toolkit";
 *
 * writeFileSync(".ignore", "build/\n");
 * const here = `${process.cwd()}/`;
 * const scope = IgnoreScope.none({ readText: (file) => readFileSync(file, "utf8") }).enter(here, {
 *   git: false,
 *   other: true,
 *   repository: false,
 * });
 * console.log(scope.ignores(here, "build", true), scope.ignores(here, "src", true)); // true false
 * ```
 */
export const IgnoreScope = shared.IgnoreScope;
export type IgnoreScope = shared.IgnoreScope;
