import { randomUUID } from "node:crypto";
import { Watchdog } from "@agent/internal";
import type { ServerProcesses } from "./processes.js";

const MARK_NAME = "AGENT_MCP_HOST";

/**
 * Makes sure that servers never outlive the agent: on a normal exit it kills them itself, and a small shell does so
 * when the agent is killed. The shell runs only while there are servers.
 */
export class ProcessGuard {
  readonly #id = randomUUID();
  readonly #watched = new Map<number, ServerProcesses>();
  #watchdog: Watchdog | undefined;
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
    if (this.#watchdog) this.#watchdog.update([...this.#watched.keys()]);
    else if (process.platform !== "win32") {
      this.#watchdog = new Watchdog(`${MARK_NAME}=${this.#id}.`, [...this.#watched.keys()]);
    }
  }

  release(leader: number): void {
    if (!this.#watched.delete(leader)) return;
    if (this.#watched.size > 0) {
      this.#watchdog?.update([...this.#watched.keys()]);
      return;
    }
    process.off("exit", this.#onExit);
    this.#watchdog?.dismiss();
    this.#watchdog = undefined;
  }
}
