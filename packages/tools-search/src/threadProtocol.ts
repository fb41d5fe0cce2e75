import type { Reply, Task } from "./protocol.js";

/** A task message to an executor. Ids start at 1. */
export interface WorkerOrder {
  readonly id: number;
  readonly task: Task;
}

/**
 * Messages of an executor: any number of replies, then one end. Id 0: ready for work. `broken`: it could not load its
 * modules, and never will, because Node caches a failed import.
 */
export type WorkerMessage =
  | { readonly id: number; readonly reply: Reply }
  | { readonly id: number; readonly done: true }
  | { readonly id: number; readonly failed: string }
  | { readonly id: number; readonly broken: string };

/** The numbers that both sides share in memory. */
export const PROGRESS = 0;
/** The index of the current file in the batch. */
export const PLACE = 1;
/** The id of the task that must stop. */
export const CANCELLED = 2;
export const STATE_SIZE = 3;
