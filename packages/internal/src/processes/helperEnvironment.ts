/** The system's program directories. PATH is not used: a project or an earlier command may have changed it. */
export const SYSTEM_DIRECTORIES = [
  "/usr/bin",
  "/bin",
  "/usr/local/bin",
  "/run/current-system/sw/bin",
] as const;

/**
 * The environment for programs that a pack starts for itself, without variables of the call, the project or the agent.
 * `LD_PRELOAD` or `BASH_ENV` would be code in them.
 *
 * @example
 * ```ts
 * import { execFileSync } from "node:child_process";
 * import { HELPER_ENVIRONMENT } from "@agent/core/toolkit";
 *
 * const code = "console.log(process.env.LD_PRELOAD)";
 * console.log(execFileSync(process.execPath, ["-e", code], { env: HELPER_ENVIRONMENT, encoding: "utf8" }).trim()); // undefined
 * ```
 */
export const HELPER_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: SYSTEM_DIRECTORIES.join(":"),
  LC_ALL: "C",
};
