import {
  check,
  checkOptions,
  invalidArgument,
  type OptionChecks,
  type ValueCheck,
} from "@agent/core/toolkit";
import type { ClaimEnding, EngineWorker, EngineWorkOptions, RunEngine } from "../engine/engine.js";
import { startDue } from "../engine/schedule.js";
import { attemptRun } from "./attempt.js";
import { defineRun, type RunDefinition } from "./definition.js";
import { checkOutagePolicy, type OutagePolicy } from "./outages.js";
import { sleep } from "./sleep.js";
import type { RunTracing } from "./tracing.js";

const DEFAULTS = { name: "worker", concurrency: 4, leaseMs: 10_000, maxCrashes: 5, closeGraceMs: 10_000 };

// How late a schedule created by another process may be noticed.
const SCHEDULES_MS = 5000;

export interface WorkerOptions {
  // biome-ignore lint/suspicious/noExplicitAny: each definition has its own input.
  readonly definitions: readonly RunDefinition<any>[];
  /** The worker's name for people. Default `worker`. */
  readonly name?: string;
  /** The maximum number of concurrent runs. Default 4. */
  readonly concurrency?: number;
  /** The labels of this worker: a run is assigned only to a worker with all the labels it requires. */
  readonly labels?: readonly string[];
  /** How long this worker may be silent before its runs are given to another. Default 10 s. */
  readonly leaseMs?: number;
  /** After how many lost workers, without a completed step in between, a run is set aside. Default 5. */
  readonly maxCrashes?: number;
  /** How long running steps may take to finish when the worker closes. Default 10 s. */
  readonly closeGraceMs?: number;
  /** What happens to a run when the model's server fails temporarily. */
  readonly outages?: OutagePolicy;
  /** After what time a pending call is denied. Default: it waits without limit. */
  readonly approvalTimeoutMs?: number;
  /**
   * Called when a run has left this worker, after its state is visible: for example, to notify someone that it waits.
   */
  readonly onEnded?: EngineWorkOptions["onEnded"];
  /** Traces the work on each run: `traceRuns()` of `@agent/durable/otel`. */
  readonly tracing?: RunTracing;
  /** Called with transient faults, such as an unreachable database. */
  readonly onFault?: (error: unknown) => void;
}

const texts: ValueCheck = (name, value) => {
  if (!Array.isArray(value)) throw invalidArgument(name, "an array of strings", value);
  for (const [index, item] of value.entries()) check.text(`${name}[${index}]`, item);
};

const OPTIONS: OptionChecks<WorkerOptions> = {
  definitions: (name, value) => {
    if (!Array.isArray(value) || value.length === 0) {
      throw invalidArgument(name, "an array with at least one definition", value);
    }
  },
  name: check.text,
  concurrency: check.positive,
  labels: texts,
  leaseMs: check.positive,
  maxCrashes: check.positive,
  closeGraceMs: check.positive,
  outages: checkOutagePolicy,
  approvalTimeoutMs: check.positive,
  onEnded: check.function,
  tracing: check.object,
  onFault: check.function,
};

/**
 * Claims and executes runs of these definitions until it is closed. Any number of workers, in any number of processes, share
 * the runs of an engine.
 */
export async function startWorker(engine: RunEngine, options: WorkerOptions): Promise<EngineWorker> {
  checkOptions("startWorker", options, OPTIONS);
  OPTIONS.definitions("definitions", options.definitions);
  const definitions = new Map(options.definitions.map((one) => [defineRun(one).name, one]));
  const {
    closeGraceMs = DEFAULTS.closeGraceMs,
    outages = {},
    approvalTimeoutMs,
    onFault = () => undefined,
  } = options;
  const worker = await engine.work(
    async (claim) => {
      const definition = definitions.get(claim.run.definition);
      if (!definition) return { state: "queued" };
      const attempt = async (): Promise<ClaimEnding> => {
        const ending = await attemptRun(engine, claim, definition, { closeGraceMs, outages, onFault });
        return "approvals" in ending && approvalTimeoutMs !== undefined
          ? { ...ending, expiresMs: approvalTimeoutMs }
          : ending;
      };
      return await (options.tracing ? options.tracing.inClaim(claim, attempt) : attempt());
    },
    {
      name: options.name ?? DEFAULTS.name,
      concurrency: options.concurrency ?? DEFAULTS.concurrency,
      definitions: [...definitions.keys()],
      labels: options.labels ?? [],
      leaseMs: options.leaseMs ?? DEFAULTS.leaseMs,
      maxCrashes: options.maxCrashes ?? DEFAULTS.maxCrashes,
      onFault,
      ...(options.onEnded && { onEnded: options.onEnded }),
    },
  );
  const stopSchedules = followSchedules(engine, onFault);
  return {
    close: async () => {
      await stopSchedules();
      await worker.close();
    },
  };
}

/** Starts the runs of due schedules, until the returned function is called. */
function followSchedules(engine: RunEngine, onFault: (error: unknown) => void): () => Promise<void> {
  const closed = new AbortController();
  const loop = async (): Promise<void> => {
    while (!closed.signal.aborted) {
      const next = await startDue(engine, Date.now(), onFault).catch((error: unknown) => onFault(error));
      await sleep(Math.min(SCHEDULES_MS, Math.max(0, (next ?? Infinity) - Date.now())), closed.signal);
    }
  };
  const looping = loop();
  return async () => {
    closed.abort();
    await looping;
  };
}
