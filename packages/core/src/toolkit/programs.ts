import * as shared from "@agent/internal";

/** Resources that must not outlive an agent: process groups and placeholder files. */
export type Mortal = shared.Mortal;

/** Empty files and directories created where nothing existed. */
export type MortalPlaceholders = shared.MortalPlaceholders;

/**
 * The absolute path of a system program, with every symlink resolved. `undefined` if there is none that only the system
 * or this user can change, or if it lies in one of the `writable` directories. PATH is not used.
 *
 * @example
 * ```ts
 * import { findProgram } from "@agent/core/toolkit";
 *
 * console.log(findProgram("no-such-program")); // undefined
 * ```
 */
export const findProgram = shared.findProgram;

/**
 * The environment for programs that a pack starts for itself, without variables of the call, the project or the agent.
 *
 * @example
 * ```ts
 * import { execFileSync } from "node:child_process";
 * import { HELPER_ENVIRONMENT } from "@agent/core/toolkit";
 *
 * const code = "console.log(process.env.LD_PRELOAD)";
 * console.log(execFileSync(process.execPath, ["-e", code], { env: HELPER_ENVIRONMENT, encoding: "utf8" }).trim()); //
 * undefined
 * ```
 */
export const HELPER_ENVIRONMENT = shared.HELPER_ENVIRONMENT;

/**
 * The variables of an environment that any program may get: an allow list, so that it never contains a key by accident.
 *
 * @example
 * ```ts
 * import { safeVariables } from "@agent/core/toolkit";
 *
 * console.log(Object.keys(safeVariables({ HOME: "/home/a", ACME_TOKEN: "x" })).join()); // HOME
 * ```
 */
export const safeVariables = shared.safeVariables;

/** The arguments for `spawn`. */
export type StartableProgram = shared.StartableProgram;

/**
 * Resolves how a program is started on this system. On Windows a name is looked up in PATH, never in the current
 * directory, and a `.cmd` or `.bat` file, such as `npx`, is started through `cmd.exe` with every argument quoted.
 * Throws there if the program is not found (`ENOENT`) or an argument cannot be quoted.
 *
 * @example
 * ```ts
 * import { spawnSync } from "node:child_process";
 * import { startableProgram } from "@agent/core/toolkit";
 *
 * const { file, args, options } = startableProgram(process.execPath, ["-p", "1 + 1"]);
 * console.log(spawnSync(file, args, { ...options, encoding: "utf8" }).stdout.trim()); // 2
 * ```
 */
export const startableProgram = shared.startableProgram;

/**
 * The file that Windows starts for the name of a program: looked up in PATH, never in the current directory.
 *
 * @example
 * ```ts
 * import { findOnWindows } from "@agent/core/toolkit";
 *
 * console.log(findOnWindows("no-such-program")); // undefined
 * ```
 */
export const findOnWindows = shared.findOnWindows;

/**
 * Kills a process and everything that it started, on Windows. On other systems, kill its process group.
 *
 * @example
 * ```ts
 * import { killWindowsTree } from "@agent/core/toolkit";
 *
 * if (process.platform === "win32") await killWindowsTree(4711);
 * console.log(typeof killWindowsTree); // function
 * ```
 */
export const killWindowsTree = shared.killWindowsTree;

/**
 * A small process that kills what an agent started if the agent is killed before it can do so itself.
 *
 * @example
 * ```ts
 * import { Watchdog } from "@agent/core/toolkit";
 *
 * const watchdog = new Watchdog("ACME_RUN=1", { groups: [] });
 * watchdog.update({ groups: [] }); // process groups that were started
 * watchdog.dismiss(); // all have ended
 * console.log("dismissed"); // dismissed
 * ```
 */
export const Watchdog = shared.Watchdog;
export type Watchdog = shared.Watchdog;
