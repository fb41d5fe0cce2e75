import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "@agent/core/toolkit";
import { type RunClaim, type RunEngine, type RunSummary, startWorker } from "@agent/durable";
import type { CrashGuard } from "../../process/crash.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print } from "../../process/output.js";
import { watchInterruption } from "../../run/interruption.js";
import type { SettingsFlags } from "../../settings/flags.js";
import { loadSettings } from "../../settings/loadSettings.js";
import { directoryLabel, TASK, taskDefinition } from "./definition.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { parseAge, parseCount, stateText } from "./text.js";
import { loadTracing } from "./tracing.js";

export interface WorkFlags extends SettingsFlags, EngineFlags {
  readonly concurrency?: string;
  readonly label?: readonly string[];
  readonly name?: string;
  readonly lease?: string;
  readonly drain?: boolean;
  readonly json?: boolean;
}

const DRAIN_CHECK_MS = 200;
const DRAIN_CHECK_SHARE = 20;

/** `agent runs work`: processes runs until it is interrupted, or with `--drain` until none is left. */
export async function workCommand(flags: WorkFlags, guard: CrashGuard): Promise<ExitCode> {
  const loaded = await loadSettings(flags);
  const concurrency = parseCount(flags.concurrency ?? "4", "--concurrency");
  const leaseMs = parseAge(flags.lease ?? "10s", "--lease");
  const labels = [directoryLabel(), ...(flags.label ?? [])];
  const traced = await loadTracing();
  return await withEngine(flags, async (engine) => {
    const interruption = watchInterruption(undefined);
    const tell = flags.json ? tellJson : tellText;
    if (!flags.json)
      note(`Working on runs of ${labels.join(", ")}, ${concurrency} at a time. Stop with Ctrl-C.`);
    const worker = await startWorker(watched(engine, tell), {
      definitions: [taskDefinition(loaded, guard, traced?.telemetry)],
      name: flags.name ?? hostname(),
      concurrency,
      labels,
      leaseMs,
      ...(traced && { tracing: traced.tracing }),
      onFault: (error) => note(`agent: ${errorMessage(error)}`),
    });
    await new Promise<void>((resolve) => {
      interruption.signal.addEventListener("abort", () => resolve(), { once: true });
      if (flags.drain) void untilDrained(engine, labels, interruption.signal).then(resolve);
    });
    if (interruption.stop) note("Closing: steps that run may end, then the runs go on elsewhere.");
    await worker.close();
    interruption.release();
    return interruption.stop && !flags.drain ? EXIT.done : (interruption.stop?.exitCode ?? EXIT.done);
  });
}

type Tell = (what: "claimed" | "left", run: { readonly id: string; readonly text: string }) => void;

const tellText: Tell = (what, { id, text }) =>
  note(`run ${id}: ${what === "claimed" ? "working on it" : text}`);
const tellJson: Tell = (what, { id, text }) =>
  print(`${JSON.stringify({ v: 1, type: what, id, state: text })}\n`);

/** The engine, with a line printed for each run that the worker claims and releases. */
function watched(engine: RunEngine, tell: Tell): RunEngine {
  const told: Partial<RunEngine> = {
    work: (handle, options) =>
      engine.work(async (claim: RunClaim) => {
        const { id } = claim.run;
        tell("claimed", { id, text: "running" });
        const ending = await handle(claim);
        tell("left", {
          id,
          text: stateText({
            ...claim.run,
            ...ending,
            approvals: "approvals" in ending ? ending.approvals : [],
          }),
        });
        return ending;
      }, options),
  };
  return new Proxy(engine, {
    get: (target, name) => {
      const own = told[name as keyof RunEngine];
      if (own) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/**
 * Resolves when no run is left that a worker with these labels could take. Other runs may wait for other workers for
 * ever.
 */
async function untilDrained(
  engine: RunEngine,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const before = performance.now();
    const { queued, running } = await engine.count();
    const open = await Promise.all([
      queued === 0 ? [] : engine.list({ state: "queued", limit: queued }),
      running === 0 ? [] : engine.list({ state: "running", limit: running }),
    ]);
    const isOurs = (run: RunSummary): boolean =>
      run.definition === TASK && run.labels.every((label) => labels.includes(label));
    if (!open.flat().some(isOurs)) return;
    // With many queued runs, listing them must not take the time that processing them needs.
    const tookMs = performance.now() - before;
    await sleep(Math.max(DRAIN_CHECK_MS, DRAIN_CHECK_SHARE * tookMs));
  }
}
