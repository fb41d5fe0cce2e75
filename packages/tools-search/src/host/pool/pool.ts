import type { Reply, Task } from "../../protocol.js";
import { CANCELLED, PLACE, PROGRESS, type WorkerMessage } from "../../threadProtocol.js";
import type { Executor, ExecutorEvents, OpenExecutor } from "./executor.js";

/** How often the pool checks the progress of executors, and how many checks without progress are too many. */
const WATCH_MS = 500;
const STALLED_AFTER_LOOKS = 8;
/**
 * An expression that backtracks uses this much CPU time meanwhile. A thread that uses less waits for a busy machine or a
 * slow disk, and may do so for longer.
 */
const STALLED_AFTER_CPU_MS = 1_000;
const BLOCKED_AFTER_LOOKS = 60;
/** A cancelled task stops by itself within this time, or its executor is terminated. */
const GRACE_MS = 100;
/** How often starting an executor is retried: the cause may be temporary, such as a shortage of file descriptors. */
const MAX_FAILED_STARTS = 3;

/** A task made no progress for seconds: nearly always an expression with catastrophic backtracking. */
export class StalledError extends Error {
  constructor(
    readonly task: Task,
    /** The index of the current file in the task's batch. */
    readonly place: number,
  ) {
    super("no progress for seconds");
  }
}

interface Pending {
  readonly job: Job;
  readonly task: Task;
  readonly onReply: (reply: Reply) => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Slot {
  executor: Executor;
  ready: boolean;
  running:
    | { readonly id: number; readonly pending: Pending; looks: number; progress: number; cpuMs: number }
    | undefined;
}

/** The tasks of one search. They run in order as executors become free, and can be cancelled together. */
export interface Job {
  /** Unique in its pool: executors keep the data of one search under it. */
  readonly id: number;
  /** Runs a task. Resolves after its last reply; rejects if it fails, stalls or is cancelled. */
  run(task: Task, onReply: (reply: Reply) => void): Promise<void>;
  /** Rejects everything that is not finished immediately. */
  cancel(reason: Error): void;
}

/** Executors that are started on demand, kept warm, and replaced when one crashes or hangs. */
export class Pool {
  readonly #slots: Slot[] = [];
  readonly #queues = new Map<Job, Pending[]>();
  #failedStarts = 0;
  #openExecutor: OpenExecutor;
  #lastTask = 0;
  #lastJob = 0;
  #watch: NodeJS.Timeout | undefined;

  readonly #firstChoice: OpenExecutor;
  readonly #fallback: OpenExecutor;

  constructor(
    readonly size: number,
    firstChoice: OpenExecutor,
    /** Used if executors of the first kind do not start. */
    fallback: OpenExecutor,
  ) {
    this.#firstChoice = firstChoice;
    this.#fallback = fallback;
    this.#openExecutor = firstChoice;
  }

  createJob(): Job {
    this.#returnToFirstChoice();
    const job: Job = {
      id: ++this.#lastJob,
      run: (task, onReply) =>
        new Promise((resolve, reject) => {
          const queue = this.#queues.get(job) ?? [];
          queue.push({ job, task, onReply, resolve, reject });
          this.#queues.set(job, queue);
          this.#dispatch();
        }),
      cancel: (reason) => this.#cancel(job, reason),
    };
    return job;
  }

