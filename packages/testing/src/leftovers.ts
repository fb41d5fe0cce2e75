import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The environment variable that marks processes started by a pack. They inherit it even if they are detached. */
export const MARK = "AGENT_TESTING_MARK";

const GRACE_MS = 10_000;
const POLL_MS = 50;

/** Whether this system shows the environment of processes. Otherwise leftover processes cannot be found. */
export const canFindLeftovers = process.platform === "linux";

/** Waits a moment for marked processes to exit; kills those that do not and returns their command lines. */
export async function endLeftovers(mark: string): Promise<string[]> {
  const deadline = Date.now() + GRACE_MS;
  let found = findMarked(mark);
  while (found.length > 0 && Date.now() < deadline) {
    await sleep(POLL_MS);
    found = findMarked(mark);
  }
  for (const { pid } of found) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process ended meanwhile.
    }
  }
  return found.map(({ command }) => command);
}

function findMarked(mark: string): { pid: number; command: string }[] {
  if (!canFindLeftovers) return [];
  const entry = `${MARK}=${mark}`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (!readFileSync(`/proc/${name}/environ`, "utf8").split("\0").includes(entry)) return [];
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").join(" ").trim();
        // A zombie (ended, but not yet reaped by its parent) has no command line.
        return command === "" ? [] : [{ pid: Number(name), command }];
      } catch {
        // Another user's process, or one that has just ended.
        return [];
      }
    });
}
