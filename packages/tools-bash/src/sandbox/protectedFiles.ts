/** A path below a writable directory that commands in a sandbox may not change. */
export interface ProtectedFile {
  readonly path: string;
  /**
   * What keeps a path from being made that does not exist yet. A `file` or `directory` is mounted in its place while
   * the command runs. `rename`: what the command made gets another name when the command has ended; for names whose
   * mere presence would disturb other programs: git fails to add a file that is mounted.
   */
  readonly ifMissing: "file" | "directory" | "rename";
}

const files = (ifMissing: ProtectedFile["ifMissing"], paths: readonly string[]): ProtectedFile[] =>
  paths.map((path) => ({ path, ifMissing }));

/** In every writable directory. */
const ALWAYS: readonly ProtectedFile[] = [
  // Configuration of the agent: code that its next start runs, after a question.
  ...files(
    "rename",
    ["ts", "js", "mjs", "json", "yaml"].map((ending) => `agent.config.${ending}`),
  ),
  // What shells, editors and other programs run or obey unasked.
  ...files("rename", [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
    ".config/autostart",
    ".config/git",
    ".config/agent",
    ".local/state/agent",
    ".gitconfig",
    ".ssh",
    ".envrc",
    ".husky",
    ".idea",
    ".vscode",
  ]),
];

/** In a directory of git: what git runs, or takes configuration and hooks from. */
const IN_GIT_DIRECTORY: readonly ProtectedFile[] = [
  ...files("directory", ["hooks", "modules", "worktrees"]),
  ...files("file", ["config", "config.worktree"]),
  // An empty commondir makes git fail, so nothing can be mounted there.
  ...files("rename", ["commondir"]),
];

/** Where there is no repository: git takes a directory that has one of these for one. */
const NO_REPOSITORY: readonly ProtectedFile[] = [
  ...files("directory", [".git"]),
  ...files("rename", ["HEAD"]),
];

/**
 * The paths to protect in a writable directory, where `git` is the path of its git directory, if it has one. Rules
 * for a part of a file, such as the scripts of package.json, are left to the file tools: a mount covers a whole file,
 * and package managers must be able to write this one.
 */
export function protectedFiles(git: string | undefined): readonly ProtectedFile[] {
  if (git === undefined) return [...ALWAYS, ...NO_REPOSITORY];
  return [...ALWAYS, ...IN_GIT_DIRECTORY.map((file) => ({ ...file, path: `${git}/${file.path}` }))];
}
