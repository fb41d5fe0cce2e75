import { lstatSync, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";

// A directory that changed less than this ago could change again within the same tick of the system's clock.
const SETTLED_AFTER_MS = 100;

/**
 * Knows which of some paths lead through a symbolic link. Checking every path would cost more than the write it is for,
 * so it stats the directories and looks again only if one of them changed.
 */
export class LinkWatch {
  /** For every path, the path itself and its ancestors. */
  readonly #ways: ReadonlyMap<string, readonly string[]>;
  /** For every directory, the entries in it that may be links. */
  readonly #entries = new Map<string, Set<string>>();
  #stamp: string | undefined;
  #linked: ReadonlySet<string> = new Set();

  /** Links are looked for below `base`, or from the top for paths that lie elsewhere. */
  constructor(base: string, paths: readonly string[]) {
    this.#ways = new Map(paths.map((path) => [path, wayTo(path, base)]));
    for (const entry of [...this.#ways.values()].flat()) {
      const directory = dirname(entry);
      this.#entries.set(directory, (this.#entries.get(directory) ?? new Set()).add(entry));
    }
  }

  /** Those of the paths that have a link in them now. */
  current(): ReadonlySet<string> {
    const { stamp, settled, entries } = this.#look();
    if (stamp === this.#stamp) return this.#linked;
    const links = new Set(entries().filter(isLink));
    const isLinked = (way: readonly string[]): boolean => way.some((entry) => links.has(entry));
    this.#linked = new Set([...this.#ways].filter(([, way]) => isLinked(way)).map(([path]) => path));
    this.#stamp = settled ? stamp : undefined;
    return this.#linked;
  }

  /** The state of the directories; `entries` are those to look at in the ones that exist. */
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

/** `path` and its ancestors below `base`, or below the root if it lies elsewhere. */
function wayTo(path: string, base: string): string[] {
  const way = relative(base, path);
  const start = way.startsWith("..") ? resolve(sep) : base;
  const names = relative(start, path).split(sep).filter(Boolean);
  return names.map((_, index) => resolve(start, ...names.slice(0, index + 1)));
}

function isLink(path: string): boolean {
  return ask(() => lstatSync(path, { throwIfNoEntry: false }))?.isSymbolicLink() === true;
}

/** Takes an error (a file as parent, no permission) as "nothing is there". */
function ask<T>(question: () => T): T | undefined {
  try {
    return question();
  } catch {
    return undefined;
  }
}
