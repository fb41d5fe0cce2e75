import {
  AgentError,
  type ApprovalDecision,
  type ApprovalRequest,
  type BudgetLimits,
  type Content,
  type DoneEvent,
  isAgentError,
  type OnBudget,
  type TokenUsage,
} from "@agent/core";
import { coversCall, isWithinShown, parseRule, type RuleTools } from "@agent/core/host";
import { errorMessage } from "@agent/core/toolkit";
import type { ClaimEnding, JournalEntry, RunClaim, RunEngine, Spent } from "../engine/engine.js";
import type { Approval, Decision, Failures, Pause, Run } from "../engine/run.js";
import { isStopped, StoppedError } from "../engine/stopped.js";
import { countLogged, EventLog } from "../journal/eventLog.js";
import { JournalWriter } from "../journal/journalWriter.js";
import { callKey, exchangePrefix, VERSION_KEY } from "../journal/keys.js";
import { JournalSteps, type MessageGate, type ModelCallGate } from "../journal/steps.js";
import type { PreparedRun, RunAgent, RunDefinition } from "./definition.js";
import { askedMs, isOverdue, mayPass, type OutagePolicy, pauseAfter } from "./outages.js";
import { sleep } from "./sleep.js";

interface AttemptOptions {
  /** How long running steps may take to finish when the worker closes. */
  readonly closeGraceMs: number;
  readonly outages: OutagePolicy;
  readonly onFault: (error: unknown) => void;
}

/**
 * Works on a run from the end of its journal, until it finishes, waits for a decision or a time, or must be requeued.
 * Rejects only if the run was lost.
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
    return await chat(prepared, claim, stop, { steps, approvals, models, writer, messages });
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
  { agent, message, output, context, cost, waitsInWorker = false }: PreparedRun,
  claim: RunClaim,
  stop: AbortController,
  { steps, approvals, models, writer, messages }: Parts,
): Promise<ClaimEnding> {
  const { signal } = stop;
  let hasLeft = false;
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
        const isRetry = event.type === "retry" && !hasLeft && !waitsInWorker && steps.mayLeave;
        // The model may have answered meanwhile, and a call may have begun.
        if (!isRetry || !(await models.mustWait(event)) || !steps.mayLeave) continue;
        // The provider would wait in the worker.
        hasLeft = true;
        steps.close();
        stop.abort(new StoppedError("closing"));
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
    const isSuspended = hasLeft || (isAgentError(error, "suspended") && !isStopped(error));
    const ending =
      (isSuspended && !claim.signal.aborted && waiting(approvals.pending, models.pause)) ||
      failure(claim, error);
    return ending.state === "queued" ? ending : { ...ending, ...spent(usage, cost) };
  } finally {
    await agent.dispose().catch(() => undefined);
  }
}

/** The messages that were sent to a run, and how many of them were delivered to its agent. */
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
      // Without `steer`, a message waits until the agent has answered.
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

/** Logs the worker of the run, and a `version` event if the code changed. */
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

/** When the worker closes, steps that have begun may finish; a cancelled or lost run stops immediately. */
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

/** The name under which a run at its limit waits for a decision. */
const BUDGET = "continue_beyond_budget";

/** Answers approval requests from the decisions of a run; requests without a decision are collected and suspend the run. */
export class RunApprovals {
  readonly #run: Run;
  readonly #pending = new Map<string, Approval>();
  /** The tools of the run's agent, for rules. Set once the agent exists. */
  tools: RuleTools | undefined;
  /** The exchange that calls belong to: see `JournalSteps.startExchange`. */
  exchange = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  get pending(): readonly Approval[] {
    return [...this.#pending.values()];
  }

  readonly approve = (request: ApprovalRequest): ApprovalDecision | Promise<ApprovalDecision> => {
    const { name, description, preview } = request;
    const key = exchangePrefix(this.exchange) + callKey({ ...request, callId: request.id });
    const { decisions } = this.#run;
    const own = decisions.findLast((one) => one.key === key);
    // An approval is valid only for what was shown: a call that would do something else now is asked about again.
    const isSame = own && isWithinShown(description, own.shown) && own.basis === preview?.basis;
    if (own && (isSame || isDenial(own.decision))) return own.decision;
    // "Always" covers calls within the access rules. A call that needs more is asked about each time.
    const isAlways = decisions.some((one) => one.name === name && one.decision === "always");
    if (description.needs.length === 0 && isAlways) return "always";
    const rules = decisions.flatMap(({ decision }) =>
      typeof decision === "object" && "always" in decision ? [parseRule(decision.always)] : [],
    );
    if (description.needs.length > 0 || rules.length === 0 || !this.tools) return this.#wait(request, key);
    return coversCall(rules, request, { tools: this.tools, root: process.cwd() }).then((isCovered) =>
      isCovered ? "allow" : this.#wait(request, key),
    );
  };

  /** Suspends the run at a limit of its budget. Each approval adds the same amount again, `always` lifts the limit. */
  readonly onBudget: OnBudget = ({ scope, limits, initial, message }) => {
    const { decisions } = this.#run;
    const key = `budget/${scope}/${portionsOf(limits, initial)}`;
    if (decisions.some((one) => one.name === BUDGET && one.decision === "always"))
      return Object.fromEntries(Object.keys(limits).map((limit) => [limit, Infinity]));
    const own = decisions.findLast((one) => one.key === key);
    const more = withMore(limits, initial);
    if (own) return isDenial(own.decision) ? undefined : more;
    const description = { title: message, kind: "other", needs: [], targets: [] } as const;
    const args = { reason: message, continueTo: more };
    this.#pending.set(key, { key, name: BUDGET, args, capabilities: [], description });
    throw new AgentError("suspended", message);
  };

  #wait(request: ApprovalRequest, key: string): ApprovalDecision {
    const { name, args, capabilities, description, preview } = request;
    if (request.cannotWait)
      return { deny: "a question inside another call cannot wait for a later decision." };
    this.#pending.set(key, { key, name, args, capabilities, description, ...(preview && { preview }) });
    throw new AgentError("suspended", `${name} waits for a decision.`);
  }
}

