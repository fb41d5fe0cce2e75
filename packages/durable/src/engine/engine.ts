import type { TokenUsage } from "@agent/core";
import type { FollowedEvent, RunEvent } from "./events.js";
import type {
  Approval,
  Decision,
  NewRun,
  Pause,
  Run,
  RunError,
  RunResult,
  RunState,
  RunSummary,
  TenantLimits,
} from "./run.js";
import type { Schedule } from "./schedule.js";

/**
 * Starts, reads and changes runs. Any process may call these methods at any time.
 *
 * Contract: a method that rejects has changed nothing, or its caller may call it again.
 */
export interface RunAccess {
  /**
   * Stores a run and queues it. Resolves to `false` if this run already exists: it is unchanged. Rejects with
   * `invalid_argument` if the id belongs to a run with another tenant, definition or input.
   */
  create(run: NewRun): Promise<boolean>;
  get(id: string): Promise<Run | undefined>;
  /** Lists runs, newest first. */
  list(query?: RunQuery): Promise<readonly RunSummary[]>;
  count(query?: RunFilter): Promise<Readonly<Record<RunState, number>>>;
  /** Counts runs that finished and started since then, in intervals of `bucketMs`, oldest first. */
  activity(
    since: number,
    bucketMs: number,
    query?: Pick<RunQuery, "tenant">,
  ): Promise<readonly ActivityBucket[]>;
  /**
   * The events of a run after a cursor, in order, without gaps or duplicates across workers. With `follow` it continues
   * until the run has finished or `signal` aborts, and reports the run itself whenever its state changes, first and
   * last. Ends immediately for a run that does not exist.
   */
  events(id: string, options?: EventsOptions): AsyncIterable<FollowedEvent>;
  /** Resolves to `false` if nothing with this key waits for a decision: another user may have already decided. */
  decide(id: string, key: string, decision: Decision): Promise<boolean>;
  /**
   * Cancels a run that is queued or waiting, and stops one that is running. `false` if it has finished or is unknown.
   */
  cancel(id: string, reason: string): Promise<boolean>;
  /** Queues a run that failed, was cancelled or was set aside, or that waits for a time. Completed steps are kept. */
  retry(id: string): Promise<boolean>;
  /**
   * Sends another message to a run. A running one gets it after the model's next answer, and a finished one continues
   * with it. `false` if it failed, was cancelled or set aside, or is unknown.
   */
  send(id: string, message: string): Promise<boolean>;
  /** The recorded steps of a run, in order. Empty for a run that does not exist. */
  journal(id: string): Promise<readonly JournalEntry[]>;
}

/**
 * Stores runs and assigns them to workers. `@agent/durable` has one on plain files, `@agent/durable/bullmq` one for
 * many machines; `@agent/durable/testing` has the tests that any other must pass.
 */
export interface RunEngine extends RunAccess {
  /** Access to the runs of one tenant. Runs of other tenants are invisible there, and it starts none for them. */
  forTenant(tenant: string): RunAccess;
  setLimits(tenant: string, limits: TenantLimits): Promise<void>;
  getLimits(tenant: string): Promise<TenantLimits>;
  /**
   * Limits the rate of model requests per minute, by all runs together. `target` is a provider (`openai`), a provider
   * and model (`openai/gpt-5`) or `*` for all models; `undefined` removes the limit.
   */
  setRate(target: string, callsPerMinute: number | undefined): Promise<void>;
  getRates(): Promise<Readonly<Record<string, number>>>;
  /** The limits of all tenants that have any. */
  getAllLimits(): Promise<Readonly<Record<string, TenantLimits>>>;
  /** Pauses or resumes claiming of the runs of a tenant, or of all (`*`). Running ones continue. */
  setPaused(tenant: string, isPaused: boolean): Promise<void>;
  /** The tenants whose runs are not claimed; `*` for all. */
  getPaused(): Promise<readonly string[]>;
  /** The workers with a recent heartbeat, including idle ones. */
  workers(): Promise<readonly WorkerInfo[]>;
  /** Adds a schedule, or replaces the one with its id. */
  setSchedule(schedule: Schedule): Promise<void>;
  /** `false` if it does not exist. */
  removeSchedule(id: string): Promise<boolean>;
  getSchedules(): Promise<readonly Schedule[]>;
  /** Sets when a schedule is due next, if it is still due at `from`: one of many workers starts its run. */
  advanceSchedule(id: string, from: number, next: Pick<Schedule, "nextAt" | "last">): Promise<boolean>;
  /** Removes runs that finished before that time, with journals and events. Resolves to their number. */
  prune(endedBefore: number): Promise<number>;
  /**
   * Claims runs and passes each to `handle`, at most `concurrency` at a time, until the worker is closed. A run is
   * held by one worker at a time; if that worker is lost, another gets the run with a higher epoch.
   */
  work(handle: ClaimHandler, options: EngineWorkOptions): Promise<EngineWorker>;
  close(): Promise<void>;
}

