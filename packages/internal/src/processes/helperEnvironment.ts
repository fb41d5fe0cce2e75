/** Where the system keeps its programs. PATH is not used: a project or an earlier command may have changed it. */
export const SYSTEM_DIRECTORIES = [
  "/usr/bin",
  "/bin",
  "/usr/local/bin",
  "/run/current-system/sw/bin",
] as const;

/**
 * The environment of every program that a pack starts for itself. No variable of a call, of a project or of the agent
 * reaches it: `LD_PRELOAD` or `BASH_ENV` would be code in it.
 */
export const HELPER_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: SYSTEM_DIRECTORIES.join(":"),
  LC_ALL: "C",
};
