import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { ServerProcesses } from "./processes.js";

const MARK_NAME = "AGENT_MCP_HOST";

// Reads the groups to watch, one list a line. When the lines end without "done", the agent is gone without having
// ended its servers (SIGKILL, a crash): then this shell ends them.
const WATCHDOG = `
while read -r line; do
  case $line in done) exit 0 ;; esac
  groups=$line
done
for round in 1 2 3; do
  for group in $groups; do kill -KILL -- "-$group"; done
  for file in $(grep -sl -- "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
done
`;

/**
 * Makes sure that servers never outlive the agent: on a normal exit it kills them itself, and a small shell does so
 * when the agent is killed. The shell runs only while there are servers.
 */
export class ProcessGuard {
  readonly #id = randomUUID();
  readonly #watched = new Map<number, ServerProcesses>();
  #watchdog: ChildProcess | undefined;
  #count = 0;
  readonly #onExit = (): void => {
    for (const processes of this.#watched.values()) processes.kill();
  };

  /** A variable for the environment of the next server, by which everything it starts can be found. */
  newMark(): { readonly name: string; readonly value: string } {
    return { name: MARK_NAME, value: `${this.#id}.${++this.#count}.` };
  }

  watch(leader: number, processes: ServerProcesses): void {
    if (this.#watched.size === 0) process.on("exit", this.#onExit);
    this.#watched.set(leader, processes);
    this.#watchdog ??= this.#startWatchdog();
    this.#report();
  }

  release(leader: number): void {
    if (!this.#watched.delete(leader)) return;
    if (this.#watched.size > 0) {
      this.#report();
      return;
    }
    process.off("exit", this.#onExit);
    this.#watchdog?.stdin?.end("done\n");
    this.#watchdog = undefined;
  }

  #report(): void {
    this.#watchdog?.stdin?.write(`${[...this.#watched.keys()].join(" ")}\n`);
  }

  #startWatchdog(): ChildProcess | undefined {
    if (process.platform === "win32") return undefined;
    const child = spawn("/bin/sh", ["-c", WATCHDOG, "sh", `${MARK_NAME}=${this.#id}.`], {
      detached: true, // the terminal's Ctrl-C must not end it before the agent
      stdio: ["pipe", "ignore", "ignore"],
      env: { PATH: "/usr/bin:/bin" },
    });
    // Without it the agent works all the same; it only cannot clean up after its own SIGKILL.
    child.on("error", () => undefined);
    child.stdin?.on("error", () => undefined);
    child.unref();
    (child.stdin as (NodeJS.WritableStream & { unref?(): void }) | null)?.unref?.();
    return child;
  }
}
