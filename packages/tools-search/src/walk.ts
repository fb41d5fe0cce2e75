import { type Dirent, readdirSync } from "node:fs";
import { IGNORE_FILES, type IgnoreScope } from "./ignore/scope.js";
import { addUnreadable, type Tally } from "./protocol.js";

/** The first batches are small so that every worker has something to do at once. */
const FIRST_BATCH = 64;
const LATER_BATCH = 256;

export interface WalkOptions {
  /** The directory to start from: absolute, with a slash at the end. */
  readonly base: string;
  /** How the start is shown, with a slash at the end unless it is empty. Used to name what is unreadable. */
  readonly shown: string;
  /** The ignore rules in force there, or `undefined` to ignore nothing. */
  readonly ignore: IgnoreScope | undefined;
  readonly tally: Tally;
  /** Whether a file is wanted, by its path from the start. Files that are not are left out without a count. */
  readonly wants?: ((path: string, name: string) => boolean) | undefined;
  /** Whether to look into a directory, by its path from the start. */
  readonly enters?: ((path: string) => boolean) | undefined;
  /** Called once a directory; throws to end the walk. */
  readonly beat: () => void;
}

interface Frame {
  readonly entries: readonly Dirent[];
  /** From the start, with a slash at the end unless it is empty. */
  readonly path: string;
  readonly ignore: IgnoreScope | undefined;
  next: number;
}

/**
 * Walks a directory tree in path order and yields the files in batches. Links are not followed, so that a
 * cycle of links ends and nothing is met twice. What cannot be read is counted and passed over.
 */
export function* walk(options: WalkOptions): Generator<string[]> {
  const { tally, wants, enters } = options;
  const stack: Frame[] = [];
  push(stack, options, "", options.ignore);
  let size = FIRST_BATCH;
  let batch: string[] = [];
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
      if (ignored(options, frame, name, false)) tally.ignoredFiles++;
      else if (batch.push(path) === size) {
        yield batch;
        batch = [];
        size = LATER_BATCH;
      }
    } else if (entry.isDirectory()) {
      if (enters && !enters(path)) continue;
      if (ignored(options, frame, name, true)) tally.ignoredDirectories++;
      else push(stack, options, `${path}/`, frame.ignore);
    } else if (entry.isSymbolicLink()) tally.links++;
    else tally.special++;
  }
  if (batch.length > 0) yield batch;
}

function ignored(options: WalkOptions, frame: Frame, name: string, isDirectory: boolean): boolean {
  if (frame.ignore === undefined) return false;
  if (name === IGNORE_FILES.repository) return true;
  return !frame.ignore.isEmpty && frame.ignore.ignores(options.base + frame.path, name, isDirectory);
}

function push(stack: Frame[], options: WalkOptions, path: string, outer: IgnoreScope | undefined): void {
  options.beat();
  try {
    const entries = readdirSync(options.base + path, { withFileTypes: true }).sort(byPath);
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
    // They are sorted, and these names begin with a dot: the search ends where the dots do.
    if (name > ".z") break;
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
