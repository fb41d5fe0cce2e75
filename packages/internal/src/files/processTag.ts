import { lazyConstant } from "../lazyConstant.js";
import { toUtf8 } from "../text/bytes.js";
import { nodeFs, nodeOs } from "./nodeModules.js";

const TAG = /^([0-9a-z]{1,7})-([1-9]\d{0,9})$/;

/**
 * Identifies this process among all that may share a file system with it: `1k2j3h-4242`. For names of files that should
 * not outlive their process, so that another one can check with `hasEnded`.
 *
 * @example
 * ```ts
 * import { hasEnded, processTag } from "@agent/core/toolkit";
 *
 * console.log(hasEnded(processTag())); // false
 * ```
 */
export function processTag(): string {
  return `${home()}-${process.pid}`;
}

/**
 * Whether the process with this tag has exited. `undefined` if that is unknown: it is one of another machine, boot or
 * container, or the text is not a tag.
 *
 * @example
 * ```ts
 * import { hasEnded } from "@agent/core/toolkit";
 *
 * console.log(hasEnded("elsewhere-1")); // undefined
 * ```
 */
export function hasEnded(tag: string): boolean | undefined {
  const [, where, pid] = TAG.exec(tag) ?? [];
  return where === home() ? !isRunning(Number(pid)) : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not permitted: it exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Where process ids are comparable: this boot of this machine, and this container. */
const home = /* @__PURE__ */ lazyConstant(() =>
  shortHash(`${nodeOs.hostname()} ${bootId()} ${processNamespace()}`),
);

function bootId(): string {
  const path = "/proc/sys/kernel/random/boot_id";
  return nodeFs.existsSync(path) ? nodeFs.readFileSync(path, "utf8") : "";
}

function processNamespace(): string {
  const path = "/proc/self/ns/pid";
  return nodeFs.existsSync(path) ? nodeFs.readlinkSync(path) : "";
}

/** FNV-1a with 32 bits. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of toUtf8(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(36);
}
