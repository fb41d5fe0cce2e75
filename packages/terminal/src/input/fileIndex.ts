import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { IGNORE_FILES, IgnoreScope, PLAIN_READER } from "@agent/internal";
import { bestMatches, type Candidate, toCandidate } from "./fuzzy.js";

const MOST_FILES = 300_000;
const MOST_MS = 10_000;
/** The maximum time the terminal may not respond to keys. */
const BUSY_MS = 10;
/** The number of names that are checked against all rules without a pause. */
const MOST_RULE_BYTES = 32 * 1024;
const FRESH_MS = 5000;
const VERSION_CONTROL = new Set([".git", ".hg", ".svn"]);
// Directories to skip if no ignore rule applies.
const SKIPPED = new Set(["node_modules", "__pycache__", ".venv", "target", "dist"]);
const CONTROL = /\p{Cc}/u;

/**
 * The files and directories of a project, for completion. They are read in the background on first use, and again when
 * the list is older than a few seconds. A query searches the current list.
 */
export class FileIndex {
  readonly #root: string;
  #candidates: readonly Candidate[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** The last query and its matches: a longer query can only match some of those. */
  #narrowed: { readonly query: string; readonly matching: readonly Candidate[] } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Resolves once the project has been read. Never rejects. */
  refresh(now = performance.now()): Promise<void> {
    if (this.#reading) return this.#reading;
    if (now - this.#readAt < FRESH_MS) return Promise.resolve();
    this.#reading = this.#read().then(() => {
      this.#reading = undefined;
      this.#readAt = performance.now();
    });
    return this.#reading;
  }

  /** The paths that match a query, best first. */
  find(query: string, count: number): string[] {
    const known = this.#narrowed;
    const isLonger = known !== undefined && query.startsWith(known.query);
    const { best, matching } = bestMatches(isLonger ? known.matching : this.#candidates, query, count);
    this.#narrowed = { query, matching };
    return best;
  }

  async #read(): Promise<void> {
    const files = await listFiles(this.#root);
    // A line break in a name would break the message.
    const paths = files.filter((path) => path !== "" && !CONTROL.test(path));
    const directories = new Set<string>();
    for (const path of paths) {
      for (
        let parent = dirname(path);
        parent !== "." && !directories.has(`${parent}/`);
        parent = dirname(parent)
      ) {
        directories.add(`${parent}/`);
      }
    }
    this.#candidates = [...directories, ...paths].map(toCandidate);
    this.#narrowed = undefined;
  }
}

/**
 * The files of a project that are not ignored, within limits. Does not run git: a repository's own configuration can
 * name programs to run.
 */
async function listFiles(root: string): Promise<string[]> {
  const files: string[] = [];
  const end = performance.now() + MOST_MS;
  let pauseAt = performance.now() + BUSY_MS;
  const outer = IgnoreScope.above(root, undefined, PLAIN_READER, MOST_RULE_BYTES);
  const waiting = [{ folder: "", outer }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { folder } = next;
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    const place = `${join(root, folder)}/`;
    const scope = next.outer.enter(place, ignoreFilesAmong(entries));
    for (const entry of entries) {
      const now = performance.now();
      if (files.length >= MOST_FILES || now > end) return files;
      if (now > pauseAt) {
        // Handle keys that were pressed meanwhile first.
        await setImmediate();
        pauseAt = performance.now() + BUSY_MS;
      }
      const { name } = entry;
      const isDirectory = entry.isDirectory();
      if (VERSION_CONTROL.has(name) || (isDirectory && scope.isEmpty && SKIPPED.has(name))) continue;
      if (scope.ignores(place, name, isDirectory)) continue;
      const path = folder === "" ? name : `${folder}/${name}`;
      if (isDirectory) waiting.push({ folder: path, outer: scope });
      else files.push(path);
    }
  }
  return files;
}

function ignoreFilesAmong(entries: readonly Dirent[]): { git: boolean; other: boolean; repository: boolean } {
  const has = (wanted: string): boolean => entries.some(({ name }) => name === wanted);
  return {
    git: has(IGNORE_FILES.git),
    other: has(IGNORE_FILES.other),
    repository: has(IGNORE_FILES.repository),
  };
}