export interface RunQuery {
  readonly state?: RunState;
  readonly tenant?: string;
  readonly label?: string;
  /** Only runs with this text in their title, id or error message, whatever its case. */
  readonly text?: string;
  /** Only runs with calls that wait for a decision. */
  readonly undecided?: boolean;
  /**
   * Only runs after this one in the list: the id of the last run of the previous page. Lists nothing if it was removed.
   */
  readonly after?: string;
  /** Default 100. */
  readonly limit?: number;
}

/** The dimensions by which runs are counted. */
export type RunFilter = Omit<RunQuery, "after" | "limit">;

export interface EventsOptions {
  readonly after?: string;
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

export interface ActivityBucket {
  /** The start of the interval. */
  readonly at: number;
  readonly done: number;
  /** Failed and set aside. */
  readonly failed: number;
  readonly cancelled: number;
  /** How many runs were claimed for the first time. */
  readonly started: number;
  /** Their average wait for a worker. */
  readonly averageWaitMs: number;
  /** The cost of the finished runs in dollars, as far as known. */
  readonly cost: number;
}

export interface EngineWorkOptions {
  /** Names the worker for people. */
  readonly name: string;
  readonly concurrency: number;
  /** Only runs of these definitions are claimed. */
  readonly definitions: readonly string[];
  readonly labels: readonly string[];
  /** How long a worker may be silent before its runs are given to another. */
  readonly leaseMs: number;
  /** After how many lost workers, without a completed step in between, a run is set aside. */
  readonly maxCrashes: number;
  /** Called with transient faults, such as an unreachable database. */
  readonly onFault: (error: unknown) => void;
  /** Called when a claim has ended, after its outcome is visible. */
  readonly onEnded?: (run: Run, ending: ClaimEnding) => void;
}

export interface WorkerInfo {
  /** Its name and process, as in `RunSummary.worker`. */
  readonly name: string;
  readonly concurrency: number;
  /** How many runs it has now. */
  readonly runs: number;
  readonly labels: readonly string[];
  readonly definitions: readonly string[];
  readonly startedAt: number;
}

export interface EngineWorker {
  /**
   * Stops claiming runs, signals the running ones to stop (`closing`), and resolves when all handlers have returned.
   */
  close(): Promise<void>;
}

/** Executes a claimed run. Its result is written if the claim still holds the run; a rejection requeues the run. */
export type ClaimHandler = (claim: RunClaim) => Promise<ClaimEnding>;

/** Why `RunClaim.signal` aborted: its reason is a `StoppedError` with this `stop`. */
export type StopCode = "lost" | "cancelled" | "closing";

/** A run that is claimed by a worker. */
export interface RunClaim {
  readonly run: Run;
  readonly epoch: number;
  /** The worker's name and process. */
  readonly worker: string;
  readonly signal: AbortSignal;
  /** The messages sent to the run, as far as known by now. */
  readonly messages: readonly string[];
  /**
   * The entries that earlier claims and this one have recorded, in order. Later entries of a key replace earlier ones.
   */
  journal(): Promise<readonly JournalEntry[]>;
  /**
   * Appends to the journal and the event log, all or nothing. Rejects with a `StoppedError` (`lost`) if another worker
   * has claimed the run, or if that is unknown: the write is then never valid for that worker, and nothing may rely on
   * it.
   */
  append(entries: readonly JournalEntry[], events: readonly RunEvent[]): Promise<void>;
  /**
   * Counts a model call against the limits of the tenant and of the model. Resolves to `undefined` if the model may be
   * called now, and otherwise to how long to wait. A pause with `hasModelCall` has reserved the call: it must be made
   * after the wait, by this claim or by the next one, whose first `takeModelCall` then resolves to `undefined`.
   */
  takeModelCall(model: string): Promise<Pause | undefined>;
  /**
   * Reports the outcome of a model call. After several failures in a row, by all workers together, the circuit breaker
   * blocks that model for a time; then one call tries whether it works again.
   */
  reportModelCall(model: string, failure?: { readonly retryAfterMs?: number }): Promise<void>;
}

/** One entry of the journal. */
export interface JournalEntry {
  readonly key: string;
  /** `intent`: about to happen. `result` and `error`: the outcome. */
  readonly kind: "intent" | "result" | "error";
  /** A JSON value. */
  readonly value: unknown;
}

/** The total usage of a run. */
export interface Spent {
  readonly usage?: TokenUsage;
  /** In dollars. */
  readonly cost?: number;
}

export type ClaimEnding =
  /** The run is queued instead if more messages than `messages` were sent to it. */
  | ({ readonly state: "done"; readonly result: RunResult; readonly messages?: number } & Spent)
  | ({ readonly state: "failed" | "cancelled"; readonly error: RunError } & Spent)
  /** With `expiresMs`, calls without a decision are denied after that time. */
  | ({
      readonly state: "waiting";
      readonly approvals: readonly Approval[];
      readonly expiresMs?: number;
    } & Spent)
  /** Continues by itself after a time, with any worker. */
  | ({ readonly state: "waiting"; readonly pause: Pause } & Spent)
  /** Back to the queue, for any worker. */
  | { readonly state: "queued" };
