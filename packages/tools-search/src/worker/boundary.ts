import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { basename, dirname } from "node:path";
import {
  assertOpenedIsNotProcessSecret,
  findAccessNeed,
  foldPath,
  isInside,
  isProcessSecret,
  namesOpenFiles,
  openedPath,
} from "@agent/core/toolkit";
import { toSlashes, withSlash } from "../paths.js";
import type { FileStatus, Scope } from "../protocol.js";
import { NotSearched } from "./notSearched.js";

// Never wait for a writer at the other end of a pipe.
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const DIRECTORY = constants.O_DIRECTORY ?? 0;
// O_PATH: Linux only, and not among Node's constants. Opens a directory without the permission to list it.
const PATH_ONLY = 0o10000000;

/** How a message continues after the path. */
export const REFUSALS = {
  outside: "is outside the root",
  secret: "is a place of keys or credentials, and reading it needs the user's approval",
  process: "shows the memory or the environment of a process",
} as const;

type Refusal = keyof typeof REFUSALS & FileStatus;

/** An open directory: paths below `name` are in this very directory, even if its path changes. */
interface PinnedDirectory {
  readonly path: string;
  readonly descriptor: number;
  readonly name: string;
  /** Its path when it was opened. */
  readonly place: string;
  /** The names in it that are secret. */
  readonly secretNames: ReadonlySet<string>;
}

/**
 * The area a search may read. A checked path can resolve elsewhere by the time it is opened, because a parent directory
 * was replaced with a symlink. So directories are opened first and then checked by the path that the system reports
 * (`openedPath`), and files are opened below them. If the system does not report it, each file is checked after it was
 * opened.
 */
export class Boundary {
  /** Whether there is anything to check. Without a root or secret directories it costs nothing. */
  readonly isRestricted: boolean;
  readonly #root: string | undefined;
  readonly #secret: SecretPlaces;
  /** Consecutive files are in the same directory. */
  #pinned: PinnedDirectory | undefined;
  #namesDescriptors: boolean | undefined;

  constructor({ root, secret, granted }: Pick<Scope, "root" | "secret" | "granted">) {
    this.#root = root === undefined ? undefined : withSlash(toSlashes(root));
    this.#secret = new SecretPlaces(secret, granted);
    this.isRestricted = root !== undefined || secret.length > 0;
  }

