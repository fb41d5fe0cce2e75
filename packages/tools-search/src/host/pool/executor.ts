import type { WorkerMessage, WorkerOrder } from "../../threadProtocol.js";

/** Something that runs one task at a time: a thread, or the host itself. */
export interface Executor {
  readonly sharedState: Int32Array;
  start(order: WorkerOrder): void;
  /** While it is held, the process stays alive for it. */
  hold(held: boolean): void;
  /** Ends it immediately, whatever it is doing. */
  close(): void;
}

export interface ExecutorEvents {
  message(message: WorkerMessage): void;
  /** It broke down by itself. */
  died(error: Error): void;
}

export type OpenExecutor = (events: ExecutorEvents) => Executor;
