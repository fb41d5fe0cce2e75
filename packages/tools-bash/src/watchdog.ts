import type { ChildProcess } from "node:child_process";
import { HELPER_ENVIRONMENT } from "./host/programs.js";
import { spawn } from "./lazyNode.js";

/**
 * What the watchdog runs. Each line it reads is the list of groups that must not outlive the agent. When the
 * lines end without "done", the agent is gone, however it went, and everything it started has to go too.
 */
const SCRIPT = `
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
 * A small process that ends what the agent leaves behind when it is killed by a signal that no handler sees.
 * It runs only while there is something to watch over.
 */
export class Watchdog {
  readonly #child: ChildProcess;

  /** `mark` is the text in the environment of every process the agent starts. */
  constructor(mark: string, groups: readonly number[]) {
    this.#child = spawn("/bin/sh", ["-c", SCRIPT, "sh", mark], {
      detached: true, // the terminal's Ctrl-C must not end it before the agent
      stdio: ["pipe", "ignore", "ignore"],
      env: HELPER_ENVIRONMENT,
    });
    // Without it the agent works all the same; it only cannot clean up after its own SIGKILL.
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
