import { type Content, type DoneEvent, isAgentError, type TokenUsage } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import type { ClaimEnding, JournalEntry, RunClaim, RunEngine, Spent } from "../engine/engine.js";
import type { Approval, Pause } from "../engine/run.js";
import { isStopped, StoppedError } from "../engine/stopped.js";
import { countLogged, EventLog } from "../journal/eventLog.js";
import { JournalWriter } from "../journal/journalWriter.js";
import { VERSION_KEY } from "../journal/keys.js";
import { JournalSteps, type MessageGate } from "../journal/steps.js";
import { RunApprovals } from "./approvals.js";
import type { PreparedRun, RunAgent, RunDefinition } from "./definition.js";
import { ModelCalls } from "./modelCalls.js";
import type { OutagePolicy } from "./outages.js";

export interface AttemptOptions {
  /** How long steps that run may take to end when the worker closes. */
  readonly closeGraceMs: number;
  readonly outages: OutagePolicy;
  readonly onFault: (error: unknown) => void;
}

/**
 * Works on a run from where its journal ends, until it ends, waits for a decision or a time, or has to be given back. Rejects
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
  const append: RunClaim["append"] = (steps, events) => claim.append(steps, events);
  const writer = new JournalWriter(new EventLog(logged), append, options.onFault);
  const stop = new AbortController();
  const models = new ModelCalls(claim, options.outages, stop.signal);
  const messages = new RunMessages(claim);
  const steps = new JournalSteps({ entries, writer, models, messages });
  const approvals = new RunApprovals(run);
  const release = stopWithClaim(claim, steps, stop, options.closeGraceMs);
  try {
    logStart(claim, definition, entries, writer);
    const prepared = await definition.create({
      id: run.id,
      tenant: run.tenant,
      labels: run.labels,
      input: run.input,
      startedVersion: run.version,
      steps,
      approve: approvals.approve,
      onBudget: approvals.onBudget,
      signal: stop.signal,
    });
    approvals.tools = prepared.agent.registry;
    messages.agent = prepared.agent;
    return await chat(prepared, claim, stop.signal, { steps, approvals, models, writer, messages });
  } catch (error) {
    if (isStopped(error) && error.stop === "lost") throw error;
    return failure(claim, error);
  } finally {
    release();
    writer.close();
  }
}

interface Parts {
  readonly steps: JournalSteps;
  readonly approvals: RunApprovals;
  readonly models: ModelCalls;
  readonly writer: JournalWriter;
  readonly messages: RunMessages;
}

async function chat(
  { agent, message, output, context, cost }: PreparedRun,
  claim: RunClaim,
  signal: AbortSignal,
  { steps, approvals, models, writer, messages }: Parts,
): Promise<ClaimEnding> {
  let done: DoneEvent | undefined;
  let before: TokenUsage | undefined;
  let usage: TokenUsage | undefined;
  try {
    const given = { signal, ...(output && { output }), ...(context !== undefined && { context }) };
    let next: Content | undefined = message;
    for (let exchange = 0; next !== undefined; exchange++) {
      approvals.exchange = exchange;
      steps.startExchange(exchange);
      for await (const event of agent.streamChat(next, given)) {
        if (event.type === "usage") usage = addUsage(before, event.total);
        if (event.type === "done") done = event;
        writer.addEvent(event);
      }
      await writer.settle();
      if (!done) throw new Error("The agent ended without an answer.");
      usage = addUsage(before, done.usage);
      before = usage;
      next = messages.next();
    }
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
    return { state: "done", result, messages: messages.delivered, ...spent(usage, cost) };
  } catch (error) {
    if (isStopped(error) && error.stop === "lost") throw error;
    if (signal.aborted) await agent.settled();
    await writer.settle();
    const isSuspended = isAgentError(error, "suspended") && !isStopped(error) && !claim.signal.aborted;
    const ending = (isSuspended && waiting(approvals.pending, models.pause)) || failure(claim, error);
    return ending.state === "queued" ? ending : { ...ending, ...spent(usage, cost) };
  } finally {
    await agent.dispose().catch(() => undefined);
  }
}

/** The messages that were sent to a run, and how many of them its agent has got. */
class RunMessages implements MessageGate {
  readonly #claim: RunClaim;
  agent: Pick<RunAgent, "steer"> | undefined;
  delivered = 0;

  constructor(claim: RunClaim) {
    this.#claim = claim;
  }

  deliver(until?: number): number {
    const { messages } = this.#claim;
    while (this.delivered < Math.min(until ?? Infinity, messages.length)) {
      // Without a way in between, a message waits until the agent has answered.
      if (!this.agent?.steer?.(messages[this.delivered] ?? "")) break;
      this.delivered++;
    }
    return this.delivered;
  }

  /** The message that the run continues with after an answer. */
  next(): string | undefined {
    const message = this.#claim.messages[this.delivered];
    if (message !== undefined) this.delivered++;
    return message;
  }
}

function addUsage(before: TokenUsage | undefined, now: TokenUsage): TokenUsage {
  if (!before) return now;
  const sum: Record<string, unknown> = { ...before, ...now };
  for (const [name, value] of Object.entries(now)) {
    const earlier = before[name as keyof TokenUsage];
    if (typeof value === "number" && typeof earlier === "number") sum[name] = value + earlier;
  }
  return sum as unknown as TokenUsage;
}

/** What the run waits for: decisions first, since nothing else happens before they are made. */
function waiting(approvals: readonly Approval[], pause: Pause | undefined): ClaimEnding | undefined {
  if (approvals.length > 0) return { state: "waiting", approvals };
  return pause && { state: "waiting", pause };
}

function spent(usage: TokenUsage | undefined, cost: PreparedRun["cost"]): Spent {
  const dollars = usage && (cost ? cost(usage) : usage.cost);
  return { ...(usage && { usage }), ...(Number.isFinite(dollars) && { cost: dollars as number }) };
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

/** Logs which worker has the run, and a `version` event if the code changed. */
function logStart(
  { epoch, worker, run }: RunClaim,
  { version }: RunDefinition,
  entries: readonly JournalEntry[],
  writer: JournalWriter,
): void {
  writer.addEvent({ type: "claimed", epoch, worker });
  const recorded = entries.findLast(({ key }) => key === VERSION_KEY)?.value;
  const from = typeof recorded === "string" ? recorded : run.version;
  const isKnown = from === version || (recorded === undefined && version.startsWith(`${from}+`));
  if (!isKnown) writer.addEvent({ type: "version", from, to: version });
  if (recorded !== version) writer.add({ key: VERSION_KEY, kind: "result", value: version });
}

/** When the worker closes, steps that have begun may finish; a cancelled or lost run stops at once. */
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
