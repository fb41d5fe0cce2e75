import { lstatSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import {
  canonicalPath,
  createPathGuard,
  escapeInvisible,
  type IgnoreScope,
  type PathGuard,
  quote,
} from "@agent/core/toolkit";
import { shownPath, shownPrefix, toSlashes, withSlash } from "../../paths.js";
import type { GlobQuery } from "../../protocol.js";
import { type Boundary, REFUSALS } from "../boundary.js";
import { NotSearched } from "../notSearched.js";
import { type WalkOptions, walk } from "../walk.js";
import { scopeOf } from "../walkTask.js";
import type { GlobLibraries } from "./libraries.js";
import { checkGlob } from "./limits.js";
import { createDirectoryTest, fixedEnd, globToRegex } from "./matcher.js";

/** A prepared glob search: fast-glob plans it and its matcher decides; the walk is the same as for search_text. */
export class GlobPlan {
  /** The target of the path argument. */
  readonly start: string;
  readonly walks: readonly GlobWalk[];
  /** Files that the pattern names without any wildcard, which need no walk. */
  readonly named: readonly string[];
  /** The named files that may exist, as far as visible. */
  readonly unreadable: readonly { readonly path: string; readonly code: string }[];
  /** A suggestion if nothing is found. */
  readonly hint: string | undefined;
  readonly #prefix: string;
  readonly #libraries: GlobLibraries;

  /** Throws if there is nothing to search. */
  constructor({ path, pattern, scope }: GlobQuery, boundary: Boundary, libraries: GlobLibraries) {
    this.#libraries = libraries;
    checkGlob(pattern, "pattern");
    const guard = createPathGuard(scope.root);
    this.start = guard.resolve(resolve(scope.cwd, path));
    const start = canonicalPath(this.start);
    const refusal = boundary.refusal(start);
    if (refusal !== undefined) throw new Error(`"path" ${quote(path)} ${REFUSALS[refusal]}.`);
    const info = lstatSync(start, { throwIfNoEntry: false });
    if (!info?.isDirectory()) {
      throw new Error(`"path" ${quote(path)} ${info ? "is not a directory" : "does not exist"}.`);
    }
    const plans = libraries.fastGlob.generateTasks(pattern, { dot: true, followSymbolicLinks: false });
    if (plans.length === 0) {
      throw new Error(
        `"pattern" ${quote(pattern)} names nothing to find, or only what to leave out. Pass a glob such as **/*.`,
      );
    }
    this.#prefix = shownPrefix(shownPath(path));
    this.walks = plans
      .filter((plan) => plan.dynamic)
      .map((plan) => this.#walkOf(plan, guard, scope, boundary));
    const named = plans
      .filter((plan) => !plan.dynamic)
      .flatMap((plan) => plan.patterns.map((pattern) => lookAt(pattern, this.#place(guard, boundary))));
    this.named = named.filter(({ kind }) => kind === "file").map(({ path }) => path);
    this.unreadable = named.flatMap(({ path, code }) => (code === undefined ? [] : [{ path, code }]));
    this.hint = directoryHint(named) ?? literalHint(pattern, this.#place(guard, boundary));
  }

  #place(guard: PathGuard, boundary: Boundary): SearchedPlace {
    return { start: this.start, guard, boundary, libraries: this.#libraries };
  }

  /** A path as results show it. */
  shown(path: string): string {
    return isAbsolute(path) ? path : shownPath(this.#prefix + path);
  }

  #walkOf(
    plan: { readonly base: string; readonly patterns: readonly string[] },
    guard: PathGuard,
    scope: GlobQuery["scope"],
    boundary: Boundary,
  ): GlobWalk {
    const base = withSlash(toSlashes(canonicalPath(guard.resolve(resolve(this.start, plan.base)))));
    const prefix = plan.base === "." ? "" : withoutDot(withSlash(plan.base));
    const around = scopeOf(base.length > 1 ? base.slice(0, -1) : base, scope, boundary);
    return new GlobWalk(base, prefix, this.#prefix + prefix, plan.patterns, around, this.#libraries);
  }
}

/** The walk through everything a pattern can match, or through parts of it. */
export class GlobWalk {
  readonly #tests: readonly { readonly end: string; readonly whole: RegExp }[];
  readonly #enters: ((path: string) => boolean) | undefined;
  /** The ignore rules inside directories around the parts. */
  readonly #scopes = new Map<string, IgnoreScope>();

  readonly #shown: string;
  readonly #around: IgnoreScope | undefined;

  constructor(
    /** Absolute, with a trailing slash. */
    readonly base: string,
    /** The path from the start of the search to the base. */
    readonly prefix: string,
    shown: string,
    patterns: readonly string[],
    /** The ignore rules around the base. */
    around: IgnoreScope | undefined,
    libraries: GlobLibraries,
  ) {
    this.#shown = shown;
    this.#around = around;
    this.#tests = patterns.map((pattern) => ({
      end: fixedEnd(pattern),
      whole: globToRegex(pattern, libraries),
    }));
    this.#enters = createDirectoryTest(patterns, libraries);
  }

  /** The files below `from`, which is "" or a directory that another walk left unread. */
  run(
    from: string,
    options: Pick<WalkOptions, "budget" | "tally" | "heartbeat" | "boundary">,
  ): Generator<string[]> {
    const enters = this.#enters;
    return walk({
      ...options,
      ...{ base: this.base, shown: this.#shown, from },
      ignore: this.#around && this.#scopeAround(this.#around, from),
      wants: (path, name) => this.#matches(path, name),
      enters: enters && ((path) => enters(this.prefix + path)),
    });
  }

  #matches(path: string, name: string): boolean {
    for (const { end, whole } of this.#tests) {
      if (name.endsWith(end) && whole.test(this.prefix + path)) return true;
    }
    return false;
  }

  #scopeAround(outermost: IgnoreScope, path: string): IgnoreScope {
    if (path === "") return outermost;
    const parent = path.slice(0, path.lastIndexOf("/", path.length - 2) + 1);
    const scope =
      this.#scopes.get(parent) ?? this.#scopeAround(outermost, parent).enterUnread(this.base + parent);
    this.#scopes.set(parent, scope);
    return scope;
  }
}

/** Where and how named paths are looked up. */
interface SearchedPlace {
  readonly start: string;
  readonly guard: PathGuard;
  readonly boundary: Boundary;
  readonly libraries: GlobLibraries;
}

interface Named {
  readonly path: string;
  readonly kind: "file" | "directory" | "nothing";
  /** Why it could not be accessed. */
  readonly code?: string;
}

/** The path that a pattern names if it has no wildcards, or is meant literally. */
function lookAt(
  pattern: string,
  { start, guard, boundary, libraries }: SearchedPlace,
  literally = false,
): Named {
  const path = withoutDot(pattern);
  const place = guard.resolve(resolve(start, pattern), { follow: false });
  try {
    const info = boundary.lookAt(join(canonicalPath(dirname(place)), basename(place)));
    if (info.isDirectory()) return { path, kind: "directory" };
    const matches = literally || globToRegex(pattern, libraries).test(path);
    return { path, kind: info.isFile() && matches ? "file" : "nothing" };
  } catch (error) {
    if (error instanceof NotSearched) return { path, kind: "nothing", code: error.reason };
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    return { path, kind: "nothing", ...(code !== "ENOENT" && code !== "ENOTDIR" && { code }) };
  }
}

function directoryHint(named: readonly Named[]): string | undefined {
  const directory = named.find(({ kind }) => kind === "directory")?.path;
  if (directory === undefined) return undefined;
  return `${inFull(directory)} is a directory; ${inFull(`${withSlash(directory)}**`)} finds the files in it.`;
}

/** For a name such as `copy (1).ts`, which as a pattern means other files. */
function literalHint(pattern: string, place: SearchedPlace): string | undefined {
  if (lookAt(pattern, place, true).kind !== "file") return undefined;
  const escaped = place.libraries.fastGlob.escapePath(pattern);
  return `A file has exactly this name; as a pattern it is ${inFull(escaped)}.`;
}

/** The path as it must be passed in a call, so it is never shortened. */
function inFull(pattern: string): string {
  return escapeInvisible(JSON.stringify(pattern));
}

function withoutDot(path: string): string {
  return path.replace(/^\.\//, "");
}
