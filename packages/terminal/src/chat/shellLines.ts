import type { AgentEvent } from "@agent/core";

/** The lines that the user runs with `!`, alone or beside an answer. */
export class ShellLines {
  readonly #emit: (event: AgentEvent) => void;
  readonly #running = new Set<Promise<string>>();
  #count = 0;

  constructor(emit: (event: AgentEvent) => void) {
    this.#emit = emit;
  }

  /** Resolves to a note for the model. */
  async run(command: string, signal: AbortSignal): Promise<string> {
    const line = this.#run(command, signal);
    this.#running.add(line);
    return await line.finally(() => this.#running.delete(line));
  }

  /** Resolves when no line runs any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async #run(command: string, signal: AbortSignal): Promise<string> {
    // Loaded with the first line: the first prompt does not wait for it.
    const { runShellLine } = await import("./shellLine.js");
    return await runShellLine(command, this.#emit, signal, `shell-${++this.#count}`);
  }
}
