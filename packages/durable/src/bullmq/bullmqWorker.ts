import { errorMessage } from "@agent/core/toolkit";
import { processTag } from "@agent/internal";
import type { Pool } from "pg";
import type {
  ClaimEnding,
  ClaimHandler,
  EngineWorker,
  EngineWorkOptions,
  JournalEntry,
  RunClaim,
  StopCode,
  WorkerInfo,
} from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import type { Pause, Run } from "../engine/run.js";
import { isStopped, StoppedError } from "../engine/stopped.js";
import { sleep } from "../worker/sleep.js";
import type { Appends } from "./appends.js";
import type { Dispatcher } from "./dispatcher.js";
import type { Claimant, Leases } from "./leases.js";
import type { ModelCalls } from "./modelCalls.js";
import { cancelTopic, followTopic, type Notices } from "./notices.js";
import { type Kind, type RunRow, toRun } from "./rows.js";
import { RunQueries } from "./runQueries.js";
import type { RunStore } from "./runStore.js";
import type { Tickets } from "./tickets.js";
import { CLOSE_WITHIN_MS, within } from "./within.js";
import type { Workers } from "./workers.js";

const RENEWALS_PER_LEASE = 3;
const SWEEP_MS = 500;
const LOOK_MS = 500;
const KINDS_MS = 2000;
const RETRY_MS = 200;

interface WorkerParts {
  readonly pool: Pool;
  readonly schema: string;
  readonly store: RunStore;
  readonly leases: Leases;
  readonly dispatcher: Dispatcher;
  readonly workers: Workers;
  readonly notices: Notices;
  /** Owned by the worker, which closes them. */
  readonly tickets: Tickets;
  readonly claimParts: ClaimParts;
}

