import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 20;

/** Whether a process is running. A zombie is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !readFileSync(stat, "latin1").includes(") Z ");
}

/** The process id that a command writes into a file with `echo $$`, as soon as it is there. */
export async function pidIn(file: string): Promise<number> {
  while (!existsSync(file) || !readFileSync(file, "utf8").endsWith("\n")) await delay(POLL_MS);
  return Number(readFileSync(file, "utf8"));
}

/** Resolves when a process has exited. */
export async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await delay(POLL_MS);
}
