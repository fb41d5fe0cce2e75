import { basename, dirname, join, resolve } from "node:path";
import { canonicalPath, createPathGuard, invalidArgument, type PathGuard } from "@agent/core/toolkit";
import { type HeldDirectory, holdDirectory } from "./heldDirectory.js";
import { LineIndexes } from "./lineIndexes.js";
import { checkedOptions, DEFAULT_LIMITS, type FsOptions, type Limits } from "./options.js";
import { PathLocks } from "./pathLocks.js";
import { Protection } from "./protect.js";
import { SeenFiles } from "./seenFiles.js";

/** What the tools of one registry share: where they may go, what they may not touch, what they have seen. */
export class Workspace {
  readonly limits: Limits;
  readonly guard: PathGuard;
  readonly protection: Protection;
  readonly locks = new PathLocks();
  readonly seen = new SeenFiles();
  readonly lineIndexes = new LineIndexes();

  /** Throws on an unknown or mistyped option, and if `root` does not exist. */
  constructor(given?: FsOptions) {
    const options = checkedOptions(given);
    this.limits = {
      maxReadBytes: options.maxReadBytes ?? DEFAULT_LIMITS.maxReadBytes,
      maxReadLines: options.maxReadLines ?? DEFAULT_LIMITS.maxReadLines,
      maxEntries: options.maxEntries ?? DEFAULT_LIMITS.maxEntries,
    };
    this.guard = createPathGuard(options.root);
    const base = this.guard.root ?? process.cwd();
    this.protection = new Protection(base, options.protect, this.guard.root !== undefined);
  }

  /** The canonical path of what an argument means, links followed; also for what does not exist yet. */
  locate(path: string): string {
    const resolved = this.guard.resolve(path);
    // Confined, it is canonical and checked: to resolve it once more could lead elsewhere, unchecked.
    return this.guard.root === undefined ? canonicalPath(resolved) : resolved;
  }

  /** As `locate`, to write there: throws if that is protected, by the name that was given or where it leads. */
  locateToWrite(path: string): string {
    const target = this.locate(path);
    const written = resolve(path);
    // "sub/.git/hooks" may be a link to a directory of an innocent name.
    if (written !== target) this.protection.checkWrite(written);
    this.protection.checkWrite(target);
    return target;
  }

  /** As `locate`, but a link in the last place is not followed: the entry itself is meant. */
  locateEntry(path: string): string {
    const resolved = this.guard.resolve(path, { follow: false });
    if (this.guard.root !== undefined) return resolved;
    return join(canonicalPath(dirname(resolved)), basename(resolved));
  }

  /**
   * Opens a directory by its canonical path for work inside it. When paths are confined, the directory is
   * checked after it was opened, so that nothing can be swapped in between the check and the use.
   */
  hold(directory: string): Pick<HeldDirectory, "path" | "close"> {
    if (this.guard.root === undefined) return { path: directory, close: () => undefined };
    return holdDirectory(directory, directory);
  }
}

/** Throws unless a tool was handed a workspace. Any that looks like one will do, also of another copy. */
export function checkedWorkspace(workspace: Workspace): Workspace {
  if (typeof workspace?.locate === "function") return workspace;
  throw invalidArgument("workspace", "a Workspace", workspace);
}