/** Takes tickets from the queues and claims their runs in the database; renews leases and requeues lost runs. */
export class BullmqWorker implements EngineWorker {
  readonly #parts: WorkerParts;
  readonly #handle: ClaimHandler;
  readonly #options: EngineWorkOptions;
  readonly #claimant: Claimant;
  readonly #info: Omit<WorkerInfo, "runs">;
  readonly #claims = new Map<string, PostgresClaim>();
  readonly #handlers = new Set<Promise<void>>();
  readonly #closed = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #taking: Promise<void> | undefined;
  #kinds: readonly Kind[] = [];
  #wake = new AbortController();
  #isClosing = false;
  #abandonQueue = (): void => undefined;
  readonly #abandoned = new Promise<undefined>((resolve) => {
    this.#abandonQueue = () => resolve(undefined);
  });

  constructor(parts: WorkerParts, handle: ClaimHandler, options: EngineWorkOptions) {
    this.#parts = parts;
    this.#handle = handle;
    this.#options = options;
    const worker = `${options.name} ${processTag()}.${crypto.randomUUID().slice(0, 8)}`;
    this.#claimant = { worker, leaseMs: options.leaseMs, maxCrashes: options.maxCrashes };
    const { concurrency, labels, definitions } = options;
    this.#info = { name: worker, concurrency, labels, definitions, startedAt: Date.now() };
  }

  start(): void {
    const { leaseMs } = this.#options;
    const stopListening = this.#parts.notices.on("queue", () => this.#wake.abort());
    this.#closed.signal.addEventListener("abort", stopListening);
    this.#loop(KINDS_MS, () => this.#refreshKinds());
    this.#loop(Math.min(SWEEP_MS, leaseMs / RENEWALS_PER_LEASE), () => this.#parts.dispatcher.sweep());
    this.#loop(leaseMs / RENEWALS_PER_LEASE, () => this.#renew());
    this.#loop(leaseMs / RENEWALS_PER_LEASE, () => this.#parts.workers.seen(this.#info, leaseMs));
    this.#loop(leaseMs / RENEWALS_PER_LEASE, async () => this.#loseExpired());
    this.#taking = this.#takeRuns();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#wake.abort();
    for (const claim of this.#claims.values()) claim.stop("closing");
    // A run that is being claimed right now starts another handler. A queue that does not answer gives no more tickets.
    const timer = setTimeout(() => this.#abandonQueue(), CLOSE_WITHIN_MS);
    await this.#taking;
    clearTimeout(timer);
    await Promise.all(this.#handlers);
    this.#closed.abort();
    await within(Promise.all(this.#loops), CLOSE_WITHIN_MS, "The queue").catch(this.#options.onFault);
    await this.#parts.workers.gone(this.#info.name).catch(this.#options.onFault);
    await this.#parts.tickets.close();
  }

  /** Repeats `work` until the worker is closed; reports a fault to `onFault` and continues. */
  #loop(everyMs: number, work: () => Promise<void>): void {
    const run = async (): Promise<void> => {
      while (!this.#closed.signal.aborted) {
        await work().catch(this.#options.onFault);
        await sleep(everyMs, this.#closed.signal);
      }
    };
    this.#loops.push(run());
  }

  async #refreshKinds(): Promise<void> {
    const { pool, schema, tickets } = this.#parts;
    const { definitions, labels, leaseMs } = this.#options;
    const { rows } = await pool.query<Kind>(
      `select name, definition, labels from ${schema}.kind where definition = any($1) and labels <@ $2 order by name`,
      [definitions, labels],
    );
    if (this.#isClosing || rows.length === this.#kinds.length) return;
    await tickets.open(rows, leaseMs);
    this.#kinds = rows;
    this.#wake.abort();
  }

  async #takeRuns(): Promise<void> {
    while (!this.#isClosing) {
      this.#wake = new AbortController();
      try {
        await this.#fill();
      } catch (error) {
        this.#options.onFault(error);
        await sleep(RETRY_MS, this.#closed.signal);
      }
      if (!this.#isClosing) await sleep(LOOK_MS, this.#wake.signal);
      // A run of a new kind was started.
      if (this.#kinds.length === 0) await this.#refreshKinds().catch(this.#options.onFault);
    }
  }

  async #fill(): Promise<void> {
    // Taking tickets that cannot be used would be useless.
    let found = !(await this.#parts.store.getPaused()).includes("*");
    while (found) {
      found = false;
      for (const { name } of this.#kinds) {
        if (this.#isClosing || this.#handlers.size >= this.#options.concurrency) return;
        if (await this.#take(name)) found = true;
      }
    }
  }

  /** Returns whether there was a ticket. */
  async #take(kind: string): Promise<boolean> {
    const ticket = await Promise.race([this.#parts.tickets.next(kind), this.#abandoned]);
    if (!ticket) return false;
    const heldUntil = performance.now() + this.#options.leaseMs;
    const row = await this.#parts.leases.claim(ticket.runId, this.#claimant);
    if (row) this.#start(row, heldUntil);
    await Promise.race([ticket.done(), this.#abandoned]);
    return true;
  }

  #start(row: RunRow, heldUntil: number): void {
    const claim = new PostgresClaim(toRun(row), heldUntil, this.#parts.claimParts);
    const { notices } = this.#parts;
    const listening = [
      notices.on(cancelTopic(row.id), () => {
        this.#renew().catch(this.#options.onFault);
      }),
      // A new follower may have missed the notices of earlier events: send one.
      notices.on(followTopic(row.id), () => notices.send(row.id)),
    ];
    notices.send(row.id);
    this.#claims.set(row.id, claim);
    if (this.#isClosing) claim.stop("closing");
    const handled: Promise<void> = this.#work(claim).finally(() => {
      for (const stopListening of listening) stopListening();
      this.#handlers.delete(handled);
      if (this.#claims.get(row.id) === claim) this.#claims.delete(row.id);
      this.#wake.abort();
    });
    this.#handlers.add(handled);
  }

  async #work(claim: PostgresClaim): Promise<void> {
    try {
      const ending = await this.#handle(claim);
      await this.#end(claim, ending);
    } catch (error) {
      this.#options.onFault(error);
      if (isStopped(error)) await this.#end(claim, { state: "queued" });
      else await this.#untilDone(() => this.#crash(claim, errorMessage(error)));
    }
  }

  async #end(claim: PostgresClaim, ending: ClaimEnding): Promise<void> {
    const { store, dispatcher } = this.#parts;
    const { run, epoch } = claim;
    const server = ending.state === "queued" ? undefined : claim.server;
    let isEnded = true;
    await this.#untilDone(async () => {
      const { applied, dispatch } = await store.end(run.id, epoch, ending, server);
      await dispatcher.send(dispatch, [run.id]);
      if (applied) this.#options.onEnded?.(run, ending);
      isEnded = applied;
    });
    // The server may have been restarted, and the last events be missing: the run continues and reports them again.
    if (!isEnded && server !== undefined) await this.#end(claim, { state: "queued" });
  }

  async #crash({ run, epoch }: PostgresClaim, reason: string): Promise<void> {
    const { changed, dispatch } = await this.#parts.leases.crash(run.id, epoch, reason);
    await this.#parts.dispatcher.send(dispatch, changed);
  }

  /** Retries while the database is unavailable, but not longer than the lease: then another worker requeues the run. */
  async #untilDone(write: () => Promise<void>): Promise<void> {
    const until = performance.now() + this.#options.leaseMs;
    while (performance.now() < until) {
      try {
        return await write();
      } catch (error) {
        this.#options.onFault(error);
        await sleep(RETRY_MS, this.#closed.signal);
      }
    }
  }

  async #renew(): Promise<void> {
    const { leaseMs } = this.#options;
    const asked = [...this.#claims.values()];
    if (asked.length === 0) return;
    const heldUntil = performance.now() + leaseMs;
    const renewing = this.#parts.leases.renew(
      asked.map(({ run, epoch }) => ({ id: run.id, epoch })),
      leaseMs,
    );
    const held = await within(renewing, leaseMs, "The database");
    for (const claim of asked) {
      const renewed = held.get(claim.run.id);
      if (claim.signal.aborted || this.#claims.get(claim.run.id) !== claim) continue;
      if (renewed === undefined) claim.stop("lost");
      else if (renewed.cancel_reason !== null) claim.stop("cancelled", renewed.cancel_reason);
      else {
        claim.heldUntil = heldUntil;
        claim.messages = JSON.parse(renewed.messages);
      }
    }
  }

  /** Without a lease nothing more may be started, even if no other worker can claim the run at the moment. */
  #loseExpired(): void {
    for (const claim of this.#claims.values()) {
      if (claim.heldUntil < performance.now() && !claim.signal.aborted) claim.stop("lost");
    }
  }
}

interface ClaimParts {
  readonly pool: Pool;
  readonly schema: string;
  readonly appends: Appends;
  readonly modelCalls: ModelCalls;
  readonly notices: Pick<Notices, "send" | "isFollowed">;
}

/** A run that a worker of this process has claimed. */
class PostgresClaim implements RunClaim {
  readonly run: Run;
  readonly epoch: number;
  readonly worker: string;
  /**
   * When the lease ends if it is not renewed, by this process's monotonic clock; in the database it ends slightly
   * later.
   */
  heldUntil: number;
  messages: readonly string[];
  readonly #parts: ClaimParts;
  readonly #controller = new AbortController();
  #server: string | undefined;
  #hasWritten = false;
  #hasModelCall: boolean;

  constructor(run: Run, heldUntil: number, parts: ClaimParts) {
    this.run = run;
    this.heldUntil = heldUntil;
    this.epoch = run.epoch;
    this.worker = run.worker ?? "";
    this.#hasModelCall = run.hasModelCall ?? false;
    this.messages = run.messages;
    this.#parts = parts;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The start time of the server that has the events of this claim. */
  get server(): string | undefined {
    return this.#server;
  }

  stop(code: StopCode, message?: string): void {
    this.#controller.abort(new StoppedError(code, message === undefined ? {} : { message }));
  }

  async journal(): Promise<readonly JournalEntry[]> {
    // This is the first claim of the run, so the journal is empty.
    if (this.epoch === 1 && !this.#hasWritten && this.run.forkedFrom === undefined) return [];
    const { pool, schema } = this.#parts;
    try {
      return await new RunQueries(pool, schema).journal(this.run.id);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  async append(entries: readonly JournalEntry[], events: readonly RunEvent[]): Promise<void> {
    const { reason } = this.signal;
    if (reason instanceof StoppedError && reason.stop === "lost") throw reason;
    const { appends, notices } = this.#parts;
    let server: string | undefined;
    this.#hasWritten = true;
    // Throws for a value that is not JSON: a fault of the run, not of the database.
    const appended = appends.append(this.run.id, this.epoch, entries, events);
    try {
      server = await appended;
    } catch (error) {
      throw this.#lose(error);
    }
    if (server === undefined) throw this.#lose();
    this.#server ??= server;
    // The next worker that claims the run replays it and logs the lost events.
    if (server !== this.#server) throw this.#lose("it was restarted, and events may be missing.");
    if (events.length > 0 && notices.isFollowed(this.run.id)) notices.send(this.run.id);
  }

  async takeModelCall(model: string): Promise<Pause | undefined> {
    if (this.#hasModelCall) {
      this.#hasModelCall = false;
      return undefined;
    }
    try {
      return await this.#parts.modelCalls.take(this.run.tenant, model);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  async reportModelCall(model: string, failure?: { readonly retryAfterMs?: number }): Promise<void> {
    try {
      await this.#parts.modelCalls.report(model, failure);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  /** A database fault is not a fault of the run: it continues elsewhere, or here later. */
  #lose(cause?: unknown): StoppedError {
    const message = cause === undefined ? undefined : `The database failed: ${errorMessage(cause)}`;
    const error = new StoppedError("lost", { ...(message !== undefined && { message }), cause });
    this.#controller.abort(error);
    return error;
  }
}
