import { statSync } from "node:fs";
import { resolve } from "node:path";
import { canonicalPath, createPathGuard, errorMessage, IgnoreScope } from "@agent/core/toolkit";
import { shownPath, shownPrefix, toSlashes, withSlash } from "../paths.js";
import { emptyTally, type FileBatch, type Scope, type WalkTask } from "../protocol.js";
import type { Boundary } from "./boundary.js";
import { createGlobFilter } from "./glob/filter.js";
import type { GlobLibraries } from "./glob/libraries.js";
import { NotSearched } from "./notSearched.js";
import type { TaskHost } from "./tasks.js";
import { walk } from "./walk.js";

const NAMED_BATCH = 256;

/** A path the caller named, resolved. */
interface NamedPath {
  /** Its canonical path, with forward slashes. */
  readonly path: string;
  /** The path as the caller wrote it, normalised. */
  readonly shown: string;
}

/** Finds the files below the given paths and posts them in batches, then what was skipped. */
export function* walkTask(
  task: WalkTask,
  boundary: Boundary,
  host: TaskHost,
  libraries: () => GlobLibraries,
): Generator<void> {
  const tally = emptyTally();
  const { files, directories, problems } = resolveNamed(task, boundary, host);
  const filter = task.glob === undefined ? undefined : createGlobFilter(task.glob, libraries());

  for (const batch of namedBatches(files)) host.post({ kind: "batch", batch });
  const namedFiles = new Set(files.map((file) => file.path));
  const namedDirectories = new Set(directories.map((directory) => directory.path));
  for (const directory of directories) {
    const base = withSlash(directory.path);
    const shown = shownPrefix(directory.shown);
    const batches = walk({
      base,
      shown,
      ignore: scopeOf(directory.path, task.scope, boundary),
      boundary,
      tally,
      // A file that is named as a path argument is searched once, under the given name.
      wants: wanted(filter, shown, namedFiles, base),
      enters: namedDirectories.size > 1 ? (path) => !namedDirectories.has(base + path) : undefined,
      heartbeat: () => host.heartbeat(0),
    });
    for (const batch of batches) {
      if (batch.length > 0) {
        host.post({ kind: "batch", batch: { base, shown, paths: batch.join("\0"), named: false } });
      }
      yield;
    }
  }
  host.post({ kind: "walked", tally, problems });
}

function wanted(
  filter: ((shown: string, path: string, name: string) => boolean) | undefined,
  shown: string,
  namedFiles: ReadonlySet<string>,
  base: string,
): ((path: string, name: string) => boolean) | undefined {
  if (namedFiles.size === 0) return filter && ((path, name) => filter(shown + path, path, name));
  return (path, name) => !namedFiles.has(base + path) && (filter?.(shown + path, path, name) ?? true);
}

/** The ignore rules for a search that starts in `directory`. */
export function scopeOf(
  directory: string,
  { includeIgnored, root }: Scope,
  boundary: Boundary,
): IgnoreScope | undefined {
  return includeIgnored ? undefined : IgnoreScope.above(directory, root && toSlashes(root), boundary);
}

function resolveNamed({ scope, paths }: WalkTask, boundary: Boundary, host: TaskHost) {
  const guard = createPathGuard(scope.root);
  const files = new Map<string, NamedPath>();
  const directories = new Map<string, NamedPath>();
  const problems: string[] = [];
  for (const argument of paths) {
    host.heartbeat(0);
    try {
      const path = toSlashes(canonicalPath(guard.resolve(resolve(scope.cwd, argument))));
      boundary.check(path);
      const info = statSync(path);
      const named = { path, shown: shownPath(argument) };
      const group = info.isDirectory() ? directories : files;
      if (!group.has(path)) group.set(path, named);
    } catch (error) {
      problems.push(describeProblem(argument, error));
    }
  }
  return { files: sorted(files), directories: sorted(directories), problems };
}

function describeProblem(argument: string, error: unknown): string {
  if (error instanceof NotSearched) return `${argument} ${error.reason}`;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return `${argument}: no such file or directory`;
  if (code === "EACCES") return `${argument}: permission denied`;
  return code === undefined ? errorMessage(error) : `${argument}: ${code}`;
}

function sorted(group: ReadonlyMap<string, NamedPath>): NamedPath[] {
  return [...group.values()].sort((a, b) => (a.shown < b.shown ? -1 : 1));
}

function* namedBatches(files: readonly NamedPath[]): Generator<FileBatch> {
  for (let at = 0; at < files.length; at += NAMED_BATCH) {
    const part = files.slice(at, at + NAMED_BATCH);
    yield {
      base: "",
      shown: "",
      paths: part.map((file) => file.path).join("\0"),
      labels: part.map((file) => file.shown).join("\0"),
      named: true,
    };
  }
}
