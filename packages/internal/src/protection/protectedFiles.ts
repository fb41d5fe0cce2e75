/**
 * When a file of the table is protected:
 * - `always`: from every tool. Writing it changes what git or a server of the agent runs.
 * - `files`: from the file tools alone. Git itself has to write it, so a sandbox around a shell leaves it writable.
 * - `restricted`: where the host restricts the tools. With a `root` it is refused, under `AccessRules` a person is asked.
 */
type ProtectionScope = "always" | "files" | "restricted";

/** Files that run code, or redirect where code comes from, without anybody asking for it. */
export interface ProtectedFile {
  /**
   * Names that follow each other in a path, in any directory: `.git/hooks` also means `sub/.git/hooks/pre-commit`. A first
   * name may start with `*`. `package.json#scripts` means one key of a JSON file.
   */
  readonly pattern: string;
  readonly scope: ProtectionScope;
  /** Why, for a person: continues the sentence "It is protected, since …". */
  readonly reason: string;
  /** What below the pattern is not protected. */
  readonly except?: readonly string[];
}

/**
 * What runs on a person's next command is listed; what a person has to name (a Makefile, a test) is not. The files of the
 * program that runs the agent are not listed either: it passes them to packs as `protectedPaths` and `protectedNames`.
 */
export const PROTECTED_FILES: readonly ProtectedFile[] = [
  ...rows("always", "it says which tools of MCP servers a person agreed to", ["mcp.lock.json"]),

  ...rows("always", "git runs the programs in it", [".git/hooks"]),
  ...rows("always", "it names programs that git runs", [".git/config", ".git/config.worktree"]),
  ...rows("always", "git directories with hooks and configuration of their own are in it", [
    ".git/modules",
    ".git/worktrees",
  ]),
  // No other program has a file of this name, so it is protected outside ".git" too.
  ...rows("always", "it makes git take hooks and configuration from another directory", ["commondir"]),
  ...rows("files", 'git runs its "exec" lines when the rebase goes on', [
    ".git/rebase-merge",
    ".git/rebase-apply",
    ".git/sequencer",
  ]),
  ...rows("files", "it decides which of the configured filter programs git runs", [".git/info/attributes"]),
  ...rows("files", "it decides where git fetches from", [".git/remotes", ".git/branches"]),
  {
    pattern: ".git",
    scope: "files",
    reason: "only git itself writes its state",
    except: ["info/exclude", "info/sparse-checkout", "description", "COMMIT_EDITMSG", "index.lock"],
  },

  ...rows("restricted", "a shell runs it when it starts or ends", [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".config/fish",
    ".config/nushell",
    ".config/powershell",
  ]),
  ...rows("restricted", "the desktop or the system runs it at login or on a schedule", [
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".local/share/systemd",
    ".local/share/applications",
    ".pam_environment",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    "Library/LaunchAgents",
    "Library/LaunchDaemons",
    ".crontab",
    ".forward",
    ".procmailrc",
  ]),
  ...rows("restricted", "it decides who may log in, or names programs that run at login", [
    ".ssh",
    ".rhosts",
  ]),
  ...rows("restricted", "it names programs that run whenever its client is used", [
    ".aws/config",
    ".aws/credentials",
    ".docker/config.json",
    ".gnupg",
    ".kube/config",
  ]),
  ...rows("restricted", "a debugger, interpreter or terminal runs it when it starts in this directory", [
    ".gdbinit",
    ".lldbinit",
    ".irbrc",
    ".pryrc",
    ".psqlrc",
    ".sqliterc",
    ".Rprofile",
    ".tmux.conf",
    ".config/tmux",
    ".screenrc",
    "sitecustomize.py",
    "usercustomize.py",
  ]),
  ...rows("restricted", "it is loaded as soon as a shell enters the directory", [
    ".envrc",
    ".config/direnv",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    "mise.local.toml",
    ".mise.local.toml",
    ".mise",
    ".config/mise",
  ]),

  ...rows("restricted", "it names programs that git runs", [".gitconfig", ".config/git"]),
  ...rows("restricted", "it decides where git takes code from", [".gitmodules", ".lfsconfig"]),
  ...rows("restricted", "it runs with the next commit or push", [
    ".husky",
    ".githooks",
    ".lefthook",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook-local.yml",
    "lefthook-local.yml",
    ".overcommit.yml",
    ".pre-commit-config.yaml",
    ".simple-git-hooks.json",
  ]),
  ...rows("restricted", "another version control system takes hooks and programs from it", [
    ".hg",
    ".hgrc",
    ".jj",
  ]),
  ...rows("restricted", "a build service runs it, with the project's secrets", [
    ".github/workflows",
    ".github/actions",
    ".gitlab-ci.yml",
    ".circleci",
    ".buildkite",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker",
    ".woodpecker.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "Jenkinsfile",
  ]),

  ...rows("restricted", "npm runs some of them unasked", ["package.json#scripts"]),
  ...rows("restricted", "a package manager loads code from it, or takes packages from where it says", [
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".yarn/plugins",
    ".yarn/releases",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    "bunfig.toml",
    ".bunfig.toml",
    "pip.conf",
    ".pip",
    ".config/pip",
    ".pypirc",
    ".pydistutils.cfg",
    "uv.toml",
    ".config/uv",
    ".condarc",
    ".cargo/config",
    ".cargo/config.toml",
    ".gemrc",
    ".bundle/config",
    ".config/composer",
    ".config/go",
    "NuGet.config",
    ".m2",
  ]),
  ...rows("restricted", "it decides which compiler or build tool is loaded, and from where", [
    "rust-toolchain",
    "rust-toolchain.toml",
    ".mvn",
    ".gradle",
    "gradle-wrapper.properties",
    ".bazelrc",
    ".bazeliskrc",
  ]),

  ...rows("restricted", "an editor runs its tasks, or programs that its settings name", [
    ".vscode",
    "*.code-workspace",
    ".config/Code",
    ".idea",
    ".fleet",
    ".vs",
    ".zed",
    ".config/zed",
    ".helix",
    ".config/helix",
    ".vim",
    ".vimrc",
    ".gvimrc",
    ".exrc",
    ".lvimrc",
    ".nvimrc",
    ".nvim.lua",
    ".config/nvim",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".emacs",
    ".emacs.d",
    ".config/emacs",
  ]),
  ...rows("restricted", "it starts programs when the project is opened in a container", [
    ".devcontainer",
    ".devcontainer.json",
    "devcontainer.json",
    ".gitpod.yml",
  ]),
  // Their instructions (CLAUDE.md, AGENTS.md) are text and stay writable.
  ...rows("restricted", "another agent takes hooks, servers or permissions from it", [
    ".claude",
    ".mcp.json",
    ".cursor",
    ".codex",
    ".gemini",
    ".qwen",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".config/opencode",
    ".aider.conf.yml",
    ".continue",
    ".windsurf",
    ".roo",
    ".kiro",
    ".amazonq",
    ".junie",
    ".factory",
    ".crush.json",
    "crush.json",
    ".config/goose",
    ".copilot",
  ]),
];

function rows(scope: ProtectionScope, reason: string, patterns: readonly string[]): ProtectedFile[] {
  return patterns.map((pattern) => ({ pattern, scope, reason }));
}
