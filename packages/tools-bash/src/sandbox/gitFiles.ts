import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { type GitConfigs, isInside } from "@agent/core/toolkit";
import type { ProtectedFile } from "./protectedFiles.js";

/** The maximum number of repositories protected in one directory: every mount costs time. */
const MAX_REPOSITORIES = 50;

/** Paths below a writable directory that git runs or reads because its configuration names them. */
export function namedByGit(configs: GitConfigs, root: string): ProtectedFile[] {
  const named = configs.named(join(root, ".git")).filter(({ path, kind }) => {
    if (path === root || !isInside(root, path)) return false;
    if (kind === "directory" || kind === "file") return true;
    const found = lstatSync(path, { throwIfNoEntry: false });
    // A directory that is only mentioned in a command stays writable.
    return found === undefined ? kind === "program" : found.isFile();
  });
  const paths = new Set(named.map(({ path }) => relative(root, path)));
  return [...paths].map((path) => ({ path, ifMissing: "rename" }));
}

/** Repositories directly below a writable directory, whose hooks and configuration are protected too. */
export function nestedRepositories(root: string): string[] {
  const directories = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return directories
    .map(({ name }) => join(root, name))
    .filter((path) => lstatSync(join(path, ".git"), { throwIfNoEntry: false }) !== undefined)
    .slice(0, MAX_REPOSITORIES);
}
