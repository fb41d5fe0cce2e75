import { type Dirent, readdirSync } from "node:fs";
import { IGNORE_FILES, type IgnoreScope } from "./ignore/scope.js";
import { addUnreadable, type Tally } from "./protocol.js";

/** The first batches are small so that every worker has something to do at once. */
const FIRST_BATCH = 64;
const LATER_BATCH = 256;
/** After this many directories without a full batch an empty one is yielded, to let other things happen. */
const DIRECTORIES_PER_STEP = 64;
const DOT = 0x2e;

/** What walks may still do. Several can share one; it is counted down as they go. */
export interface WalkBudget {
  /** How many files are wanted by their path. Those beyond are only counted, which is faster: order is of no use there. */
  paths: number;
  /** How many directories may be read. Those beyond are yielded among the files, with a slash at the end. */
  directories: number;
  /** How many files were found, wanted by path or not. */
  found: number;
}

export function unlimitedBudget(): WalkBudget {
  return { paths: Number.POSITIVE_INFINITY, directories: Number.POSITIVE_INFINITY, found: 0 };
}

export interface WalkOptions {
  /** What paths are given from: absolute, with a slash at the end. */
  readonly base: string;
  /** The directory below it to start in, with a slash at the end. Default: the base itself. */
  readonly from?: string | undefined;
  /** How the base is shown, with a slash at the end unless it is empty. Used to name what is unreadable. */
  readonly shown: string;
  /** The ignore rules in force around the start, or `undefined` to ignore nothing. */
  readonly ignore: IgnoreScope | undefined;
  readonly tally: Tally;
  /** Whether a file is wanted, by its path from the base. Files that are not are left out without a count. */
  readonly wants?: ((path: string, name: string) => boolean) | undefined;
  /** Whether to look into a directory, by its path from the base. */
  readonly enters?: ((path: string) => boolean) | undefined;
  /** Called once a directory; throws to end the walk. */
  readonly beat: () => void;
  /** Default: everything. */
  readonly budget?: WalkBudget | undefined;
}

interface Frame {
  readonly entries: readonly Dirent[];
  /** From the base, with a slash at the end unless it is empty. */
  readonly path: string;
  readonly ignore: IgnoreScope | undefined;
  next: number;
}

/**
 * Walks a directory tree in path order and yields the files in batches, which may be empty. Links are not followed, so that a
 * cycle of links ends and nothing is met twice. What cannot be read is counted and passed over.
 */
export function* walk(options: WalkOptions): Generator<string[]> {
  const { tally, wants, enters, from = "", budget = unlimitedBudget() } = options;
  const stack: Frame[] = [];
  push(stack, options, budget, from, options.ignore);
  let size = FIRST_BATCH;
  let batch: string[] = [];
  let read = 1;
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const entry = frame.entries[frame.next++];
    if (entry === undefined) {
      stack.pop();
      continue;
    }
    const { name } = entry;
    const path = frame.path + name;
    if (entry.isFile()) {
      if (wants && !wants(path, name)) continue;
      if (ignored(options, frame, name, false)) {
        tally.ignoredFiles++;
        continue;
      }
      budget.found++;
      if (budget.paths > 0) {
        budget.paths--;
        batch.push(path);
      }
    } else if (entry.isDirectory()) {
      if (enters && !enters(path)) continue;
      if (ignored(options, frame, name, true)) tally.ignoredDirectories++;
      else if (budget.directories <= 0) batch.push(`${path}/`);
      else {
        push(stack, options, budget, `${path}/`, frame.ignore);
        if (++read % DIRECTORIES_PER_STEP === 0) yield [];
      }
    } else if (entry.isSymbolicLink()) tally.links++;
    else tally.special++;
    if (batch.length === size) {
      yield batch;
      batch = [];
      size = LATER_BATCH;
    }
  }
  if (batch.length > 0) yield batch;
}

function ignored(options: WalkOptions, frame: Frame, name: string, isDirectory: boolean): boolean {
  if (frame.ignore === undefined) return false;
  if (name === IGNORE_FILES.repository) return true;
  return !frame.ignore.isEmpty && frame.ignore.ignores(options.base + frame.path, name, isDirectory);
}

function push(
  stack: Frame[],
  options: WalkOptions,
  budget: WalkBudget,
  path: string,
  outer: IgnoreScope | undefined,
): void {
  options.beat();
  budget.directories--;
  try {
    const entries = readdirSync(options.base + path, { withFileTypes: true });
    if (budget.paths > 0) entries.sort(byPath);
    stack.push({ entries, path, ignore: outer?.enter(options.base + path, holds(entries)), next: 0 });
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    // A start that is not there is the caller's to report; anything else was there a moment ago.
    if (code === "ENOENT" || code === "ENOTDIR") options.tally.vanished += path === "" ? 0 : 1;
    else addUnreadable(options.tally, `${options.shown}${path}`, code);
  }
}

function holds(entries: readonly Dirent[]): { git: boolean; other: boolean; repository: boolean } {
  const found = { git: false, other: false, repository: false };
  for (const { name } of entries) {
    // Compared with all of them only if it can be one.
    if (name.charCodeAt(0) !== DOT) continue;
    if (name === IGNORE_FILES.git) found.git = true;
    else if (name === IGNORE_FILES.other) found.other = true;
    else if (name === IGNORE_FILES.repository) found.repository = true;
  }
  return found;
}

/** The order of whole paths: a directory counts as its name with the slash that follows it. */
function byPath(a: Dirent, b: Dirent): number {
  if (a.name.length < b.name.length ? b.name.startsWith(a.name) : a.name.startsWith(b.name)) {
    const first = a.isDirectory() ? `${a.name}/` : a.name;
    const second = b.isDirectory() ? `${b.name}/` : b.name;
    return first < second ? -1 : 1;
  }
  return a.name < b.name ? -1 : 1;
}
