import { existsSync, readdirSync, readFileSync } from "node:fs";
import { lazyConstant } from "@agent/core/toolkit";

const DESCRIPTORS = "/proc/self/fdinfo";
const FLAGS = /^flags:\s*([0-7]+)$/m;
const CLOSE_ON_EXEC = 0o2000000;

/**
 * The file descriptors that a program gets from this process without being given them: those that anyone who started this
 * process left open. Node closes only low ones. A directory among them would lead out of the sandbox. They are looked up
 * once, since Node opens none of this kind itself, and a server may have thousands of its own. Empty where there is no
 * /proc; throws if it cannot be read.
 */
export const inheritedDescriptors: () => readonly number[] = lazyConstant(() =>
  existsSync(DESCRIPTORS) ? readdirSync(DESCRIPTORS).map(Number).filter(isInherited) : [],
);

function isInherited(descriptor: number): boolean {
  try {
    const [, flags] = FLAGS.exec(readFileSync(`${DESCRIPTORS}/${descriptor}`, "utf8")) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch (error) {
    // Closed meanwhile, as that of the listing is.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
