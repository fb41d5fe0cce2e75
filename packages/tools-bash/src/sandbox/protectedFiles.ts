import { PROTECTED_FILES } from "@agent/core/toolkit";

/** A path below a writable directory that sandboxed commands may not change. */
export interface ProtectedFile {
  /** Relative to the writable directory. A single name may contain a `*`. */
  readonly path: string;
  /**
   * The placeholder that prevents a missing path from being created. A `file` or `directory` is mounted in its place
   * while the command runs. `rename`: what the command created gets another name after the command; for names whose
   * mere presence would disturb other programs: git fails to add a file that is mounted.
   */
  readonly ifMissing: "file" | "directory" | "rename";
}

/** Package managers and build tools write these with every install or build, and would fail. */
const WRITTEN_BY_BUILDS = new Set([
  "node_modules/.bin",
  ".pnp.*",
  "pnpm-workspace.yaml",
  ".yarn/releases",
  ".yarn/plugins",
  ".gradle",
  "gradle-wrapper.*",
  ".bsp",
  // Python loads it only from package directories; elsewhere it is the weights of a model.
  "*.pth",
  ".m2",
]);

const GIT = ".git/";
/** In the git directory mounts do no harm, except for this file: an empty one makes git fail. */
const COMMON_DIRECTORY = "commondir";
const GIT_FILES = new Set(["config", "config.worktree"]);

/**
 * The part of core's table that applies to commands: without the files that git itself must write, and without parts of
 * a file, such as the scripts of package.json, since a mount covers a whole file.
 */
const PATTERNS = PROTECTED_FILES.filter(
  ({ scope, pattern }) => scope !== "files" && !pattern.includes("#") && !WRITTEN_BY_BUILDS.has(pattern),
).map(({ pattern }) => pattern);

const ALWAYS = PATTERNS.filter((pattern) => !pattern.startsWith(GIT)).map(
  (path): ProtectedFile => ({ path, ifMissing: "rename" }),
);

const IN_GIT_DIRECTORY: readonly ProtectedFile[] = [
  ...PATTERNS.filter((pattern) => pattern.startsWith(GIT)).map((pattern): ProtectedFile => {
    const path = pattern.slice(GIT.length);
    return { path, ifMissing: GIT_FILES.has(path) ? "file" : "directory" };
  }),
  { path: COMMON_DIRECTORY, ifMissing: "rename" },
];

/** For a directory without a repository: git treats a directory that contains one of these as a repository. */
const NO_REPOSITORY: readonly ProtectedFile[] = [
  { path: ".git", ifMissing: "directory" },
  { path: "HEAD", ifMissing: "rename" },
];

/** The paths to protect in a writable directory; `git` is the name of its git directory, if it has one. */
export function protectedFiles(git: string | undefined): readonly ProtectedFile[] {
  if (git === undefined) return [...ALWAYS, ...NO_REPOSITORY];
  return [...ALWAYS, ...protectedInGit(git)];
}

/** The paths to protect in the git directory of this name. */
export function protectedInGit(git: string): ProtectedFile[] {
  return IN_GIT_DIRECTORY.map((file) => ({ ...file, path: `${git}/${file.path}` }));
}
