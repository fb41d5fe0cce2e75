/** User actions on one command that a call waits for. */
export interface RunningCommand {
  /** Stops it with its tree; the call returns as usual and says that the user stopped it. */
  end(): void;
  /** Lets the call return now; the command continues in the background. Absent where that is not possible. */
  detach?(): void;
}

/** The commands that calls wait for, by the pid of their shell. */
export class RunningCommands {
  readonly #commands = new Map<number, RunningCommand>();

  /** Makes a command reachable by its pid, until the returned function is called. */
  add(pid: number, command: RunningCommand): () => void {
    this.#commands.set(pid, command);
    return () => this.#commands.delete(pid);
  }

  /** Returns whether a call waits for this command. */
  end(pid: number): boolean {
    const command = this.#commands.get(pid);
    command?.end();
    return command !== undefined;
  }

  /** Returns whether a call waited for this command and the command can continue without it. */
  detach(pid: number): boolean {
    const command = this.#commands.get(pid);
    command?.detach?.();
    return command?.detach !== undefined;
  }

  get size(): number {
    return this.#commands.size;
  }

  endAll(): void {
    for (const command of this.#commands.values()) command.end();
  }
}
