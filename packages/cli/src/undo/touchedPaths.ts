import { existsSync, lstatSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { canonicalPath } from "@agent/internal";

// Arguments that name a file or a directory, of our own tools and of others.
const PATH_ARGUMENTS =
  /^(path|paths|file|files|filename|file_?path|file_?name|dir|directory|source|src|destination|dest|target|from|to|old_?path|new_?path|output|output_?path)$/i;
const INTO = /^(destination|dest|to|target|new_?path)$/i;
const FROM = /^(source|src|from|old_?path|path)$/i;

/**
 * The paths a call of a file tool may change, by its arguments: those it names, a link's target, a directory it would
 * create, and the new path inside a directory that something is moved into. Canonical except for the last segment.
 */
export function touchedPaths(args: Readonly<Record<string, unknown>>, cwd: string): string[] {
  const found = new Set<string>();
  const named = Object.entries(args).flatMap(([key, value]) =>
    PATH_ARGUMENTS.test(key) ? texts(value).map((text) => ({ key, path: resolve(cwd, text) })) : [],
  );
  for (const { key, path } of named) {
    const isDirectory = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const sources = named.filter((other) => FROM.test(other.key) && other.path !== path);
    if (INTO.test(key) && isDirectory && sources.length > 0) {
      // Only the moved file changes in the directory, not its other files.
      for (const source of sources) add(found, join(path, basename(source.path)));
    } else add(found, path);
  }
  return [...found];
}

function add(found: Set<string>, path: string): void {
  const place = join(canonicalPath(dirname(path)), basename(path));
  found.add(place);
  // Tools write through links.
  if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) found.add(canonicalPath(place));
  for (let parent = dirname(place); !existsSync(parent); parent = dirname(parent)) found.add(parent);
}

function texts(value: unknown): string[] {
  if (typeof value === "string") return value === "" || value.includes("\0") ? [] : [value];
  return Array.isArray(value) ? value.flatMap(texts) : [];
}
