import { lstatSync, opendirSync, statSync } from "node:fs";
import { basename, dirname, relative, resolve, sep } from "node:path";
import { foldPath } from "@agent/core/toolkit";

// A directory that changed more recently could change again within the same file-system timestamp, undetected.
const SETTLED_AFTER_MS = 100;
// Listing a directory takes as long as checking this many of its entries.
const LIST_FROM = 12;
// A directory with more entries than this is not listed.
const MAX_LISTED = 200;

/** A directory with entries that may be symlinks. */
interface Directory {
  readonly entries: Set<string>;
  /** The directory's state when it was checked; `undefined` if it may have changed since without a new timestamp. */
  stamp: string | undefined;
  links: readonly string[];
}

/**
 * Tracks which of the given paths contain a symlink. Checking every path would take longer than the write itself, so it
 * stats the directories and checks the paths again only if a directory changed.
 */
export class LinkWatch {
  /** For every path, the path itself and its ancestors. */
  readonly #ways: ReadonlyMap<string, readonly string[]>;
  readonly #directories = new Map<string, Directory>();
  #linked: ReadonlySet<string> = new Set();

  /** Looks for symlinks below `base`, and from the root of the file system for paths outside `base`. */
  constructor(base: string, paths: readonly string[]) {
    this.#ways = new Map(paths.map((path) => [path, wayTo(path, base)]));
    for (const entry of [...this.#ways.values()].flat()) {
      const path = dirname(entry);
      const directory = this.#directories.get(path) ?? { entries: new Set(), stamp: undefined, links: [] };
      directory.entries.add(entry);
      this.#directories.set(path, directory);
    }
  }

  /** The paths that contain a symbolic link now. */
  current(): ReadonlySet<string> {
    if (!this.#look()) return this.#linked;
    const links = new Set([...this.#directories.values()].flatMap((directory) => directory.links));
    const isLinked = (way: readonly string[]): boolean => way.some((entry) => links.has(entry));
    const linked = links.size === 0 ? [] : [...this.#ways].filter(([, way]) => isLinked(way));
    this.#linked = new Set(linked.map(([path]) => path));
    return this.#linked;
  }

  /** Checks the directories that changed, and returns whether there were any. */
  #look(): boolean {
    const latest = Date.now() - SETTLED_AFTER_MS;
    let hasChanged = false;
    for (const [path, directory] of this.#directories) {
      const info = ask(() => statSync(path, { throwIfNoEntry: false, bigint: true }));
      const stamp = info === undefined ? "none" : `${info.dev}:${info.ino}:${info.ctimeNs}`;
      if (stamp === directory.stamp) continue;
      hasChanged = true;
      directory.links = info === undefined ? [] : findLinks(path, directory.entries);
      directory.stamp = info !== undefined && Number(info.ctimeMs) > latest ? undefined : stamp;
    }
    return hasChanged;
  }
}

/** Which of the entries of a directory are links. */
function findLinks(directory: string, entries: ReadonlySet<string>): string[] {
  const names = entries.size < LIST_FROM ? undefined : listLinks(directory);
  if (names?.size === 0) return [];
  // The file system may ignore case: compare folded names, then check the entry itself.
  const mayBeLink = (entry: string): boolean => names?.has(foldPath(basename(entry))) ?? true;
  return [...entries].filter((entry) => mayBeLink(entry) && isLink(entry));
}

/** The folded names of all links in a directory; `undefined` if it is too long or cannot be listed. */
function listLinks(directory: string): ReadonlySet<string> | undefined {
  return ask(() => {
    const names = new Set<string>();
    const handle = opendirSync(directory, { bufferSize: MAX_LISTED });
    try {
      for (let count = 0; count <= MAX_LISTED; count++) {
        const entry = handle.readSync();
        if (entry === null) return names;
        if (!entry.isFile() && !entry.isDirectory()) names.add(foldPath(entry.name));
      }
    } finally {
      handle.closeSync();
    }
    return undefined;
  });
}

/** `path` and its ancestors below `base`, or below the root of the file system if `path` is outside `base`. */
function wayTo(path: string, base: string): string[] {
  const way = relative(base, path);
  const start = way.startsWith("..") ? resolve(sep) : base;
  const names = relative(start, path).split(sep).filter(Boolean);
  return names.map((_, index) => resolve(start, ...names.slice(0, index + 1)));
}

function isLink(path: string): boolean {
  return ask(() => lstatSync(path, { throwIfNoEntry: false }))?.isSymbolicLink() === true;
}

/** Runs a file system query; an error (a parent is a file, no permission) counts as "does not exist". */
function ask<T>(question: () => T): T | undefined {
  try {
    return question();
  } catch {
    return undefined;
  }
}
