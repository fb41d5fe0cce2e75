import { existsSync, statSync } from "node:fs";
import { isAbsolute, resolve, sep } from "node:path";
import type { CallDescription, DefinedToolCall, FileTarget, PackHost } from "@agent/core";
import { createPathGuard, findAccessNeed, isInside, type PathGuard, quote } from "@agent/core/toolkit";
import type { SearchOptions } from "./options.js";
import type { Scope } from "./protocol.js";

/** The registry's deadline is only a safety net for the pack's own. */
const REGISTRY_GRACE_MS = 15_000;

/** The capabilities of both tools; frozen, so that all instances and their registries share one list. */
export const READS = Object.freeze(["read"] as const);

/** The settings of both tools: the pack's options with their defaults. */
export interface SearchSettings {
  /** Confines every search; absolute and canonical. */
  readonly root: string | undefined;
  /** Where relative paths start. Default: the working directory of the process. */
  readonly directory: string | undefined;
  readonly maxResults: number;
  readonly maxLineLength: number;
  readonly timeoutMs: number;
  /** When the registry abandons a call. */
  readonly deadlineMs: number;
  readonly workers: number | undefined;
  readonly autoContext: boolean;
  /** Canonical files and directories that need approval to read. */
  readonly secret: readonly string[];
}

/** Throws if `root` does not exist. `access` lists the paths that need approval to read. */
export function settingsOf(
  options: SearchOptions,
  { access, directory }: Pick<PackHost, "access" | "directory">,
): SearchSettings {
  const timeoutMs = options.timeoutMs ?? 20_000;
  return {
    root: createPathGuard(options.root, directory).root,
    directory,
    maxResults: options.maxResults ?? 200,
    maxLineLength: options.maxLineLength ?? 500,
    timeoutMs,
    deadlineMs: timeoutMs + REGISTRY_GRACE_MS,
    workers: options.workers,
    autoContext: options.autoContext ?? false,
    secret: access?.secret ?? [],
  };
}

/** The scope of a call. Throws if `paths` has a relative one without a base directory. */
export function findScope(
  paths: readonly string[],
  includeIgnored: boolean,
  settings: SearchSettings,
  call: Pick<DefinedToolCall, "granted">,
): Scope {
  return {
    cwd: workingDirectory(paths, settings),
    root: settings.root,
    secret: settings.secret,
    granted: call.granted.filter((need) => need.kind === "read").map((need) => need.path),
    includeIgnored,
  };
}

/**
 * Describes a search below these paths. `start` is the fixed prefix of a search for names. Only secret directories that
 * are named need approval; those further below are skipped.
 */
export function describeSearch(
  paths: readonly string[],
  settings: SearchSettings,
  start?: string,
): CallDescription {
  const { root, secret } = settings;
  const cwd = workingDirectory(paths, settings);
  const guard = createPathGuard(root);
  const found = [...paths, ...(start === undefined ? [] : [start])].map((path) => placeOf(path, cwd, guard));
  const places = found.filter((place) => place !== undefined);
  const needs = places.flatMap((place) => findAccessNeed({ secret }, "read", canonicalOf(place)) ?? []);
  // The search refuses such a path, unless it resolves elsewhere by then.
  if (places.length < found.length) return { needs };
  // A pattern can begin outside the path, by ".." or a symlink.
  const searched = places.slice(0, paths.length);
  const beyond = places
    .slice(paths.length)
    .filter((place) => !searched.some((one) => isInside(canonicalOf(one), canonicalOf(place))));
  return { targets: [...searched, ...beyond].map(withTree), needs };
}

/** The place of a search, or `undefined` for a path that the search will refuse. */
function placeOf(path: string, cwd: string, guard: PathGuard): FileTarget | undefined {
  try {
    return guard.target(resolve(cwd, path), "read");
  } catch {
    return undefined;
  }
}

function canonicalOf({ path, realPath = path }: FileTarget): string {
  return realPath;
}

function withTree(place: FileTarget): FileTarget {
  const isFile = statSync(canonicalOf(place), { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? place : { ...place, tree: true };
}

/** The base of relative paths: the root, unless the working directory is inside it. */
function workingDirectory(
  paths: readonly string[],
  { root, directory }: Pick<SearchSettings, "root" | "directory">,
): string {
  const cwd = currentDirectory(directory);
  if (root !== undefined && (cwd === undefined || !isInside(root, cwd))) return root;
  if (cwd !== undefined) return cwd;
  const relative = paths.find((path) => !isAbsolute(path));
  if (relative === undefined) return sep;
  throw new Error(
    `${quote(relative)} is relative to the agent's working directory, which no longer exists. Pass an absolute path.`,
  );
}

function currentDirectory(directory: string | undefined): string | undefined {
  try {
    // Node remembers the directory even after it was removed.
    const cwd = directory ?? process.cwd();
    return existsSync(cwd) ? cwd : undefined;
  } catch {
    return undefined;
  }
}
