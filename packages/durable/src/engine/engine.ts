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
   * Stores a run and queues it. Resolves to `false` if this run exists already: it stays as it is. Rejects with
   * `invalid_argument` if the id belongs to a run with another tenant, definition or input.
   */
  create(run: NewRun): Promise<boolean>;
  get(id: string): Promise<Run | undefined>;
  /** The newest first. */
  list(query?: RunQuery): Promise<readonly RunSummary[]>;
  count(query?: RunFilter): Promise<Readonly<Record<RunState, number>>>;
  /** What ended and what was started since then, in stretches of `bucketMs`, oldest first. */
  activity(
    since: number,
    bucketMs: number,
    query?: Pick<RunQuery, "tenant">,
  ): Promise<readonly ActivityBucket[]>;
  /**
   * The events of a run after a cursor, in order, without gap or duplicate across workers. With `follow` it continues
   * until the run has ended or `signal` aborts, and reports the run itself whenever its state changes, first and last.
   * Ends immediately for a run that does not exist.
   */
  events(id: string, options?: EventsOptions): AsyncIterable<FollowedEvent>;
  /** Resolves to `false` if nothing with this key waits for a decision: another user may have decided already. */
  decide(id: string, key: string, decision: Decision): Promise<boolean>;
  /** Ends a run that is queued or waiting, stops one that runs. `false` if it has ended or is unknown. */
  cancel(id: string, reason: string): Promise<boolean>;
  /**
   * Queues a run that failed, was cancelled or was set aside, or that waits for a time. Completed steps stay completed.
   */
  retry(id: string): Promise<boolean>;
  /**
   * Sends a further message to a run. One that runs gets it after the model's next answer, and one that is done
   * continues with it. `false` if it failed, was cancelled or set aside, or is unknown.
   */
  send(id: string, message: string): Promise<boolean>;
  /** What the steps of a run have recorded, in order. Empty for a run that does not exist. */
  journal(id: string): Promise<readonly JournalEntry[]>;
}

/**
 * Keeps runs and hands them out to workers. `@agent/durable` has one on plain files, `@agent/durable/bullmq` one for
 * many machines; `@agent/durable/testing` has the tests that any other must pass.
 */
export interface RunEngine extends RunAccess {
  /** Access to the runs of one tenant. Runs of other tenants do not exist there, and it starts none for them. */
  forTenant(tenant: string): RunAccess;
  setLimits(tenant: string, limits: TenantLimits): Promise<void>;
  getLimits(tenant: string): Promise<TenantLimits>;
  /**
   * Limits how often models may be asked within any minute, by all runs together. `target` is a provider (`openai`),
   * a provider and model (`openai/gpt-5`) or `*` for all models; `undefined` removes the limit.
   */
  setRate(target: string, callsPerMinute: number | undefined): Promise<void>;
  getRates(): Promise<Readonly<Record<string, number>>>;
  /** The limits of all tenants that have any. */
  getAllLimits(): Promise<Readonly<Record<string, TenantLimits>>>;
  /** Keeps the runs of a tenant, or of all (`*`), from being claimed, or lets them. What runs continues to run. */
  setPaused(tenant: string, isPaused: boolean): Promise<void>;
  /** The tenants whose runs are not claimed; `*` for all. */
  getPaused(): Promise<readonly string[]>;
  /** The workers that gave a sign of life lately, also those without a run. */
  workers(): Promise<readonly WorkerInfo[]>;
  /** Adds a schedule, or replaces the one with its id. */
  setSchedule(schedule: Schedule): Promise<void>;
  /** `false` if there is none. */
  removeSchedule(id: string): Promise<boolean>;
  getSchedules(): Promise<readonly Schedule[]>;
  /** Sets when a schedule is due next, if it is still due at `from`: one of many workers starts its run. */
  advanceSchedule(id: string, from: number, next: Pick<Schedule, "nextAt" | "last">): Promise<boolean>;
  /** Removes runs that ended before that time, with journals and events. Resolves to how many. */
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
  /** Only runs behind this one in the list: the id of the last run of the page before. Lists nothing if it is gone. */
  readonly after?: string;
  /** Default 100. */
  readonly limit?: number;
}

/** What runs are counted by. */
export type RunFilter = Omit<RunQuery, "after" | "limit">;

export interface EventsOptions {
  readonly after?: string;
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

export interface ActivityBucket {
  /** When the stretch began. */
  readonly at: number;
  readonly done: number;
  /** Failed and set aside. */
  readonly failed: number;
  readonly cancelled: number;
  /** How many runs a worker took for the first time. */
  readonly started: number;
  /** How long those had waited for a worker, on average. */
  readonly averageWaitMs: number;
  /** What the runs that ended have cost in dollars, as far as it is known. */
  readonly cost: number;
}

export interface EngineWorkOptions {
  /** Names the worker for people. */
  readonly name: string;
  readonly concurrency: number;
  /** Only runs of these definitions are claimed. */
  readonly definitions: readonly string[];
  readonly labels: readonly string[];
  /** How long a worker may give no sign of life before its runs are given to another. */
  readonly leaseMs: number;
  /** After how many lost workers, without a completed step in between, a run is set aside. */
  readonly maxCrashes: number;
  /** Called with transient faults, such as an unreachable database. */
  readonly onFault: (error: unknown) => void;
  /** Called when a claim has ended, and everybody can see how. */
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
  /** Claims no more runs, tells those that run to stop (`closing`), and resolves when all handlers have returned. */
  close(): Promise<void>;
}

/** Executes a claimed run. What it resolves to is written if the claim still holds; a rejection gives the run back. */
export type ClaimHandler = (claim: RunClaim) => Promise<ClaimEnding>;

/** Why `RunClaim.signal` aborted: its reason is a `StoppedError` with this `stop`. */
export type StopCode = "lost" | "cancelled" | "closing";

/** A run in a worker's hands. */
export interface RunClaim {
  readonly run: Run;
  readonly epoch: number;
  /** The worker's name and process. */
  readonly worker: string;
  readonly signal: AbortSignal;
  /** What was sent to the run, as far as is known by now. */
  readonly messages: readonly string[];
  /** What earlier claims and this one have recorded, in order. Later entries of a key replace earlier ones. */
  journal(): Promise<readonly JournalEntry[]>;
  /**
   * Adds to the journal and to the event log, all or nothing. Rejects with a `StoppedError` (`lost`) if another
   * worker has taken the run, or if it is not known whether it has: what was to be written then never counts for
   * that worker, and nothing may be done that relies on it.
   */
  append(entries: readonly JournalEntry[], events: readonly RunEvent[]): Promise<void>;
  /**
   * Takes a model call from the limits of the tenant and of the model. Resolves to `undefined` if the model may be
   * asked now, and otherwise to how long to wait. A pause with `hasModelCall` has reserved the call: it must be made
   * after the wait, by this claim or by the next one, whose first `takeModelCall` then resolves to `undefined`.
   */
  takeModelCall(model: string): Promise<Pause | undefined>;
  /**
   * Reports how a model call ended. After several failures in a row, by all workers together, nothing asks that model
   * for a time (circuit breaker); then one call tries whether it works again.
   */
  reportModelCall(model: string, failure?: { readonly retryAfterMs?: number }): Promise<void>;
}

/** One entry of the journal. */
export interface JournalEntry {
  readonly key: string;
  /** `intent`: about to happen. `result` and `error`: how it ended. */
  readonly kind: "intent" | "result" | "error";
  /** A JSON value. */
  readonly value: unknown;
}

/** What a run has used, from its start on. */
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
