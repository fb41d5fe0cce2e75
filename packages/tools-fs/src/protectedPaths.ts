/**
 * Protected in every directory: the agent's own configuration, and what git runs by itself. Those with "~" are the
 * person's own: what is in there runs, or counts as trusted, wherever the agent is started next.
 */
export const ALWAYS_PROTECTED: readonly string[] = [
  "agent.config.ts",
  "agent.config.js",
  "agent.config.mjs",
  "agent.config.json",
  "agent.config.yaml",
  "package.json#agent",
  "~/.config/agent",
  "~/.local/state/agent",
  ".git/hooks",
  ".git/config",
  ".git/config.worktree",
  ".git/modules",
  // They name another directory that git takes its configuration and hooks from.
  ".git/commondir",
  ".git/worktrees",
];

/** Protected as well when a root is set: files that other programs execute or obey unasked. */
export const PROTECTED_IN_ROOT: readonly string[] = [
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
  ".gitconfig",
  ".ssh",
  ".envrc",
  ".husky",
  ".idea",
  ".vscode",
  "package.json#scripts",
];
