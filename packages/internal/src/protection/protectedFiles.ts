/**
 * When a file of the table is protected:
 * - `always`: from every tool. Writing it changes what git or a server of the agent runs.
 * - `files`: only from the file tools. Git itself has to write it, so a shell's sandbox leaves it writable.
 * - `restricted`: if the host restricts the tools. With a `root` it is refused, under `AccessRules` the user is asked.
 */
type ProtectionScope = "always" | "files" | "restricted";

/** Files that run code, or change where code comes from, without the user asking for it. */
export interface ProtectedFile {
  /**
   * Consecutive path components, in any directory: `.git/hooks` also matches `sub/.git/hooks/pre-commit`. A pattern of
   * one name may contain one `*`, for a family of names. `package.json#scripts` means one key of a JSON file.
   */
  readonly pattern: string;
  readonly scope: ProtectionScope;
  /** The reason for the user: continues the sentence "It is protected, since …". */
  readonly reason: string;
  /** Exceptions below the pattern. */
  readonly except?: readonly string[];
}

/**
 * Files that run code on the user's next command, such as git hooks and shell profiles: a tool refuses to write them,
 * or asks.
 *
 * Lists files that run with the user's next command; files that a user has to name (a Makefile, a test) are not listed.
 * Families of names are better than names: programs add endings. The host's own files are not listed either: it passes
 * them to packs as `protectedPaths` and `protectedNames`.
 *
 * @example
 * ```ts
 * import { PROTECTED_FILES } from "@agent/core/toolkit";
 *
 * console.log(PROTECTED_FILES.length > 0); // true
 * ```
 */
