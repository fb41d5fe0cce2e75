import type { ChildProcess } from "node:child_process";
import { HELPER_ENVIRONMENT } from "./helperEnvironment.js";

/**
 * The script of the watchdog. Each line it reads is the list of process groups that must not outlive the agent. When the
 * input ends without "done", the agent is gone, whatever the reason, and the groups are killed, with everything that
 * has the mark in its environment.
 */
const SCRIPT = `
while read -r line; do
  case $line in done) exit 0 ;; esac
  groups=$line
done
for round in 1 2 3; do
  for group in $groups; do kill -s KILL -- "-$group"; done
  for file in $(grep -sl -- "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}"
  done
done
`;

/**
 * A small process that kills what an agent started, if the agent ends without a chance to do so itself: by SIGKILL, or by
 * any other signal for which the host has no handler.
 */
export class Watchdog {
  readonly #child: ChildProcess;

  /** `mark` is the text in the environment of every process to be killed. */
  constructor(mark: string, groups: readonly number[]) {
    // Loaded here: that takes 4 ms, and most agents never start a process.
    const { spawn } = process.getBuiltinModule("node:child_process");
    this.#child = spawn("/bin/sh", ["-c", SCRIPT, "sh", mark], {
      detached: true, // the terminal's Ctrl-C must not end it before the agent
      stdio: ["pipe", "ignore", "ignore"],
      env: HELPER_ENVIRONMENT,
    });
    // The agent works without a watchdog; it only cannot clean up after its own SIGKILL.
    this.#child.on("error", () => undefined);
    this.#child.stdin?.on("error", () => undefined);
    this.#child.unref();
    (this.#child.stdin as (NodeJS.WritableStream & { unref?(): void }) | null)?.unref?.();
    this.update(groups);
  }

  update(groups: readonly number[]): void {
    this.#child.stdin?.write(`${groups.join(" ")}\n`);
  }

  dismiss(): void {
    this.#child.stdin?.end("done\n");
  }
}
