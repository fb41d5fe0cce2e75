import type { Leases } from "./leases.js";
import type { Notices } from "./notices.js";
import type { RunStore } from "./runStore.js";
import type { Dispatch } from "./slots.js";
import type { Tickets } from "./tickets.js";
import { within } from "./within.js";

const SEND_WITHIN_MS = 3000;
const CHECK_EVERY_MS = 10_000;
const CHECK_WAITED_MS = 30_000;
const WAKE_AT_ONCE = 200;

/** Sends claimable runs to the queue. Runs that cannot be sent now are sent by a later sweep of any worker. */
export class Dispatcher {
  readonly #tickets: Tickets;
  readonly #store: Pick<RunStore, "wake" | "expire">;
  readonly #leases: Leases;
  readonly #notices: Notices;
  readonly #onFault: (error: unknown) => void;
  #checkedAt = performance.now();

  constructor(
    tickets: Tickets,
    store: Pick<RunStore, "wake" | "expire">,
    leases: Leases,
    notices: Notices,
    onFault: (error: unknown) => void,
  ) {
    this.#tickets = tickets;
    this.#store = store;
    this.#leases = leases;
    this.#notices = notices;
    this.#onFault = onFault;
  }

  /** Queues runs, and notifies followers of the changed runs. Never rejects; resolves to whether all are queued. */
  async send(runs: readonly Dispatch[], changed: readonly string[]): Promise<boolean> {
    for (const id of changed) this.#notices.send(id);
    if (runs.length === 0) return true;
    let isSent = false;
    try {
      const adding = Promise.all(runs.map((run) => this.#tickets.add(run.kind, run.id, run.epoch, run.turn)));
      await within(adding, SEND_WITHIN_MS, "The queue");
      await this.#leases.markEnqueued(runs);
      isSent = true;
    } catch (error) {
      this.#onFault(error);
    }
    this.#notices.send("queue");
    return isSent;
  }

  async sweep(): Promise<void> {
    // An unavailable Redis must not prevent lost runs from being requeued.
    const areLost = await within(this.#tickets.areLost(), SEND_WITHIN_MS, "The queue").catch(() => false);
    if (areLost) await this.#leases.forgetEnqueued();
    for (const queue of [this.#store.wake, this.#store.expire]) {
      for (let count = WAKE_AT_ONCE; count === WAKE_AT_ONCE; ) {
        const { dispatch, changed } = await queue.call(this.#store, WAKE_AT_ONCE);
        count = changed.length;
        if (!(await this.send(dispatch, changed))) break;
      }
    }
    for (let isAll = false; !isAll; ) {
      const swept = await this.#leases.sweep();
      ({ isAll } = swept);
      if (!(await this.send(swept.dispatch, swept.changed))) break;
    }
    if (performance.now() - this.#checkedAt < CHECK_EVERY_MS) return;
    this.#checkedAt = performance.now();
    await this.#checkQueue();
  }

  /** Refills a queue that was lost, such as in a Redis without persistence that restarted. */
  async #checkQueue(): Promise<void> {
    for (let after = 0; ; ) {
      const queued = await this.#leases.longQueued(after, CHECK_WAITED_MS);
      const there = await Promise.all(
        queued.map(({ kind, id, epoch }) => this.#tickets.has(kind, id, epoch)),
      );
      const missing = queued.filter((_, index) => !there[index]);
      await this.send(missing, []);
      if (missing.length === 0) return;
      after = queued.at(-1)?.queuedMs ?? Infinity;
    }
  }
}
