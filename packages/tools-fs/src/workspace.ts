import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { AccessNeed, AccessRules, EditorFiles, PackHost, ToolCall } from "@agent/core";
import {
  assertAccess,
  canonicalPath,
  createPathGuard,
  findAccessNeed,
  invalidArgument,
  lockDirectory,
  openedPath,
  type PathGuard,
  pinDirectory,
} from "@agent/core/toolkit";
import { checkedOptions, DEFAULT_LIMITS, type FsLimits, type FsOptions } from "./options.js";
import { PathLocks } from "./paths/pathLocks.js";
import { showPath } from "./paths/pathText.js";
import { type NewContent, Protection } from "./protect/protection.js";
import type { ProtectedChange } from "./protect/rules.js";
import { LineIndexes } from "./read/lineIndexes.js";
import { SeenFiles } from "./read/seenFiles.js";
import { withProcessLocks } from "./write/processLocks.js";

/** The effect of a call on one canonical path. `move` removes it and makes it readable elsewhere. */
type Action = "read" | "move" | ProtectedChange;

/** One step of a call: the operation and its canonical path. */
export interface WorkspaceStep {
  readonly action: Action;
  readonly path: string;
  /** The new content, for files that are partly protected. */
  readonly newContent?: NewContent;
  /** The path with its last component as written, if a symlink there was followed. */
  readonly entry?: string;
  /** Whether the step includes everything below the path. */
  readonly tree?: boolean;
  /** The first line that the call affects. */
  readonly line?: number;
}

const NONE: readonly string[] = [];

/** The part of a pack's host that the file tools use. */
export type WorkspaceHost = Pick<
  PackHost,
  "access" | "protectedPaths" | "protectedNames" | "editorFiles" | "directory"
>;

/**
 * The state that the tools of one registry share: the root, protected paths, and which files were read. Growing
 * collections are created on first use: a server has many agents that never touch a file.
 */
export class Workspace {
  readonly limits: FsLimits;
  readonly guard: PathGuard;
  /** The files of the user's editor, if there is one. */
  readonly editorFiles: EditorFiles | undefined;
  readonly #access: AccessRules | undefined;
  /** Whether paths are confined or subject to rules, so that directories are opened and checked before use. */
  readonly pins: boolean;
  readonly #base: string;
  readonly #protect: FsOptions["protect"];
  readonly #hostPaths: readonly string[];
  readonly #hostNames: readonly string[];
  #protection: Protection | undefined;
  #seen: SeenFiles | undefined;
  #lineIndexes: LineIndexes | undefined;
  #locks: PathLocks | undefined;

  /** Throws for an unknown or mistyped option, and if `root` does not exist. */
  constructor(given?: FsOptions, host: WorkspaceHost = {}) {
    const { access, protectedPaths = NONE, protectedNames = NONE, editorFiles, directory } = host;
    const options = checkedOptions(given);
    this.limits = {
      maxReadBytes: options.maxReadBytes ?? DEFAULT_LIMITS.maxReadBytes,
      maxReadLines: options.maxReadLines ?? DEFAULT_LIMITS.maxReadLines,
      maxEntries: options.maxEntries ?? DEFAULT_LIMITS.maxEntries,
    };
    this.guard = createPathGuard(options.root, directory);
    this.#access = access;
    this.editorFiles = editorFiles;
    this.pins = this.guard.root !== undefined || access !== undefined || protectedPaths.length > 0;
    this.#base = this.guard.root ?? directory ?? process.cwd();
    this.#protect = options.protect;
    this.#hostPaths = protectedPaths;
    this.#hostNames = protectedNames;
  }