export const PROTECTED_FILES: readonly ProtectedFile[] = [
  ...rows("always", "it lists the tools of MCP servers and packs that a user approved", [
    "mcp.lock.json",
    "packs.lock.json",
  ]),

  ...rows("always", "git runs the programs in it", [".git/hooks"]),
  ...rows("always", "it names programs that git runs", [".git/config", ".git/config.worktree"]),
  ...rows("always", "it contains git directories with their own hooks and configuration", [
    ".git/modules",
    ".git/worktrees",
  ]),
  // No other program has a file of this name, so it is protected outside ".git" too.
  ...rows("always", "it makes git take hooks and configuration from another directory", ["commondir"]),
  ...rows("files", 'git runs its "exec" lines when the rebase continues', [
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
    ".Renviron",
    ".pdbrc*",
    ".perldb",
    ".byebugrc",
    ".rdebugrc",
    ".psysh*",
    ".ghci",
    ".ocamlinit",
    ".iex.exs",
    ".octaverc",
    ".radare2rc",
    ".tmux.conf",
    ".config/tmux",
    ".screenrc",
    "sitecustomize.py",
    "usercustomize.py",
    "*.pth",
  ]),
  ...rows("restricted", "it is loaded as soon as a shell enters the directory", [
    ".envrc",
    ".config/direnv",
    ".tool-versions",
    "mise*.toml",
    ".mise*",
    ".rtx*",
    "mise/config.toml",
    "mise/conf.d",
    ".config/mise",
    ".config/mise.toml",
    ".autoenv*",
    ".shadowenv.d",
    ".prototools",
    ".pkgx.*",
    ".sdkmanrc",
  ]),

  ...rows("restricted", "it names programs that git runs", [".gitconfig", ".config/git"]),
  ...rows("restricted", "it decides where git takes code from", [".gitmodules", ".lfsconfig"]),
  ...rows("restricted", "it runs with the next commit or push", [
    ".husky*",
    "husky.config.*",
    ".githooks",
    ".git-hooks",
    ".lefthook*",
    "lefthook.*",
    "lefthook-local.*",
    ".config/lefthook.yml",
    ".lintstagedrc*",
    "lint-staged.config.*",
    ".nano-staged*",
    "nano-staged.*",
    ".nanostagedrc*",
    ".overcommit*",
    ".pre-commit-*",
    "prek.toml",
    ".simple-git-hooks*",
    "simple-git-hooks.*",
    "captainhook.json",
    "grumphp.yml*",
    ".commitlintrc*",
    "commitlint.config.*",
  ]),
  ...rows("restricted", "another version control system takes hooks and programs from it", [
    ".hg",
    ".hgrc",
    ".jj",
  ]),
  ...rows("restricted", "a build service runs it, with the project's secrets", [
    ".github/workflows",
    ".github/actions",
    ".gitea/workflows",
    ".forgejo/workflows",
    ".gitlab-ci*",
    ".gitlab/ci",
    ".circleci",
    ".buildkite",
    ".travis*",
    ".drone*",
    ".woodpecker*",
    ".cirrus*",
    ".semaphore",
    ".teamcity",
    ".tekton",
    ".harness",
    ".codefresh*",
    ".appveyor*",
    "appveyor*",
    ".build.yml",
    ".builds",
    ".onedev-buildspec.yml",
    ".screwdriver*",
    "screwdriver.yaml",
    ".vela*",
    ".azure-pipelines*",
    ".azuredevops",
    "azure-pipelines*",
    "bitbucket-pipelines*",
    "bitrise.yml",
    "buildspec*.yml",
    "cloudbuild*.yaml",
    "codemagic.yaml",
    "Jenkinsfile*",
  ]),

  ...rows("restricted", "package managers run some of its scripts without asking", [
    "package.json#scripts",
    "composer.json#scripts",
  ]),
  ...rows("restricted", "it decides which program is downloaded and run as the package manager", [
    "package.json#packageManager",
    "package.json#devEngines",
    ".corepack.env",
  ]),
  ...rows("restricted", "it names commands that run with the next commit or push", [
    "package.json#husky",
    "package.json#gitHooks",
    "package.json#lint-staged",
    "package.json#nano-staged",
    "package.json#simple-git-hooks",
    "package.json#pre-commit",
    "package.json#pre-push",
  ]),
  ...rows("restricted", "a package manager loads code from it, or takes packages from where it says", [
    ".npmrc",
    ".yarnrc*",
    ".yarn/plugins",
    ".yarn/releases",
    ".pnp.*",
    ".pnpmfile.*",
    "pnpm-workspace.yaml",
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
    ".bundle/plugin",
    ".config/composer",
    ".config/go",
    "NuGet.config",
    ".m2",
  ]),
  ...rows("restricted", "it decides which compiler or build tool is loaded, and from where", [
    "rust-toolchain*",
    ".mvn",
    ".gradle",
    "gradle-wrapper.*",
    ".bazel*",
    "tools/bazel",
    ".buckconfig*",
    ".pants.rc",
    ".pants.bootstrap",
    "pants.toml",
    ".sbtopts",
    ".jvmopts",
    ".mill*",
    ".fvmrc",
    "global.json",
    ".config/dotnet-tools.json",
  ]),

  ...rows("restricted", "an editor runs its tasks, or programs that its settings name", [
    ".vscode",
    "*.code-workspace",
    "*.sublime-project",
    "*.sublime-settings",
    ".config/Code",
    ".idea",
    ".fleet",
    ".vs",
    ".zed",
    ".config/zed",
    ".helix",
    ".config/helix",
    ".vim",
    ".vimrc*",
    ".gvimrc",
    ".exrc",
    ".lvimrc",
    ".nvim*",
    ".lazy.lua",
    ".neoconf*",
    ".kakrc",
    ".config/nvim",
    ".dir-locals*",
    ".ycm_extra_conf.py",
    ".clangd",
    ".luarc.*",
    "rust-analyzer.toml",
    ".rust-analyzer.toml",
    ".formatter.exs",
    ".bsp",
    ".nova",
    ".emacs",
    ".emacs.d",
    ".config/emacs",
  ]),
  ...rows("restricted", "it starts programs when the project is opened in a container", [
    ".devcontainer*",
    "devcontainer.json",
    ".gitpod*",
    ".codesandbox",
    ".stackblitzrc",
    ".replit",
    "devfile.yaml",
    ".devfile.yaml",
  ]),
  // Their instructions (CLAUDE.md, AGENTS.md) are text and stay writable.
  ...rows("restricted", "another agent takes hooks, servers or permissions from it", [
    ".claude",
    ".claude.json",
    ".mcp.json",
    ".cursor",
    ".codex",
    ".gemini",
    ".qwen",
    ".opencode",
    "opencode.json*",
    ".config/opencode",
    ".aider.conf.yml",
    ".aider.model.*",
    ".continue",
    ".continuerc.json",
    ".windsurf",
    ".codeium",
    ".roo",
    ".roomodes",
    ".kilocode*",
    ".clinerules/hooks",
    ".kiro",
    ".amazonq",
    ".junie",
    ".factory",
    ".crush*",
    "crush.json",
    ".goose",
    ".config/goose",
    ".copilot",
    ".github/hooks",
    ".augment",
    ".trae",
    ".amp",
    ".config/amp",
    ".openhands",
    ".iflow",
    ".codebuddy",
    ".pi",
    ".grok",
    ".vibe",
    ".warp",
  ]),
];

/**
 * Whether a name matches a pattern in which `*` stands for any text and `?` for one character.
 *
 * @example
 * ```ts
 * import { matchesName } from "@agent/core/toolkit";
 *
 * console.log(matchesName(".env*", ".env.local")); // true
 * ```
 */
export function matchesName(pattern: string, name: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === name;
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop();
  const fits = (part: string, at: number): boolean =>
    at + part.length <= name.length &&
    part.split("").every((char, index) => char === "?" || char === name[at + index]);
  if (!fits(first, 0)) return false;
  if (last === undefined) return first.length === name.length;
  let at = first.length;
  // The earliest place of each part leaves the most for the others.
  for (const part of parts) {
    while (at + part.length <= name.length && !fits(part, at)) at++;
    if (at + part.length > name.length) return false;
    at += part.length;
  }
  return name.length - last.length >= at && fits(last, name.length - last.length);
}

function rows(scope: ProtectionScope, reason: string, patterns: readonly string[]): ProtectedFile[] {
  return patterns.map((pattern) => ({ pattern, scope, reason }));
}
