import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The environment variable by which processes a pack started are known again, however they were detached. */
export const MARK = "AGENT_TESTING_MARK";

const GRACE_MS = 10_000;
const POLL_MS = 50;

/** Whether this system shows the environment of processes. Without it leftovers cannot be found. */
export const canFindLeftovers = process.platform === "linux";

/** Waits a moment for marked processes to end; ends those that do not and returns their command lines. */
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
      // It ended meanwhile.
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
        // A process that has ended but was not waited for yet has no command line.
        return command === "" ? [] : [{ pid: Number(name), command }];
      } catch {
        // Another user's process, or one that has just ended.
        return [];
      }
    });
}
