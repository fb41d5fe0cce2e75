import type { Dirent } from "node:fs";
import { IGNORE_FILES, type IgnoreScope } from "@agent/core/toolkit";
import { addNotSearched, addUnreadable, type Tally } from "../protocol.js";
import type { Boundary } from "./boundary.js";
import { NotSearched } from "./notSearched.js";

/** The first batches are small so that every worker has something to do immediately. */
const FIRST_BATCH = 64;
const LATER_BATCH = 256;
/** After this many directories without a full batch an empty one is yielded, to let other work run. */
const DIRECTORIES_PER_STEP = 64;
const DOT = 0x2e;

/** The remaining budget of a walk. Several walks can share one and count it down. */
interface WalkBudget {
  /** How many files are needed by path. Further ones are only counted, which is faster because they need no order. */
  paths: number;
  /** How many directory entries may be read. Further directories are yielded among the files, with a trailing slash. */
  entries: number;
  /** How many files were found, needed by path or not. */
  found: number;
}

function unlimitedBudget(): WalkBudget {
  return { paths: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY, found: 0 };
}

export interface WalkOptions {
  /** The directory that paths are relative to: absolute, with a trailing slash. */
  readonly base: string;
  /** The directory below it to start in, with a trailing slash. Default: the base itself. */
  readonly from?: string | undefined;
  /** How the base is displayed, with a trailing slash unless it is empty. Used to name unreadable paths. */
  readonly shown: string;
  /** The ignore rules in effect around the start, or `undefined` to ignore nothing. */
  readonly ignore: IgnoreScope | undefined;
  readonly boundary: Boundary;
  readonly tally: Tally;
  /** Whether to include a file, by its path from the base. Excluded files are not counted. */
  readonly wants?: ((path: string, name: string) => boolean) | undefined;
  /** Whether to enter a directory, by its path from the base. */
  readonly enters?: ((path: string) => boolean) | undefined;
  /** Called once per directory; throws to stop the walk. */
  readonly heartbeat: () => void;
  /** Default: everything. */
  readonly budget?: WalkBudget | undefined;
}

/** A directory that was read. */
interface Frame {
  /** The matching entries, in path order if that matters: files, and directories with a trailing slash. */
  readonly names: readonly string[];
  /** From the base, with a slash at the end unless it is empty. */
  readonly path: string;
  readonly ignore: IgnoreScope | undefined;
  next: number;
}

/**
 * Walks a directory tree in path order and yields the files in batches, which may be empty. Symlinks are not followed,
 * so a cycle ends and nothing is visited twice. Unreadable entries are counted and skipped.
 */
export function* walk(options: WalkOptions): Generator<string[]> {
  const { from = "", budget = unlimitedBudget() } = options;
  const stack: Frame[] = [];
  const enter = (path: string, outer: IgnoreScope | undefined): void => {
    const frame = read(options, budget, path, outer);
    if (frame) stack.push(frame);
  };
  enter(from, options.ignore);
  let size = FIRST_BATCH;
  let batch: string[] = [];
  let entered = 1;
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const name = frame.names[frame.next++];
    if (name === undefined) {
      stack.pop();
      continue;
    }
    const path = frame.path + name;
    if (name.endsWith("/") && budget.entries > 0) {
      enter(path, frame.ignore);
      if (++entered % DIRECTORIES_PER_STEP === 0) yield [];
      continue;
    }
    if (!name.endsWith("/")) {
      budget.found++;
      if (budget.paths <= 0) continue;
      budget.paths--;
    }
    if (batch.push(path) === size) {
      yield batch;
      batch = [];
      size = LATER_BATCH;
    }
  }
  if (batch.length > 0) yield batch;
}

function read(
  options: WalkOptions,
  budget: WalkBudget,
  path: string,
  outer: IgnoreScope | undefined,
): Frame | undefined {
  options.heartbeat();
  try {
    const entries = options.boundary.readDirectory(options.base + path);
    budget.entries -= 1 + entries.length;
    const ignore = outer?.enter(options.base + path, holds(entries));
    const names = wantedNames(options, budget, entries, path, ignore);
    // With its slash a directory sorts where the paths in it belong.
    return { names: budget.paths > 0 ? names.sort() : names, path, ignore, next: 0 };
  } catch (error) {
    if (error instanceof NotSearched) {
      addNotSearched(options.tally, `${options.shown}${path}`, error, false);
      return undefined;
    }
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    // A name that is not UTF-8 cannot be passed back to the system unchanged.
    if (code === "ENOENT" && path.includes("\ufffd")) {
      addUnreadable(options.tally, `${options.shown}${path}`, "name is not UTF-8");
    }
    // The caller reports a missing start directory; any other directory existed a moment ago.
    else if (code === "ENOENT" || code === "ENOTDIR") options.tally.vanished += path === "" ? 0 : 1;
    else addUnreadable(options.tally, `${options.shown}${path}`, code);
    return undefined;
  }
}

function wantedNames(
  { base, boundary, tally, wants, enters }: WalkOptions,
  budget: WalkBudget,
  entries: readonly Dirent[],
  path: string,
  ignore: IgnoreScope | undefined,
): string[] {
  const isSecret = boundary.secretEntries(base + path);
  const names: string[] = [];
  for (const entry of entries) {
    const { name } = entry;
    if (entry.isFile()) {
      if (wants && !wants(path + name, name)) continue;
      if (isSecret?.(name)) tally.secret++;
      else if (ignored(ignore, base + path, name, false)) tally.ignoredFiles++;
      else if (budget.paths > 0) names.push(name);
      else budget.found++;
    } else if (entry.isDirectory()) {
      if (enters && !enters(path + name)) continue;
      if (isSecret?.(name)) tally.secret++;
      else if (ignored(ignore, base + path, name, true)) tally.ignoredDirectories++;
      else names.push(`${name}/`);
    } else if (entry.isSymbolicLink()) tally.links++;
    else tally.special++;
  }
  return names;
}

function ignored(
  scope: IgnoreScope | undefined,
  directory: string,
  name: string,
  isDirectory: boolean,
): boolean {
  if (scope === undefined) return false;
  if (name === IGNORE_FILES.repository) return true;
  return !scope.isEmpty && scope.ignores(directory, name, isDirectory);
}

function holds(entries: readonly Dirent[]): { git: boolean; other: boolean; repository: boolean } {
  const found = { git: false, other: false, repository: false };
  for (const { name } of entries) {
    // Compared with all of them only if it may be one.
    if (name.charCodeAt(0) !== DOT) continue;
    if (name === IGNORE_FILES.git) found.git = true;
    else if (name === IGNORE_FILES.other) found.other = true;
    else if (name === IGNORE_FILES.repository) found.repository = true;
  }
  return found;
}
