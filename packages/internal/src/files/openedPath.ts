import { nodeFs } from "./nodeModules.js";

/**
 * Whether the system can name open files and directories: on Linux, with /proc mounted.
 *
 * @example
 * ```ts
 * import { namesOpenFiles } from "@agent/core/toolkit";
 *
 * console.log(typeof namesOpenFiles()); // boolean
 * ```
 */
export function namesOpenFiles(): boolean {
  return process.platform === "linux" && nodeFs.existsSync("/proc/self/fd");
}

/**
 * The canonical path of an open file or directory; `path` is what was passed to `open`. If the system cannot name open
 * files, it is the current target of `path`, or `undefined` if something else is there by then. That detects a
 * directory that was replaced with a symlink; one that is exchanged back and forth between these lookups can still go
 * unnoticed.
 *
 * @example
 * ```ts
 * import { closeSync, openSync } from "node:fs";
 * import { openedPath } from "@agent/core/toolkit";
 *
 * const descriptor = openSync("a.txt", "w");
 * console.log(openedPath(descriptor, "a.txt")?.endsWith("/a.txt")); // true
 * closeSync(descriptor);
 * ```
 */
export function openedPath(descriptor: number, path: string): string | undefined {
  if (namesOpenFiles()) {
    return nodeFs.readlinkSync(`/proc/self/fd/${descriptor}`).replace(/ \(deleted\)$/, "");
  }
  const place = nodeFs.realpathSync.native(path);
  const opened = nodeFs.fstatSync(descriptor, { bigint: true });
  const there = nodeFs.lstatSync(place, { bigint: true });
  return opened.ino === there.ino && opened.dev === there.dev ? place : undefined;
}
