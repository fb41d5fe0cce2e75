import { lstatSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Mount } from "@agent/core/sandbox";
import { type Found, identify, listUnlocked, type RefusedFile, renameRefused } from "@agent/core/sandbox";
import { canonicalPath, GitConfigs, isInside, matchesName } from "@agent/core/toolkit";
import { namedByGit, nestedRepositories } from "./gitFiles.js";
import { Placeholders, type PlaceholderUse } from "./placeholders.js";
import type { HostFiles } from "./policy.js";
import { type ProtectedFile, protectedFiles, protectedInGit } from "./protectedFiles.js";
import type { GuardedFile } from "./seatbelt.js";

/** Keeps protected files unchanged while one command runs. */
export interface Guard {
  readonly mounts: readonly Mount[];
  /** Those paths that do not exist, for which bubblewrap creates an empty file or directory. */
  readonly placeholders: readonly PlaceholderUse[];
  /** Removes mount points, and renames files that the command created under protected names. */
  finish(): RefusedFile[];
}

/** A path that a mount does not fully protect: the command may have put something else there. */
interface Watched {
  /** Relative to the root. */
  readonly path: string;
  isReplaced(): boolean;
}

/** Protects files of writable directories. One object serves all commands of a registration. */
export class FileGuard {
  readonly #placeholders = new Placeholders();
  readonly #gitConfigs = new GitConfigs();
  /** By root, the repositories below it before the first command: later ones were created by commands. */
  readonly #repositories = new Map<string, readonly string[]>();

  /** Protects the well-known names and those of the host in each root, and the host's paths that are in one. */
  protect(roots: readonly string[], host: HostFiles): Guard {
    const guards: Guard[] = [];
    const finish = (): RefusedFile[] => guards.flatMap((guard) => guard.finish());
    try {
      for (const root of roots) {
        guards.push(this.#protectRoot(root, host));
        for (const path of this.#repositoriesBelow(root)) guards.push(this.#protectRepository(path));
      }
    } catch (error) {
      finish();
      throw error;
    }
    return {
      mounts: guards.flatMap(({ mounts }) => mounts),
      placeholders: guards.flatMap(({ placeholders }) => placeholders),
      finish,
    };
  }

  /** The files that `protect` covers, for a sandbox that denies writes by name and needs no mounts. */
  list(roots: readonly string[], host: HostFiles): GuardedFile[] {
    return roots.flatMap((root) => [
      ...this.#filesOfRoot(root, gitDirectory(root), host).map(({ path }) => ({ root, path })),
      ...this.#knownRepositories(root).flatMap((path) =>
        this.#filesOfRepository(path).map((file) => ({ root, path: join(relative(root, path), file.path) })),
      ),
    ]);
  }

  #protectRoot(root: string, { paths, names }: HostFiles): Guard {
    return this.#protectFiles(root, (others) => {
      // A placeholder directory is not a repository.
      const git = others.has(join(root, ".git")) ? {} : gitDirectory(root);
      return this.#filesOfRoot(root, git, { paths, names });
    });
  }

  #filesOfRoot(root: string, git: GitDirectory, { paths, names }: HostFiles): ProtectedFile[] {
    return [
      ...protectedFiles(git.name),
      ...namedByGit(this.#gitConfigs, root),
      ...[
        ...names.filter((name) => !name.includes("#")),
        ...[...paths, ...(git.link ? [git.link] : [])]
          .filter((path) => isInside(root, path) && path !== root)
          .map((path) => relative(root, path)),
      ].map((path): ProtectedFile => ({ path, ifMissing: "rename" })),
    ];
  }

  /** Protects hooks and configuration of a repository below a root. */
  #protectRepository(path: string): Guard {
    const files = this.#filesOfRepository(path);
    return this.#protectFiles(path, () => files);
  }

  #filesOfRepository(path: string): ProtectedFile[] {
    const { name = ".git" } = gitDirectory(path);
    return [...protectedInGit(name), ...namedByGit(this.#gitConfigs, path)];
  }

  #knownRepositories(root: string): readonly string[] {
    const known = this.#repositories.get(root) ?? nestedRepositories(root);
    this.#repositories.set(root, known);
    return known;
  }

  #repositoriesBelow(root: string): readonly string[] {
    // A directory that was removed or replaced with a symlink needs no mount.
    return this.#knownRepositories(root).filter((path) => isRealDirectory(root, join(path, ".git")));
  }

  /** `find` gets the placeholders of other commands, which are not files of the project. */
  #protectFiles(root: string, find: (others: ReadonlySet<string>) => readonly ProtectedFile[]): Guard {
    const mounts: Mount[] = [];
    const watched: Watched[] = [];
    let names: ReadonlySet<string> = new Set();
    const use = this.#placeholders.enter(root, (others) => {
      const files = find(others);
      // Most names of the table do not exist: list the directory once instead of checking each name.
      names = new Set(readdirSync(root));
      return mountFiles(root, files, { names, others, mounts, watched });
    });
    return {
      mounts,
      placeholders: [use],
      finish: () => {
        use.leave();
        return refuse(root, watched, names);
      },
    };
  }
}

