import { canonicalPath, isInside, quote, quotePath, windowsNameProblem } from "@agent/internal";
import type { FileTarget } from "../../tools/callDescription.js";
import { nodeFs, nodePath } from "../files/nodeModules.js";
import { checkObject, checkText, invalidArgument } from "../hostOptions/checks.js";

// As a path, a URL would silently mean a directory named "file:" in the working directory.
const FILE_URL = /^file:\//i;
const ACCESSES: readonly FileTarget["access"][] = ["read", "write", "delete"];

/** Resolves a path argument to an absolute path, and refuses paths outside the root, if there is one. */
export interface PathGuard {
  /** The canonical root, or `undefined` when paths are not confined. */
  readonly root: string | undefined;
  /** The base of relative paths: the working directory, or the root if the working directory is outside of it. */
  readonly base: string;
  /**
   * The absolute path for an argument. With a root, every symlink on the way is resolved first and the result is
   * canonical, even if the path does not exist yet. `follow: false` does not resolve a symlink in the last component
   * (to remove or rename the symlink itself).
   */
  resolve(path: string, options?: { readonly follow?: boolean }): string;
  /**
   * The target of a call on this path, for `describe`: the canonical directory with the last component as written, and what a
   * symlink there leads to, so that rules for either hold. Deleting a symlink leaves what it leads to. Throws like `resolve`.
   */
  target(path: string, access: FileTarget["access"]): FileTarget;
  /** Whether an absolute, canonical path is inside the root. Always true without one. */
  contains(canonicalPath: string): boolean;
}

/**
 * Creates the guard. Throws immediately if the root does not exist. `directory` is the working
 * directory, if it is not that of the process (`PackHost.directory`): a relative root starts there, and one that has nothing
 * to do with it is refused, because calls would act outside of the directory.
 *
 * @example
 * ```ts
 * import { createPathGuard } from "@agent/core/toolkit";
 *
 * const guard = createPathGuard(process.cwd());
 * console.log(guard.contains(guard.resolve("notes/today.md"))); // true
 * console.log(guard.target("notes/today.md", "write").access); // write
 * try {
 *   guard.resolve("../someone-else");
 * } catch {
 *   console.log("outside"); // outside
 * }
 * ```
 */
export function createPathGuard(root?: string, directory?: string): PathGuard {
  if (root === undefined) return new RootGuard(undefined, directory);
  const canonical = canonicalDirectory(root, directory);
  if (directory !== undefined) {
    const here = canonicalPath(directory);
    if (!isInside(canonical, here) && !isInside(here, canonical)) {
      throw new Error(
        `root ${quotePath(root)} has nothing to do with the directory ${quotePath(here)}. Use a relative root, such as ".".`,
      );
    }
  }
  return new RootGuard(canonical, directory);
}

class RootGuard implements PathGuard {
  readonly root: string | undefined;
  readonly #directory: string | undefined;

  constructor(root: string | undefined, directory: string | undefined) {
    this.root = root;
    this.#directory = directory;
  }

  get base(): string {
    return baseOf(this.root, this.#directory);
  }

  contains(path: string): boolean {
    checkText("canonicalPath", path);
    return this.root === undefined || isInside(this.root, path);
  }

  resolve(path: string, options: { readonly follow?: boolean } = {}): string {
    checkObject("options", options);
    const absolute = this.#absolute(path);
    if (this.root === undefined) return absolute;
    const canonical = options.follow === false ? entryOf(absolute) : canonicalPath(absolute);
    if (!this.contains(canonical)) {
      throw new Error(
        `${quotePath(path)} is outside ${quotePath(this.root)}, and only paths inside it are allowed.`,
      );
    }
    return canonical;
  }

  target(path: string, access: FileTarget["access"]): FileTarget {
    if (!ACCESSES.includes(access)) throw invalidArgument("access", '"read", "write" or "delete"', access);
    const resolved = this.resolve(path, { follow: access !== "delete" });
    const entry = entryOf(this.#absolute(path));
    const realPath = access === "delete" ? entry : canonicalPath(resolved);
    return { type: "file", path: entry, ...(realPath !== entry && { realPath }), access };
  }

  #absolute(path: string): string {
    checkText("path", path);
    if (path.includes("\0")) throw new Error(`The path ${quote(path)} contains a NUL character.`);
    if (!path.isWellFormed()) {
      // A lone surrogate would become U+FFFD in the system call, which is another file name.
      throw new Error(`The path ${quote(path)} contains half a character (an unpaired surrogate).`);
    }
    const problem = process.platform === "win32" ? windowsNameProblem(path) : undefined;
    if (problem !== undefined) throw new Error(`The path ${quote(path)} is refused: ${problem}.`);
    if (FILE_URL.test(path)) {
      throw new Error(`${quote(path)} is a URL, not a path. Pass the plain path instead.`);
    }
    return nodePath.isAbsolute(path) ? nodePath.resolve(path) : nodePath.resolve(this.base, path);
  }
}

/** The canonical directory of an absolute path with the last component as written. */
function entryOf(absolute: string): string {
  return nodePath.resolve(canonicalPath(nodePath.dirname(absolute)), nodePath.parse(absolute).base);
}

/**
 * A server may confine an agent to a directory outside its own working directory: the model's "notes.txt" then resolves
 * to the root.
 */
function baseOf(root: string | undefined, cwd = process.cwd()): string {
  return root === undefined || isInside(root, cwd) ? cwd : root;
}

function canonicalDirectory(root: string, directory = "."): string {
  checkText("root", root);
  try {
    return nodeFs.realpathSync.native(nodePath.resolve(directory, root));
  } catch (error) {
    throw new Error(`root ${quote(root)} cannot be used: ${(error as Error).message}`);
  }
}
