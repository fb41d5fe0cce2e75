import { nodeFs } from "../files/nodeModules.js";
import { quotePath } from "../text/describe.js";

/** The type number `statfs` gives for Linux's procfs. */
const PROC_SUPER_MAGIC = 0x9fa0;

const PROCESS_DIRECTORY = /^\/proc\/(?:\d+|self|thread-self)(?:\/task\/\d+)?(?:\/task$|\/(.+)|$)/;

/**
 * The readable files of a process. An allow list, because the rest is memory (`mem`, `maps`, `stack`), the environment
 * with its keys (`environ`, `auxv`), arguments that may contain passwords (`cmdline`) or other ways to those (`fd`,
 * `root`), and a new kernel may add to it.
 */
const PUBLIC_OF_PROCESS = new Set(
  (
    "arch_status attr autogroup cgroup comm cpuset exe gid_map io ksm_merging_pages ksm_stat limits loginuid mountinfo mounts " +
    "mountstats net ns oom_adj oom_score oom_score_adj personality projid_map sched schedstat sessionid setgroups " +
    "stat statm status timens_offsets timers timerslack_ns uid_map wchan"
  ).split(" "),
);

/** The memory of the machine, and so of every process. */
const MACHINE_MEMORY = new Set(["/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore", "/proc/vmcore"]);

/**
 * Whether reading this canonical path, a file or a directory, could expose the memory, environment, arguments or open
 * files of a process, including this one, which may contain provider keys. Decides by the name alone; a tool that has
 * opened the file must also call `assertOpenedIsNotProcessSecret`.
 *
 * @example
 * ```ts
 * import { isProcessSecret } from "@agent/core/toolkit";
 *
 * console.log(isProcessSecret("/proc/self/environ"), isProcessSecret("/proc/self/status")); // true false
 * ```
 */
export function isProcessSecret(path: string): boolean {
  if (MACHINE_MEMORY.has(path)) return true;
  const match = PROCESS_DIRECTORY.exec(path);
  const [entry] = match?.[1]?.split("/") ?? [];
  return entry !== undefined && !PUBLIC_OF_PROCESS.has(entry);
}

/**
 * Throws if `isProcessSecret(path)`. `shown` is the path as the model wrote it, for the message.
 *
 * @example
 * ```ts
 * import { assertNotProcessSecret } from "@agent/core/toolkit";
 *
 * try {
 *   assertNotProcessSecret("/proc/1/environ", "link.txt");
 * } catch {
 *   console.log("refused"); // refused
 * }
 * ```
 */
export function assertNotProcessSecret(path: string, shown: string): void {
  if (!isProcessSecret(path)) return;
  throw new Error(
    `${quotePath(shown)} shows the memory, environment, arguments or open files of a process, which no tool reads: ` +
      "secrets are kept there.",
  );
}

/**
 * Like `assertNotProcessSecret`, but checks what a file descriptor really opened: a symlink, a renamed parent or a
 * procfs mounted elsewhere cannot hide it. `info` is the result of `fstat`; on systems without procfs nothing is
 * checked.
 *
 * @example
 * ```ts
 * import { closeSync, fstatSync, openSync } from "node:fs";
 * import { assertOpenedIsNotProcessSecret } from "@agent/core/toolkit";
 *
 * const descriptor = openSync("a.txt", "w");
 * assertOpenedIsNotProcessSecret(descriptor, fstatSync(descriptor), "a.txt");
 * closeSync(descriptor);
 * console.log("a plain file"); // a plain file
 * ```
 */
export function assertOpenedIsNotProcessSecret(
  fd: number,
  info: { readonly blocks: number | bigint },
  shown: string,
): void {
  // No file of procfs occupies blocks. Check further only files without blocks, since two system calls per file add up.
  if (process.platform !== "linux" || Number(info.blocks) > 0) return;
  const descriptor = `/proc/self/fd/${fd}`;
  if (nodeFs.statfsSync(descriptor).type !== PROC_SUPER_MAGIC) return;
  const path = nodeFs.readlinkSync(descriptor);
  assertNotProcessSecret(path, shown);
  if (path === "/proc" || path.startsWith("/proc/")) return;
  // Names prove nothing here: a single file can be mounted under any name.
  throw new Error(`${quotePath(shown)} is on a procfs that is mounted outside /proc, which no tool reads.`);
}
