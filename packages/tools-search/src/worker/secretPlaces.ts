import { dirname } from "node:path";
import { findAccessNeed, foldPath, isInside } from "@agent/core/toolkit";
import { withSlash } from "../paths.js";

const NO_NAMES: ReadonlySet<string> = new Set();

/** The places with keys and credentials, and which of them a search may read. Made for many questions. */
export class SecretPlaces {
  /** The places for comparing, each with a slash at the end. */
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

  /** Whether reading a canonical path needs a user's yes that was not given. */
  needsYes(path: string): boolean {
    if (this.isEmpty) return false;
    const folded = withSlash(foldPath(path));
    // The rules have the last word, and are slow to ask.
    if (!this.#prefixes.some((prefix) => folded.startsWith(prefix))) return false;
    if (findAccessNeed({ secret: this.#places }, "read", path) === undefined) return false;
    return !this.#granted.some((granted) => isInside(granted, path));
  }

  /** The names of the places right in a directory, folded as by `foldPath`. */
  namesIn(directory: string): ReadonlySet<string> {
    if (this.isEmpty) return NO_NAMES;
    return this.#byDirectory.get(withSlash(foldPath(directory))) ?? NO_NAMES;
  }
}
