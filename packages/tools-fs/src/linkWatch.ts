import { lstatSync, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";

// A directory that changed less than this ago could change again within the same tick of the system's clock.
const SETTLED_AFTER_MS = 100;

/**
 * Knows which of some paths lead through a symbolic link. To look at each of them would cost more than the
 * write it is for; so their directories are asked if anything changed, and only then is looked again.
 */
export class LinkWatch {
  /** For every path, what lies on the way to it. */
  readonly #ways: ReadonlyMap<string, readonly string[]>;
  readonly #directories: readonly string[];
  #stamp: string | undefined;
  #linked: ReadonlySet<string> = new Set();

  /** Links are looked for below `base`, or from the top for paths that lie elsewhere. */
  constructor(base: string, paths: readonly string[]) {
    this.#ways = new Map(paths.map((path) => [path, waysTo(path, base)]));
    this.#directories = [...new Set([...this.#ways.values()].flat().map((way) => dirname(way)))];
  }

  /** Those of the paths that have a link in them now. */
  current(): ReadonlySet<string> {
    const { stamp, settled } = this.#look();
    if (stamp === this.#stamp) return this.#linked;
    this.#linked = new Set([...this.#ways].filter(([, way]) => way.some(isLink)).map(([path]) => path));
    this.#stamp = settled ? stamp : undefined;
    return this.#linked;
  }

  #look(): { stamp: string; settled: boolean } {
    const latest = Date.now() - SETTLED_AFTER_MS;
    let settled = true;
    const stamps = this.#directories.map((directory) => {
      const info = ask(() => statSync(directory, { throwIfNoEntry: false, bigint: true }));
      if (info === undefined) return "none";
      if (Number(info.ctimeMs) > latest) settled = false;
      return `${info.dev}:${info.ino}:${info.ctimeNs}`;
    });
    return { stamp: stamps.join(), settled };
  }
}

/** Every path on the way from `base`, or from the top, to `path`; itself included, `base` not. */
function waysTo(path: string, base: string): string[] {
  const way = relative(base, path);
  const start = way.startsWith("..") ? resolve(sep) : base;
  const names = relative(start, path).split(sep).filter(Boolean);
  return names.map((_, index) => resolve(start, ...names.slice(0, index + 1)));
}

function isLink(path: string): boolean {
  return ask(() => lstatSync(path, { throwIfNoEntry: false }))?.isSymbolicLink() === true;
}

/** Below a file (".git" in a worktree), or where nobody may look, nothing is. */
function ask<T>(question: () => T): T | undefined {
  try {
    return question();
  } catch {
    return undefined;
  }
}
