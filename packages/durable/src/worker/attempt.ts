import { type DoneEvent, isAgentError, type TokenUsage } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import type { ClaimEnding, JournalEntry, RunClaim, RunEngine } from "../engine/engine.js";
import { isStopped, StoppedError } from "../engine/stopped.js";
import { countLogged, EventLog } from "../journal/eventLog.js";
import { VERSION_KEY } from "../journal/keys.js";
import { JournalSteps } from "../journal/steps.js";
import { RunApprovals } from "./approvals.js";
import type { PreparedRun, RunDefinition } from "./definition.js";
import { sleep } from "./sleep.js";

export interface AttemptOptions {
  /** How long steps that run may take to end when the worker closes. */
  readonly closeGraceMs: number;
  readonly onFault: (error: unknown) => void;
}

/**
 * Works on a run from where its journal ends, until it ends, waits for a decision, or has to be given back. Rejects
 * only if the run was lost.
 */
export async function attemptRun(
  engine: RunEngine,
  claim: RunClaim,
  definition: RunDefinition,
  options: AttemptOptions,
): Promise<ClaimEnding> {
  const { run } = claim;
  const entries = await claim.journal();
  const logged = entries.length === 0 ? new Map() : await countLogged(engine.events(run.id));
  const log = new EventLog(logged, (events) => claim.append([], events), options.onFault);
  const record = (entry: JournalEntry): Promise<void> => claim.append([entry], log.take());
  const stop = new AbortController();
  const beforeModelCall = async (): Promise<void> => {
    for (let wait = await claim.takeModelCall(); wait > 0; wait = await claim.takeModelCall()) {
      await sleep(wait, stop.signal);
      if (claim.signal.aborted) throw claim.signal.reason;
    }
  };
  const steps = new JournalSteps({ entries, record, beforeModelCall });
  const approvals = new RunApprovals(run);
  const release = stopWithClaim(claim, steps, stop, options.closeGraceMs);
  try {
    await logStart(claim, definition, entries, log);
    const prepared = await definition.create({
      id: run.id,
      tenant: run.tenant,
      labels: run.labels,
      input: run.input,
      startedVersion: run.version,
      steps,
      approve: approvals.approve,
      signal: stop.signal,
    });
    return await chat(prepared, claim, stop.signal, { steps, approvals, log });
  } catch (error) {
    if (isStopped(error) && error.stop === "lost") throw error;
    return failure(claim, error);
  } finally {
    release();
    log.take();
  }
}

interface Parts {
  readonly steps: JournalSteps;
  readonly approvals: RunApprovals;
  readonly log: EventLog;
}

async function chat(
  { agent, message, output, context }: PreparedRun,
  claim: RunClaim,
  signal: AbortSignal,
  { steps, approvals, log }: Parts,
): Promise<ClaimEnding> {
  let done: DoneEvent | undefined;
  let usage: TokenUsage | undefined;
  try {
    const given = { signal, ...(output && { output }), ...(context !== undefined && { context }) };
    for await (const event of agent.streamChat(message, given)) {
      if (event.type === "usage") usage = event.total;
      if (event.type === "done") done = event;
      log.add(event);
    }
    await log.flush();
    if (!done) throw new Error("The agent ended without an answer.");
    if (steps.asked === 0) {
      throw new Error("The agent did not use the run's steps. Pass run.steps to the agent as `steps`.");
    }
    const { text, finishReason, turns } = done;
    const result = {
      text,
      ...(done.output !== undefined && { output: done.output }),
      finishReason,
      turns,
    };
    return { state: "done", result, usage: done.usage };
  } catch (error) {
    if (isStopped(error) && error.stop === "lost") throw error;
    if (signal.aborted) await agent.settled();
    await log.flush();
    const ending =
      isAgentError(error, "suspended") && !isStopped(error) && approvals.pending.length > 0
        ? ({ state: "waiting", approvals: approvals.pending } as const)
        : failure(claim, error);
    return usage && ending.state !== "queued" ? { ...ending, usage } : ending;
  } finally {
    await agent.dispose().catch(() => undefined);
  }
}

/** What a failure means for the run: nothing if only the worker has to stop. */
function failure({ signal, run }: RunClaim, error: unknown): ClaimEnding {
  const stop = signal.aborted && isStopped(signal.reason) ? signal.reason.stop : undefined;
  if (stop === "lost") throw signal.reason;
  if (stop === "cancelled") {
    const { message } = signal.reason as StoppedError;
    return { state: "cancelled", error: { code: "cancelled", message } };
  }
  if (stop === "closing" || isStopped(error)) return { state: "queued" };
  const code = isAgentError(error) ? error.code : "failed";
  const message = errorMessage(error);
  return {
    state: "failed",
    error: { code, message: isAgentError(error) ? message : `${run.definition}: ${message}` },
  };
}

/** Logs who works on the run, and tells if the code is not what it was. */
async function logStart(
  claim: RunClaim,
  definition: RunDefinition,
  entries: readonly JournalEntry[],
  log: EventLog,
): Promise<void> {
  const { epoch, worker, run } = claim;
  log.add({ type: "claimed", epoch, worker });
  const recorded = entries.findLast(({ key }) => key === VERSION_KEY)?.value;
  const from = typeof recorded === "string" ? recorded : run.version;
  if (from !== definition.version) log.add({ type: "version", from, to: definition.version });
  if (recorded !== definition.version) {
    await claim.append([{ key: VERSION_KEY, kind: "result", value: definition.version }], log.take());
  } else {
    await log.flush();
  }
}

/** A closing worker lets steps end that have begun; a run that was cancelled or lost stops at once. */
function stopWithClaim(
  { signal }: RunClaim,
  steps: JournalSteps,
  stop: AbortController,
  graceMs: number,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    steps.close();
    const isClosing = isStopped(signal.reason) && signal.reason.stop === "closing";
    if (!isClosing) stop.abort(signal.reason);
    else timer = setTimeout(() => stop.abort(new StoppedError("closing")), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
}