  /** Starts the executors before the first search needs them. */
  warmUp(): void {
    if (this.#slots.length === 0) this.#openAll();
  }

  /** Terminates all executors. Running tasks are rejected. */
  close(): void {
    for (const slot of [...this.#slots]) this.#drop(slot, new Error("the search pool was closed"));
  }

  #dispatch(): void {
    while (this.#queues.size > 0) {
      const slot = this.#slots.find((one) => one.ready && one.running === undefined);
      if (slot === undefined) {
        const waiting = this.#slots.some((one) => !one.ready);
        if (!waiting && this.#slots.length < this.size) this.#openAll();
        return;
      }
      this.#start(slot, this.#takeNext());
      // Start one more executor for the remaining tasks; `ready` runs them.
      if (this.#queues.size > 0 && this.#slots.length < this.size) this.#open();
    }
  }

  /** Jobs take turns, so that a long search does not delay a short one. */
  #takeNext(): Pending {
    for (const [job, queue] of this.#queues) {
      const pending = queue.shift();
      this.#queues.delete(job);
      if (queue.length > 0) this.#queues.set(job, queue);
      if (pending) return pending;
    }
    throw new Error("There is nothing to take.");
  }

  /** Start all of them: the work is divided as soon as the first files are known. */
  #openAll(): void {
    do this.#open();
    while (this.#slots.length < this.size && this.#openExecutor === this.#firstChoice);
  }

  #open(): void {
    const slot: Slot = {
      executor: this.#newExecutor(() => slot),
      ready: this.#openExecutor === this.#fallback,
      running: undefined,
    };
    // Held until it is ready: a task waits for it.
    slot.executor.hold(true);
    this.#slots.push(slot);
    if (slot.ready) this.#dispatch();
  }

  #newExecutor(slot: () => Slot): Executor {
    const events: ExecutorEvents = {
      message: (message) => this.#received(slot(), message),
      died: (error) => this.#died(slot(), error),
    };
    try {
      return this.#openExecutor(events);
    } catch {
      this.#useFallback();
      return this.#fallback(events);
    }
  }

  #start(slot: Slot, pending: Pending): void {
    const id = ++this.#lastTask;
    const progress = slot.executor.sharedState[PROGRESS] ?? 0;
    slot.running = { id, pending, looks: 0, progress, cpuMs: usedCpuMs() };
    slot.executor.hold(true);
    slot.executor.start({ id, task: pending.task });
    this.#watch ??= setInterval(() => this.#look(), WATCH_MS).unref();
  }

  #received(slot: Slot, message: WorkerMessage): void {
    if (message.id === 0) {
      slot.ready = true;
      slot.executor.hold(false);
      this.#dispatch();
      return;
    }
    if (slot.running?.id !== message.id) return;
    const { pending } = slot.running;
    if ("reply" in message) {
      pending.onReply(message.reply);
      return;
    }
    if ("broken" in message) {
      this.#drop(slot, new Error(message.broken));
      return;
    }
    slot.running = undefined;
    slot.executor.hold(false);
    if ("failed" in message) pending.reject(new Error(message.failed));
    else pending.resolve();
    this.#dispatch();
    this.#stopIdleWatch();
  }

  #died(slot: Slot, error: Error): void {
    if (slot.ready) {
      this.#drop(slot, new Error(`The search broke off: ${error.message}.`));
      return;
    }
    // It failed to start: another attempt right now would fail too, so the waiting tasks use the fallback.
    this.#useFallback();
    this.#drop(slot, error);
  }

  #useFallback(): void {
    if (this.#openExecutor !== this.#firstChoice) return;
    this.#failedStarts++;
    this.#openExecutor = this.#fallback;
  }

  #returnToFirstChoice(): void {
    if (this.#openExecutor === this.#firstChoice || this.#failedStarts >= MAX_FAILED_STARTS) return;
    if (this.#slots.some((slot) => slot.running !== undefined)) return;
    this.#openExecutor = this.#firstChoice;
    this.close();
  }

  #drop(slot: Slot, reason: Error): void {
    const index = this.#slots.indexOf(slot);
    if (index === -1) return;
    this.#slots.splice(index, 1);
    slot.executor.close();
    slot.running?.pending.reject(reason);
    slot.running = undefined;
    this.#dispatch();
    this.#stopIdleWatch();
  }

  #cancel(job: Job, reason: Error): void {
    const queue = this.#queues.get(job) ?? [];
    this.#queues.delete(job);
    for (const pending of queue) pending.reject(reason);
    for (const slot of this.#slots) {
      const { running } = slot;
      if (running?.pending.job !== job) continue;
      running.pending.reject(reason);
      Atomics.store(slot.executor.sharedState, CANCELLED, running.id);
      setTimeout(() => {
        if (slot.running === running) this.#drop(slot, reason);
      }, GRACE_MS);
    }
  }

  #look(): void {
    const cpuMs = usedCpuMs();
    for (const slot of [...this.#slots]) {
      const { running } = slot;
      if (running === undefined) continue;
      const progress = slot.executor.sharedState[PROGRESS] ?? 0;
      if (progress !== running.progress) Object.assign(running, { progress, looks: 0, cpuMs });
      else running.looks++;
      const isBusy = cpuMs - running.cpuMs >= STALLED_AFTER_CPU_MS;
      if (running.looks >= (isBusy ? STALLED_AFTER_LOOKS : BLOCKED_AFTER_LOOKS)) {
        this.#drop(slot, new StalledError(running.pending.task, slot.executor.sharedState[PLACE] ?? 0));
      }
    }
  }

  #stopIdleWatch(): void {
    if (this.#slots.some((slot) => slot.running !== undefined)) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }
}

/** The CPU time of all threads of this process. */
function usedCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