/** By what factor these exceed the first limits. */
function portionsOf(limits: BudgetLimits, initial: BudgetLimits): number {
  const [now, first] =
    initial.maxCost === undefined ? [limits.maxTokens, initial.maxTokens] : [limits.maxCost, initial.maxCost];
  return Math.round((now ?? 0) / (first ?? 1));
}

function withMore({ maxCost, maxTokens }: BudgetLimits, initial: BudgetLimits): BudgetLimits {
  return {
    ...(maxCost !== undefined && { maxCost: maxCost + (initial.maxCost ?? maxCost) }),
    ...(maxTokens !== undefined && { maxTokens: maxTokens + (initial.maxTokens ?? maxTokens) }),
  };
}

function isDenial(decision: Decision): boolean {
  return typeof decision === "object" && "deny" in decision;
}

// A wait this short is cheaper than passing the run to another worker.
const SHORT_WAIT_MS = 250;
// The longest wait between two requests of a provider during which the run keeps its worker.
const LONGEST_HELD_MS = 2000;
const UNNAMED = "model";

/**
 * Decides for one claim when a model may be called, and what a failure means: the run waits without a worker, or fails.
 */
class ModelCalls implements ModelCallGate {
  readonly #claim: RunClaim;
  readonly #policy: OutagePolicy;
  readonly #stop: AbortSignal;
  #failures: Failures | undefined;
  #pause: Pause | undefined;
  #model = UNNAMED;

  constructor(claim: RunClaim, policy: OutagePolicy, stop: AbortSignal) {
    this.#claim = claim;
    this.#policy = policy;
    this.#stop = stop;
    this.#failures = claim.run.failures;
  }

  /** Why the run has to wait, and how long. */
  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** Called when a step was completed: earlier failures no longer count. */
  progressed(): void {
    this.#failures = undefined;
  }

  /**
   * Resolves when the model may be called. Rejects with `suspended` if the run has to wait longer than a moment and may
   * leave its worker: a call that cannot be repeated must not be interrupted.
   */
  async before(model = UNNAMED, mayLeave = true): Promise<void> {
    this.#model = model;
    let pause = await this.#claim.takeModelCall(model);
    while (pause && !(mayLeave && !(pause.hasModelCall && pause.ms <= SHORT_WAIT_MS))) {
      await sleep(pause.ms, this.#stop);
      if (this.#claim.signal.aborted) throw this.#claim.signal.reason;
      if (pause.hasModelCall || this.#stop.aborted) return;
      pause = await this.#claim.takeModelCall(model);
    }
    if (!pause) return;
    const failures = this.#failures;
    if (failures && isOverdue(failures, this.#policy, pause.ms)) {
      throw new AgentError("provider_failed", gaveUp(pause.reason.message, failures));
    }
    throw this.#suspend({ ...pause, ...(failures && { failures }) });
  }

  async succeeded(model = UNNAMED): Promise<void> {
    await this.#claim.reportModelCall(model);
  }

  /** Resolves to the error that the agent gets for a failed call. */
  async failed(error: unknown, model = UNNAMED, mayLeave = true): Promise<unknown> {
    if (!mayPass(error) || this.#claim.signal.aborted) return error;
    const { status, requestId, provider } = error;
    const retryAfterMs = askedMs(error);
    await this.#claim.reportModelCall(model, retryAfterMs === undefined ? {} : { retryAfterMs });
    if (!mayLeave) return error;
    const pause = pauseAfter(error, this.#failures, this.#policy);
    if (pause) return this.#suspend(pause);
    if (!this.#failures) return error;
    return new AgentError(error.code, gaveUp(error.message, this.#failures), {
      cause: error,
      ...(status !== undefined && { status }),
      ...(requestId !== undefined && { requestId }),
      ...(provider !== undefined && { provider }),
    });
  }

  /** Whether the run leaves its worker because its provider waits for long before the next request. */
  async mustWait({
    delayMs,
    reason,
  }: {
    readonly delayMs: number;
    readonly reason: string;
  }): Promise<boolean> {
    if (delayMs <= LONGEST_HELD_MS) return false;
    const error = new AgentError("provider_failed", reason, { retryable: true, retryAfterMs: delayMs });
    await this.failed(error, this.#model);
    return this.#pause !== undefined;
  }

  #suspend(pause: Pause): AgentError {
    this.#pause = pause;
    return new AgentError("suspended", `The run waits: ${pause.reason.message}`);
  }
}

function gaveUp(message: string, { count, since }: Failures): string {
  const times = count === 1 ? "once" : `${count} times`;
  return `${message} (it failed ${times} before, since ${new Date(since).toISOString()})`;
}