  /** Why a canonical path is not searched; `undefined` if it may be. */
  refusal(path: string): Refusal | undefined {
    if (this.#root !== undefined && !withSlash(toSlashes(path)).startsWith(this.#root)) return "outside";
    if (this.#secret.needsYes(path)) return "secret";
    return isProcessSecret(path) ? "process" : undefined;
  }

  /** Throws `NotSearched` if a canonical path may not be searched. */
  check(path: string): void {
    const refusal = this.refusal(path);
    if (refusal !== undefined) throw new NotSearched(refusal, REFUSALS[refusal]);
  }

  /** Opens a file that the caller named, following symlinks. */
  openNamed(path: string): number {
    return this.#openChecked(path, READ);
  }

  /** Opens a file found by a walk. If it is a symlink by now, it was replaced: that is an error (`ELOOP`). */
  openFound(path: string): number {
    if (!this.isRestricted) return openSync(path, READ | NO_FOLLOW);
    if (!this.#canPin()) return this.#openChecked(path, READ | NO_FOLLOW);
    // Faster than `dirname` and `basename`; a walk's paths have forward slashes.
    const slash = path.lastIndexOf("/");
    const directory = this.#pin(path.slice(0, slash) || "/");
    const name = path.slice(slash + 1);
    if (directory.secretNames.size > 0 && directory.secretNames.has(foldPath(name))) {
      this.check(withSlash(directory.place) + name);
    }
    return openSync(`${directory.name}/${name}`, READ | NO_FOLLOW);
  }

  /** The entries of a directory that is not a symlink. */
  readDirectory(path: string): Dirent[] {
    if (!this.isRestricted) return readdirSync(path, { withFileTypes: true });
    if (this.#canPin()) return readdirSync(this.#pin(path).name, { withFileTypes: true });
    this.check(realpathSync.native(path));
    const entries = readdirSync(path, { withFileTypes: true });
    this.check(realpathSync.native(path));
    return entries;
  }

  /** Like `lstat`, for a path whose directory is canonical. */
  lookAt(path: string): Stats {
    if (!this.isRestricted) return lstatSync(path);
    this.check(path);
    if (!this.#canPin()) return lstatSync(path);
    return lstatSync(`${this.#pin(dirname(path)).name}/${basename(path)}`);
  }

  /** The text of a regular file of at most `maxBytes`, or `undefined` if it cannot or may not be read. */
  readText(path: string, maxBytes: number): string | undefined {
    let descriptor: number | undefined;
    try {
      descriptor = this.#openChecked(path, READ);
      const info = fstatSync(descriptor);
      if (!info.isFile() || info.size > maxBytes) return undefined;
      const bytes = Buffer.allocUnsafe(info.size);
      return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, info.size, 0));
    } catch {
      return undefined;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  /**
   * Returns a function that tells whether an entry of the directory is secret and not granted. `undefined`: none of
   * them is.
   */
  secretEntries(directory: string): ((name: string) => boolean) | undefined {
    const names = this.#secret.namesIn(directory);
    if (names.size === 0) return undefined;
    return (name) => names.has(foldPath(name)) && this.#secret.needsYes(withSlash(directory) + name);
  }

  /**
   * Throws `NotSearched` if the opened file exposes the memory or environment of a process, under whatever name: it may
   * contain a provider's key.
   */
  checkProcessSecret(descriptor: number, path: string): void {
    try {
      assertOpenedIsNotProcessSecret(descriptor, fstatSync(descriptor), path);
    } catch {
      throw new NotSearched("process", REFUSALS.process);
    }
  }

  /** Closes its directories. It can still be used. */
  close(): void {
    if (this.#pinned) closeSync(this.#pinned.descriptor);
    this.#pinned = undefined;
  }

  #openChecked(path: string, flags: number): number {
    const descriptor = openSync(path, flags);
    if (this.isRestricted) this.#checkOpened(descriptor, path);
    return descriptor;
  }

  /** The path of the open file. Closes it and throws if it may not be read. */
  #checkOpened(descriptor: number, path: string): string {
    try {
      const place = openedPath(descriptor, path);
      if (place === undefined) throw new NotSearched("vanished", "was replaced while it was opened");
      this.check(place);
      return place;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  #pin(path: string): PinnedDirectory {
    const wanted = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    if (this.#pinned?.path === wanted) return this.#pinned;
    this.close();
    const descriptor = openSync(wanted, PATH_ONLY | DIRECTORY | NO_FOLLOW);
    const place = this.#checkOpened(descriptor, wanted);
    const secretNames = this.#secret.namesIn(place);
    this.#pinned = { path: wanted, descriptor, name: `/proc/self/fd/${descriptor}`, place, secretNames };
    return this.#pinned;
  }

  /** Whether directories can be kept open and resolved. */
  #canPin(): boolean {
    this.#namesDescriptors ??= namesOpenFiles();
    return this.#namesDescriptors;
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** The directories with keys and credentials, and which of them a search may read. Optimised for many queries. */
class SecretPlaces {
  /** The directories, normalised for comparison, each with a trailing slash. */
  readonly #prefixes: readonly string[];
  readonly #byDirectory = new Map<string, Set<string>>();

  readonly #places: readonly string[];
  readonly #granted: readonly string[];

  constructor(places: readonly string[], granted: readonly string[]) {
    this.#places = places;
    this.#granted = granted;
    const folded = places.map(foldPath);
    this.#prefixes = folded.map(withSlash);
    for (const place of folded) {
      const directory = withSlash(dirname(place));
      const names = this.#byDirectory.get(directory) ?? new Set();
      this.#byDirectory.set(directory, names.add(place.slice(directory.length)));
    }
  }

  get isEmpty(): boolean {
    return this.#places.length === 0;
  }

  /** Whether reading a canonical path needs approval that was not given. */
  needsYes(path: string): boolean {
    if (this.isEmpty) return false;
    const folded = withSlash(foldPath(path));
    // The rules decide finally, but are slow.
    if (!this.#prefixes.some((prefix) => folded.startsWith(prefix))) return false;
    if (findAccessNeed({ secret: this.#places }, "read", path) === undefined) return false;
    return !this.#granted.some((granted) => isInside(granted, path));
  }

  /** The names of secret entries directly in a directory, folded by `foldPath`. */
  namesIn(directory: string): ReadonlySet<string> {
    if (this.isEmpty) return NO_NAMES;
    return this.#byDirectory.get(withSlash(foldPath(directory))) ?? NO_NAMES;
  }
}
