import type { WorkerMessage, WorkerOrder } from "../../threadProtocol.js";

/** Runs one task at a time: a thread, or the host itself. */
export interface Executor {
  readonly sharedState: Int32Array;
  start(order: WorkerOrder): void;
  /** Keeps the process alive while it is held. */
  hold(held: boolean): void;
  /** Terminates it immediately, whatever it is doing. */
  close(): void;
}

export interface ExecutorEvents {
  message(message: WorkerMessage): void;
  /** Called when it crashed. */
  died(error: Error): void;
}

export type OpenExecutor = (events: ExecutorEvents) => Executor;
