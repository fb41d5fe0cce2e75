import { once } from "node:events";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Telemetry } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import {
  type OutagePolicy,
  type RunEngine,
  type RunSummary,
  type RunTracing,
  startWorker,
} from "@agent/durable";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print } from "../../process/output.js";
import { watchInterruption } from "../../run/interruption.js";
import { countFromZero } from "../../settings/environment.js";
import type { SettingsFlags } from "../../settings/flags.js";
import { loadSettings } from "../../settings/loadSettings.js";
import { directoryLabel, TASK, taskDefinition } from "./definition.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { printFault } from "./faults.js";
import { createNotifier, type NotifyFlags } from "./notify.js";
import { parseAge, parseCount, stateText } from "./text.js";

export interface WorkFlags extends SettingsFlags, EngineFlags, NotifyFlags {
  readonly concurrency?: string;
  readonly label?: readonly string[];
  readonly name?: string;
  readonly lease?: string;
  readonly drain?: boolean;
  readonly retryAttempts?: string;
  readonly retryMaxDelay?: string;
  readonly retryDeadline?: string;
  readonly approvalTimeout?: string;
  readonly json?: boolean;
}

const DRAIN_CHECK_MS = 200;
const DRAIN_CHECK_SHARE = 20;

/** `agent runs work`: processes runs until it is interrupted, or with `--drain` until none is left. */
export async function workCommand(flags: WorkFlags): Promise<ExitCode> {
  const loaded = await loadSettings(flags);
  const concurrency = parseCount(flags.concurrency ?? "4", "--concurrency");
  const leaseMs = parseAge(flags.lease ?? "10s", "--lease");
  const approvalTimeoutMs = approvalTimeoutOf(flags, loaded.settings.runs.approvalTimeoutMs);
  const labels = [directoryLabel(), ...(flags.label ?? [])];
  const notifier = createNotifier(flags, (message) => note(`agent: ${message}`));
  const traced = await loadTracing();
  return await withEngine(flags, async (engine) => {
    const interruption = watchInterruption(undefined);
    if (!flags.json)
      note(`Working on runs of ${labels.join(", ")}, ${concurrency} at a time. Stop with Ctrl+C.`);
    const worker = await startWorker(engine, {
      definitions: [taskDefinition(loaded, traced?.telemetry)],
      name: flags.name ?? hostname(),
      concurrency,
      labels,
      leaseMs,
      ...(approvalTimeoutMs !== undefined && { approvalTimeoutMs }),
      ...(notifier && { onEnded: notifier.tell }),
      outages: outagesOf(loaded.settings.runs.outages, flags),
      tracing: watchClaims(flags.json ? tellJson : tellText, traced?.tracing),
      onFault: printFault,
    });
    try {
      if (flags.drain) await untilDrained(engine, labels, interruption.signal);
      else if (!interruption.signal.aborted) await once(interruption.signal, "abort");
    } finally {
      if (interruption.stop) note("Closing: running steps may finish, then the runs continue elsewhere.");
      await worker.close();
      await notifier?.settled();
      interruption.release();
    }
    // Without --drain a signal is the normal way to stop a worker; with it, runs are left over.
    return flags.drain ? (interruption.stop?.exitCode ?? EXIT.done) : EXIT.done;
  });
}

function approvalTimeoutOf(
  { approvalTimeout }: WorkFlags,
  configured: number | undefined,
): number | undefined {
  return approvalTimeout === undefined ? configured : parseAge(approvalTimeout, "--approval-timeout");
}

/** The policy of the config, overridden by flags. */
function outagesOf(configured: OutagePolicy | undefined, flags: WorkFlags): OutagePolicy {
  const { retryAttempts, retryMaxDelay, retryDeadline } = flags;
  return {
    ...configured,
    ...(retryAttempts !== undefined && { attempts: countFromZero(retryAttempts, "--retry-attempts") }),
    ...(retryMaxDelay !== undefined && { maxDelayMs: parseAge(retryMaxDelay, "--retry-max-delay") }),
    ...(retryDeadline !== undefined && { deadlineMs: parseAge(retryDeadline, "--retry-deadline") }),
  };
}

type Tell = (what: "claimed" | "left", run: { readonly id: string; readonly text: string }) => void;

const tellText: Tell = (what, { id, text }) =>
  note(`run ${id}: ${what === "claimed" ? "working on it" : text}`);
const tellJson: Tell = (what, { id, text }) =>
  print(`${JSON.stringify({ v: 1, type: what, id, state: text })}\n`);

/** Prints a line for each run that the worker claims and releases, within the spans of `tracing`. */
function watchClaims(tell: Tell, tracing: RunTracing | undefined): RunTracing {
  return {
    async inClaim(claim, work) {
      const { run } = claim;
      tell("claimed", { id: run.id, text: "running" });
      const ending = await (tracing ? tracing.inClaim(claim, work) : work());
      const approvals = "approvals" in ending ? ending.approvals : [];
      const pause = "pause" in ending ? ending.pause : undefined;
      const wait = pause && { until: Date.now() + pause.ms, reason: pause.reason };
      tell("left", { id: run.id, text: stateText({ ...ending, approvals, ...(wait && { wait }) }) });
      return ending;
    },
  };
}

/**
 * Resolves when no run is left that a worker with these labels could claim, or the signal aborts. Other runs may wait
 * for other workers forever.
 */
async function untilDrained(
  engine: RunEngine,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const before = performance.now();
    const counts = await engine.count();
    const paused = await engine.getPaused();
    const open = await Promise.all(
      (["queued", "running", "waiting"] as const).map((state) =>
        counts[state] === 0 ? [] : engine.list({ state, limit: counts[state] }),
      ),
    );
    // A run that waits for its provider or a limit continues here; one that waits for a decision, was scheduled for
    // later or is paused does not.
    const isOurs = (run: RunSummary): boolean =>
      (run.state === "running" || !(paused.includes("*") || paused.includes(run.tenant))) &&
      (run.state !== "waiting" || (run.wait !== undefined && run.wait.reason.code !== "scheduled")) &&
      run.definition === TASK &&
      run.labels.every((label) => labels.includes(label));
    if (!open.flat().some(isOurs)) return;
    // With many queued runs, listing them must not take the time that processing them needs.
    const tookMs = performance.now() - before;
    await sleep(Math.max(DRAIN_CHECK_MS, DRAIN_CHECK_SHARE * tookMs), undefined, { signal }).catch(
      () => undefined,
    );
  }
}

// The global key under which @opentelemetry/api stores what an SDK has registered, for every copy of it in the process.
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

interface Tracing {
  /** For the agents: their model and tool calls. */
  readonly telemetry: Telemetry;
  /** For the worker: its claims. */
  readonly tracing: RunTracing;
}

/**
 * Spans for an OpenTelemetry SDK that was loaded before the command, as with `NODE_OPTIONS=--import …`. Without one
 * nothing is loaded.
 */
async function loadTracing(): Promise<Tracing | undefined> {
  if (!(REGISTERED in globalThis)) return undefined;
  try {
    const { openTelemetry } = await import("@agent/core/otel");
    const { traceRuns } = await import("@agent/durable/otel");
    return { telemetry: openTelemetry(), tracing: traceRuns() };
  } catch (error) {
    note(`agent: no traces, although OpenTelemetry is loaded: ${errorMessage(error)}`);
    note("Install @opentelemetry/api where agent is installed: npm install --global @opentelemetry/api");
    return undefined;
  }
}