/** Adds the mounts of these files, and the paths to watch. Returns the mount points to create. */
function mountFiles(
  root: string,
  files: readonly ProtectedFile[],
  to: {
    readonly names: ReadonlySet<string>;
    readonly others: ReadonlySet<string>;
    readonly mounts: Mount[];
    readonly watched: Watched[];
  },
): string[] {
  const { names, others, mounts, watched } = to;
  const placed: string[] = [];
  for (const { path: pattern, ifMissing } of files) {
    const existing = expand(pattern, names);
    for (const name of existing) {
      const path = join(root, name);
      const before = others.has(path) ? undefined : identify(root, path);
      if (before !== undefined) {
        const { isLink, identity } = before;
        if (!isLink) mounts.push({ kind: "bind", path, isWritable: false, identity });
        watched.push({ path: name, isReplaced: replacementOf(root, path, before) });
      } else if (ifMissing === "rename" || !isRealDirectory(root, dirname(path))) {
        watched.push({ path: name, isReplaced: () => true });
      } else placed.push(...place(path, ifMissing, mounts));
    }
    if (existing.length > 0 && !pattern.includes("*")) continue;
    if (ifMissing !== "rename") placed.push(...place(join(root, pattern), ifMissing, mounts));
    else watched.push({ path: pattern, isReplaced: () => true });
  }
  return placed;
}

/** Mounts a placeholder at a path that does not exist. Returns the path. */
function place(path: string, kind: "file" | "directory", mounts: Mount[]): string[] {
  mounts.push(kind === "file" ? { kind: "empty file", path } : { kind: "tmpfs", path, isWritable: false });
  return [path];
}

/** Renames what the command created at protected paths. `before` are the names that were in the root. */
function refuse(root: string, watched: readonly Watched[], before: ReadonlySet<string>): RefusedFile[] {
  const names = new Set(listUnlocked(root));
  const added = new Set([...names].filter((name) => !before.has(name)));
  return watched.flatMap(({ path, isReplaced }) =>
    expand(path, path.includes("*") ? added : names).flatMap((name) => {
      return (isReplaced() && renameRefused(root, join(root, name))) || [];
    }),
  );
}

/** The paths a pattern may match, given the names in the root. Empty if its first name does not exist. */
function expand(pattern: string, names: ReadonlySet<string>): string[] {
  if (pattern.includes("*")) return [...names].filter((name) => matchesName(pattern, name));
  return names.has(pattern.split("/", 1)[0] ?? "") ? [pattern] : [];
}

/**
 * Whether a protected file that existed before was replaced. A mount protects the file itself, but neither its
 * directory, which may be renamed, nor a symlink. A user may replace the file in the same directory.
 */
function replacementOf(root: string, path: string, before: Found): () => boolean {
  if (before.isLink) return () => identify(root, path)?.identity !== before.identity;
  const parent = dirname(path);
  if (parent === root) return () => false;
  const place = identify(root, parent)?.identity;
  return () => identify(root, parent)?.identity !== place;
}

/** How git's directory of a workspace is protected. */
interface GitDirectory {
  /** Its name below the root, if git's files are in the root. */
  readonly name?: string;
  /** A file or symlink that names the directory. */
  readonly link?: string;
}

function gitDirectory(root: string): GitDirectory {
  const path = join(root, ".git");
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return {};
  // No sandboxed command can have created this symlink: a mount occupies the name while one runs.
  if (found.isDirectory()) return { name: ".git" };
  const target = canonicalPath(path);
  return found.isSymbolicLink() && isInside(root, target) && isRealDirectory(root, target)
    ? { name: relative(root, target), link: path }
    : { name: ".git", link: path };
}

/** Whether the path is a directory below the root, without a symlink on the way. */
function isRealDirectory(root: string, path: string): boolean {
  if (path === root) return true;
  return identify(root, path)?.isDirectory ?? false;
}
