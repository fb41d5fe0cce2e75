import { Watchdog } from "@agent/core/toolkit";
import { nodeCrypto } from "../nodeModules.js";
import type { ServerProcesses } from "./processes.js";

const MARK_NAME = "AGENT_MCP_HOST";

/**
 * Makes sure that servers never outlive the agent: on a normal exit it kills them itself, and a small shell does so
 * when the agent is killed. The shell runs only while there are servers.
 */
export class ProcessGuard {
  #id = "";
  readonly #watched = new Map<number, ServerProcesses>();
  #watchdog: Watchdog | undefined;
  #count = 0;
  readonly #onExit = (): void => {
    for (const processes of this.#watched.values()) processes.kill();
  };

  /**
   * A variable for the environment of the next server, by which its processes can be found. The watchdog gets it before
   * the server starts, so nothing is left behind if the agent is killed in between.
   */
  newMark(): { readonly name: string; readonly value: string } {
    this.#id ||= nodeCrypto.randomUUID();
    if (process.platform !== "win32")
      this.#watchdog ??= new Watchdog(`${MARK_NAME}=${this.#id}.`, { groups: [...this.#watched.keys()] });
    return { name: MARK_NAME, value: `${this.#id}.${++this.#count}.` };
  }

  watch(leader: number, processes: ServerProcesses): void {
    if (this.#watched.size === 0) process.on("exit", this.#onExit);
    this.#watched.set(leader, processes);
    this.#watchdog?.update({ groups: [...this.#watched.keys()] });
  }

  release(leader: number): void {
    if (!this.#watched.delete(leader)) return;
    this.#watchdog?.update({ groups: [...this.#watched.keys()] });
    if (this.#watched.size === 0) process.off("exit", this.#onExit);
    this.rest();
  }

  /** Stops the watchdog if no server runs, for example after a server could not be started. */
  rest(): void {
    if (this.#watched.size > 0) return;
    this.#watchdog?.dismiss();
    this.#watchdog = undefined;
  }
}
