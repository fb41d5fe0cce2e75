import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import { lazyConstant } from "@agent/internal";

const DESCRIPTORS = "/proc/self/fdinfo";
const FLAGS = /^flags:\s*([0-7]+)$/m;
const CLOSE_ON_EXEC = 0o2000000;

/** An entry of `stdio` as `spawn` takes it. */
export type StdioEntry = "ignore" | "ipc" | "pipe" | number;

/**
 * Runs `start` with an `stdio` in which the file descriptors that a program would inherit are `/dev/null`: a program could leave
 * its sandbox through an open directory or socket among them.
 */
export function withoutInherited<T>(
  stdio: readonly StdioEntry[],
  start: (stdio: readonly StdioEntry[]) => T,
): T {
  const inherited = inheritedDescriptors().filter((descriptor) => descriptor >= stdio.length);
  if (inherited.length === 0) return start(stdio);
  const nothing = openSync(devNull, "r");
  try {
    const sealed = [...stdio];
    for (const descriptor of inherited) {
      while (sealed.length < descriptor) sealed.push("ignore");
      sealed[descriptor] = nothing;
    }
    return start(sealed);
  } finally {
    closeSync(nothing);
  }
}

/**
 * The file descriptors that a program would inherit from this process, in ascending order: those left open by the program that
 * started it. Node closes only low ones. They are looked up once, since Node itself opens none of this kind, and a server may have
 * thousands. Empty without /proc; throws if it cannot be read.
 */
const inheritedDescriptors: () => readonly number[] = lazyConstant(() =>
  existsSync(DESCRIPTORS)
    ? readdirSync(DESCRIPTORS)
        .map(Number)
        .filter(isInherited)
        .sort((one, other) => one - other)
    : [],
);

function isInherited(descriptor: number): boolean {
  try {
    const [, flags] = FLAGS.exec(readFileSync(`${DESCRIPTORS}/${descriptor}`, "utf8")) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch (error) {
    // Closed meanwhile, like the descriptor of the listing itself.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
