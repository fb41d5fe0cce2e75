import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

// Counted from the third field on, as proc_pid_stat(5) numbers them: the second may hold blanks.
const ENV_START = 50 - 3;
const ENV_END = 51 - 3;

/**
 * Overwrites these variables in the memory that `/proc/PID/environ` shows: a deleted variable stays readable there for
 * every process of the same user. Call it after deleting them from `process.env`. Does nothing except on Linux.
 */
export function wipeEnvironment(names: readonly string[]): void {
  if (process.platform !== "linux") return;
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [start, end] = [Number(fields[ENV_START]), Number(fields[ENV_END])];
    const block = readFileSync("/proc/self/environ", "latin1");
    // The process may have moved its environment; then these are not the addresses of the block that was read.
    if (!(start > 0) || block.length !== end - start) return;
    overwrite(start, block, names);
  } catch {
    // Without /proc no other process can read the variables either.
  }
}

function overwrite(start: number, block: string, names: readonly string[]): void {
  const memory = openSync("/proc/self/mem", "r+");
  try {
    let at = 0;
    for (const entry of block.split("\0")) {
      const name = entry.slice(0, entry.indexOf("="));
      if (names.includes(name)) writeSync(memory, Buffer.alloc(entry.length), 0, entry.length, start + at);
      at += entry.length + 1;
    }
  } finally {
    closeSync(memory);
  }
}
