import { lstatSync, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";

// A directory that changed more recently could change again within the same tick of the file system's clock, unnoticed.
const SETTLED_AFTER_MS = 100;

/**
 * Knows which of the given paths contain a symbolic link. Checking every path would take longer than the write itself,
 * so it stats the directories and checks the paths again only if a directory changed.
 */
export class LinkWatch {
  /** For every path, the path itself and its ancestors. */
  readonly #ways: ReadonlyMap<string, readonly string[]>;
  /** For every directory, the entries in it that may be links. */
  readonly #entries = new Map<string, Set<string>>();
  #stamp: string | undefined;
  #linked: ReadonlySet<string> = new Set();

  /** Looks for links below `base`, and from the root of the file system for paths outside `base`. */
  constructor(base: string, paths: readonly string[]) {
    this.#ways = new Map(paths.map((path) => [path, wayTo(path, base)]));
    for (const entry of [...this.#ways.values()].flat()) {
      const directory = dirname(entry);
      this.#entries.set(directory, (this.#entries.get(directory) ?? new Set()).add(entry));
    }
  }

  /** The paths that contain a symbolic link now. */
  current(): ReadonlySet<string> {
    const { stamp, settled, entries } = this.#look();
    if (stamp === this.#stamp) return this.#linked;
    const links = new Set(entries().filter(isLink));
    const isLinked = (way: readonly string[]): boolean => way.some((entry) => links.has(entry));
    this.#linked = new Set([...this.#ways].filter(([, way]) => isLinked(way)).map(([path]) => path));
    this.#stamp = settled ? stamp : undefined;
    return this.#linked;
  }

  /** The state of the directories; `entries` lists the paths to check in the directories that exist. */
  #look(): { stamp: string; settled: boolean; entries: () => string[] } {
    const latest = Date.now() - SETTLED_AFTER_MS;
    let [stamp, settled] = ["", true];
    const existing: ReadonlySet<string>[] = [];
    for (const [directory, entries] of this.#entries) {
      const info = ask(() => statSync(directory, { throwIfNoEntry: false, bigint: true }));
      stamp += info === undefined ? "none," : `${info.dev}:${info.ino}:${info.ctimeNs},`;
      if (info === undefined) continue;
      if (Number(info.ctimeMs) > latest) settled = false;
      existing.push(entries);
    }
    return { stamp, settled, entries: () => existing.flatMap((entries) => [...entries]) };
  }
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
