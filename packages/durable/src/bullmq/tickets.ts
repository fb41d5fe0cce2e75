import type { Job, Queue, Worker } from "bullmq";
import type { Kind } from "./rows.js";
import { CLOSE_WITHIN_MS, within } from "./within.js";

// BullMQ's own limit; runs beyond it are processed in order of arrival.
const MAX_PRIORITY = 2_000_000;

/** Makes BullMQ's objects for one backend: Redis or Postgres. */
export interface TicketBackend {
  createQueue(name: string): Queue;
  createWorker(name: string, lockMs: number): Worker;
  /** Whether the store of the queues is empty since the last check: new, or it has lost its data. */
  isEmptied?(): Promise<boolean>;
}

/** Names a run that may be claimed next. Losing or duplicating one does no harm: the database decides. */
export interface Ticket {
  readonly runId: string;
  /** Takes the ticket out of the queue permanently. */
  done(): Promise<void>;
}

/**
 * The BullMQ queues, one per kind of run. Each run that waits for a worker has a ticket in a queue; a worker that dies
 * while holding a ticket loses its lock, and BullMQ gives the ticket to another.
 */
export class Tickets {
  readonly #backend: TicketBackend;
  readonly #prefix: string;
  readonly #onFault: (error: unknown) => void;
  readonly #queues = new Map<string, Queue>();
  readonly #workers = new Map<string, Worker>();
  /** By kind: settles when its worker takes tickets. */
  readonly #opened = new Map<string, Promise<void>>();
  #counter = 0;

  constructor(backend: TicketBackend, prefix: string, onFault: (error: unknown) => void) {
    this.#backend = backend;
    this.#prefix = prefix;
    this.#onFault = onFault;
  }

  /** Queues a ticket, unless one for the same claim is queued already. */
  async add(kind: string, runId: string, epoch: number, turn: number): Promise<void> {
    const priority = Math.max(1, Math.min(MAX_PRIORITY, turn));
    await this.#queue(kind).add("run", { runId }, { jobId: `${runId}_${epoch}`, priority });
  }

  async has(kind: string, runId: string, epoch: number): Promise<boolean> {
    return (await this.#queue(kind).getJob(`${runId}_${epoch}`)) !== undefined;
  }

  /** Starts taking tickets of these kinds. May be called again meanwhile. */
  async open(kinds: readonly Kind[], lockMs: number): Promise<void> {
    for (const { name } of kinds) {
      const opened = this.#opened.get(name) ?? this.#open(name, lockMs);
      this.#opened.set(name, opened);
      await opened;
    }
  }

  async #open(kind: string, lockMs: number): Promise<void> {
    const worker = this.#backend.createWorker(this.#queueName(kind), lockMs);
    worker.on("error", this.#onFault);
    // Before it is ready: `close` must not miss it.
    this.#workers.set(kind, worker);
    try {
      await worker.waitUntilReady();
      await worker.startStalledCheckTimer();
    } catch (error) {
      // The next attempt starts with a new worker: one without the check would never recover lost tickets.
      this.#opened.delete(kind);
      this.#workers.delete(kind);
      worker.close(true).catch(this.#onFault);
      throw error;
    }
  }

  /** The next ticket of a kind, or `undefined`. */
  async next(kind: string): Promise<Ticket | undefined> {
    const token = `${process.pid}-${++this.#counter}`;
    const job: Job | undefined = await this.#workers.get(kind)?.getNextJob(token, { block: false });
    if (!job) return undefined;
    return {
      runId: String(job.data.runId),
      done: async () => {
        await job.moveToCompleted(null, token, false);
      },
    };
  }

  /** Whether the tickets may be lost: a Redis that was restarted without its data, or flushed. */
  async areLost(): Promise<boolean> {
    return (await this.#backend.isEmptied?.()) ?? false;
  }

  /** Never rejects. Does not wait for a server that no longer answers. */
  async close(): Promise<void> {
    const [workers, queues] = [[...this.#workers.values()], [...this.#queues.values()]];
    this.#workers.clear();
    this.#queues.clear();
    const closing = [...workers.map((worker) => worker.close(true)), ...queues.map((queue) => queue.close())];
    await within(Promise.all(closing), CLOSE_WITHIN_MS, "The queue").catch(this.#onFault);
  }

  #queue(kind: string): Queue {
    const known = this.#queues.get(kind);
    if (known) return known;
    const queue = this.#backend.createQueue(this.#queueName(kind));
    queue.on("error", this.#onFault);
    this.#queues.set(kind, queue);
    // A queue that could not connect once never tries again: the next use starts with a new one.
    queue.waitUntilReady().catch(() => {
      if (this.#queues.get(kind) !== queue) return;
      this.#queues.delete(kind);
      queue.close().catch(this.#onFault);
    });
    return queue;
  }

  #queueName(kind: string): string {
    return `${this.#prefix}-${kind}`;
  }
}
