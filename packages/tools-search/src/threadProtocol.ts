import type { Reply, Task } from "./protocol.js";

/** A task on its way to an executor. Ids start at 1. */
export interface WorkerOrder {
  readonly id: number;
  readonly task: Task;
}

/**
 * Messages of an executor: any number of replies, then one end. Id 0: ready for work. `broken`: it could not load what
 * it needs, and never will, because Node keeps a failed import.
 */
export type WorkerMessage =
  | { readonly id: number; readonly reply: Reply }
  | { readonly id: number; readonly done: true }
  | { readonly id: number; readonly failed: string }
  | { readonly id: number; readonly broken: string };

/** The numbers both sides see at the same time, in memory they share. */
export const PROGRESS = 0;
/** Which file of its batch a task is at. */
export const PLACE = 1;
/** The id of the task that is to stop. */
export const CANCELLED = 2;
export const STATE_SIZE = 3;