  get protection(): Protection {
    this.#protection ??= new Protection({
      base: this.#base,
      protect: this.#protect,
      confined: this.guard.root !== undefined,
      asks: this.#access !== undefined,
      tops: this.#access?.writable ?? [],
      // With its locks removed, another process could change a file at the same time.
      hostPaths: [...this.#hostPaths, lockDirectory()],
      hostNames: this.#hostNames,
    });
    return this.#protection;
  }

  get seen(): SeenFiles {
    this.#seen ??= new SeenFiles();
    return this.#seen;
  }

  get lineIndexes(): LineIndexes {
    this.#lineIndexes ??= new LineIndexes();
    return this.#lineIndexes;
  }

  /** The canonical path of a path argument, with symlinks followed. The path need not exist yet. */
  locate(path: string): string {
    const resolved = this.guard.resolve(path);
    // With a root, `resolved` is already canonical and checked. Resolving it again could reach an unchecked path.
    return this.guard.root === undefined ? canonicalPath(resolved) : resolved;
  }

  /** Like `locate`, but a symlink as the last component is not followed: the call acts on the symlink itself. */
  locateEntry(path: string): string {
    const resolved = this.guard.resolve(path, { follow: false });
    if (this.guard.root !== undefined) return resolved;
    return join(canonicalPath(dirname(resolved)), basename(resolved));
  }

  /** Both: the resolved path, and the path with its last component as written. */
  locateBoth(path: string): { readonly path: string; readonly entry: string } {
    return { path: this.locate(path), entry: this.locateEntry(path) };
  }

  /** Like `locate`, for writing: throws if the path as written, or its canonical path, is protected. */
  locateToWrite(path: string, call: ToolCall | undefined): string {
    const target = this.locate(path);
    const written = resolve(this.guard.base, path);
    // "sub/.git/hooks" may be a symlink to a directory whose own name is not protected.
    if (written !== target) this.protection.check("write", written);
    this.assertAllowed({ action: "write", path: target }, call);
    return target;
  }

  /** The access that the user has to grant before a step, under the host's access rules. */
  findNeeds({ action, path, newContent }: WorkspaceStep): AccessNeed[] {
    // The step does nothing in that case.
    if (action === "makeDirectory" && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
    const withContents = action === "move" || action === "takeAway";
    const reads = action === "read" || action === "move";
    const needs = [
      reads ? findAccessNeed(this.#access, "read", path, { withContents }) : undefined,
      action === "read"
        ? undefined
        : (findAccessNeed(this.#access, "write", path, { withContents }) ??
          this.protection.findNeed(changeOf(action), path) ??
          (newContent && this.protection.findContentNeed(path, newContent))),
    ];
    return needs.filter((need) => need !== undefined);
  }

  /** Throws unless the host's access rules and the protection allow a step, or the user granted it for this call. */
  assertAllowed({ action, path }: WorkspaceStep, call: Pick<ToolCall, "granted"> | undefined): void {
    const withContents = action === "move" || action === "takeAway";
    if (action === "read" || action === "move") {
      assertAccess(this.#access, "read", path, call?.granted, { withContents });
    }
    if (action === "read") return;
    this.protection.checkGranted(changeOf(action), path, call?.granted);
    assertAccess(this.#access, "write", path, call?.granted, { withContents });
  }

  /**
   * Throws unless the open file is inside the root and the access rules allow reading it. `path` is the canonical path
   * that was opened. Final: an open file cannot be swapped.
   */
  assertOpened(fd: number, path: string, shown: string, call: Pick<ToolCall, "granted"> | undefined): void {
    if (!this.pins) return;
    const place = openedPath(fd, path);
    if (place === undefined) throw new Error(`${showPath(shown)} was replaced while it was opened.`);
    if (!this.guard.contains(place)) {
      throw new Error(
        `${showPath(shown)} was moved outside ${showPath(this.guard.root ?? "")} while it was opened.`,
      );
    }
    this.assertAllowed({ action: "read", path: place }, call);
  }

  /** Throws if a canonical path now resolves elsewhere. For work that another program (an editor) does by path. */
  assertStillAt(target: string): void {
    if (canonicalPath(target) === target) return;
    throw new Error(`${showPath(target)} was replaced by a link to another place while it was in use.`);
  }

  /**
   * Opens a directory by its canonical path for work inside it. If paths are confined or subject to rules, the
   * directory is checked after it was opened, so that nothing can be swapped between the check and the use.
   */
  pin(directory: string): { readonly path: string; close(): void } {
    if (!this.pins) return { path: directory, close: () => undefined };
    return pinDirectory(directory, directory);
  }

  /** Runs `work` while no other call, and no other process with these tools, changes any of the canonical paths. */
  async change<T>(paths: readonly string[], work: () => Promise<T>, call?: ToolCall): Promise<T> {
    this.#locks ??= new PathLocks();
    return await this.#locks.run(paths, () => withProcessLocks(paths, work, call), call);
  }
}

function changeOf(action: Exclude<Action, "read">): ProtectedChange {
  return action === "move" ? "takeAway" : action;
}

/** Throws unless the value is a workspace. Checks the shape, so that one from another copy of this package is accepted. */
export function checkWorkspace(workspace: Workspace): void {
  if (typeof workspace?.locate === "function") return;
  throw invalidArgument("workspace", "a Workspace", workspace);
}
