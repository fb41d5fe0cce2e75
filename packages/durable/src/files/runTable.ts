import { AgentError } from "@agent/core";
import { modelScope, tenantScope } from "../engine/modelLimits.js";
import {
  decided,
  EXPIRED,
  isEnded,
  type Pause,
  type RunSummary,
  SCHEDULED,
  type TenantLimits,
} from "../engine/run.js";
import type { Schedule } from "../engine/schedule.js";
import { type Command, FORMAT } from "./command.js";
import { ModelLimits } from "./modelLimits.js";
import { RunQueue, type WorkerFilter } from "./runQueue.js";
import { type StoredRun, StoredRuns } from "./storedRuns.js";

type CommandOf<Op extends Command["op"]> = Extract<Command, { op: Op }>;

/** All runs of a directory, as a function of the commands in its log. The same commands always give the same table. */
export class RunTable {
  readonly #runs: StoredRuns;
  readonly #limits = new Map<string, TenantLimits>();
  readonly #queue = new RunQueue();
  readonly #models = new ModelLimits();
  readonly #wakeTimes = new WakeTimes();
  /** Tenants whose runs are not claimed; `*` for all. */
  readonly #paused = new Set<string>();
  readonly #schedules = new Map<string, Schedule>();
  /** The runs of each worker. */
  readonly #held = new Map<string, Set<string>>();

  /** `directory` and `tag`: see `StoredRuns`. */
  constructor(directory: string, tag: string) {
    this.#runs = new StoredRuns(directory, tag);
  }

  get runs(): Pick<StoredRuns, "count" | "facts" | "select"> {
    return this.#runs;
  }

  get(id: string): RunSummary | undefined {
    return this.#runs.find(id)?.run;
  }

  close(): void {
    this.#runs.close();
  }

  limits(tenant: string): TenantLimits {
    return this.#limits.get(tenant) ?? {};
  }

  get allLimits(): ReadonlyMap<string, TenantLimits> {
    return this.#limits;
  }

  get paused(): ReadonlySet<string> {
    return this.#paused;
  }

  get schedules(): ReadonlyMap<string, Schedule> {
    return this.#schedules;
  }

  get models(): Pick<ModelLimits, "rates" | "concerns" | "isSuspect"> {
    return this.#models;
  }

  /** When the next waiting run continues. */
  get nextWake(): number | undefined {
    return this.#wakeTimes.next;
  }

  /** Workers that have runs, with their runs. */
  workers(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#held;
  }

  next(filter: WorkerFilter): RunSummary | undefined {
    const id = this.#queue.next(filter, (tenant) => this.#mayStart(tenant));
    return id === undefined ? undefined : this.get(id);
  }

  /** Commands that recreate this table, with an archive that this writes. */
  *snapshot(tag: string): Iterable<Command> {
    yield { op: "format", version: FORMAT };
    for (const [tenant, limits] of this.#limits) yield { op: "limits", at: 0, tenant, limits };
    for (const rate of this.#models.snapshot()) yield { op: "calls", ...rate };
    for (const tenant of this.#paused) yield { op: "pause", tenant, paused: true };
    for (const schedule of this.#schedules.values()) yield { op: "schedule", schedule };
    const { base, rest } = this.#runs.save(tag);
    yield { op: "base", ...base };
    for (const { row, run } of rest) yield { op: "run", row, run, resumed: this.#queue.isResumed(run.id) };
  }

  /**
   * Returns whether the command took effect; for a model call, the pause before it, if any. Throws for an unknown
   * command of a newer version.
   */
  apply(command: Command): boolean | Pause {
    switch (command.op) {
      case "format":
        if (command.version > FORMAT) throw newerFormat(`format ${command.version}`);
        return true;
      case "base":
        this.#runs.load(command);
        return true;
      case "run":
        return this.#restore(command);
      case "create":
        return this.#create(command);
      case "claim":
        return this.#claim(command);
      case "crash":
        return this.#crash(command);
      case "end":
        return this.#end(command);
      case "decide":
        return this.#decide(command);
      case "cancel":
        return this.#cancel(command);
      case "retry":
        return this.#retry(command);
      case "send":
        return this.#send(command);
      case "pause":
        if (command.paused) this.#paused.add(command.tenant);
        else this.#paused.delete(command.tenant);
        return true;
      case "schedule":
        this.#schedules.set(command.schedule.id, command.schedule);
        return true;
      case "unschedule":
        return this.#schedules.delete(command.id);
      case "advance":
        return this.#advance(command);
      case "forget":
        for (const id of command.ids) this.#forget(id);
        return true;
      case "wake":
        return this.#wake(command);
      case "limits":
        this.#setLimits(command);
        return true;
      case "rate":
        this.#setRate(modelScope(command.target), command.perMinute, command.at);
        return true;
      case "calls":
        this.#models.restore(command.scope, command.perMinute, command.times);
        return true;
      case "model":
        return this.#models.take(command.tenant, command.model, command.at) ?? true;
      case "outcome":
        this.#models.report(command.model, command.failure, command.at);
        return true;
      case "seal":
        return true;
      default:
        throw newerFormat(`the command "${String((command as { op: unknown }).op)}"`);
    }
  }

  #restore({ row, run, resumed }: CommandOf<"run">): boolean {
    this.#runs.store({ row, run });
    if (run.state === "queued") this.#queue.add(run, resumed);
    if (run.state === "running") this.#hold(run);
    const wakeAt = run.wait?.until ?? run.expiresAt;
    if (wakeAt !== undefined) this.#wakeTimes.set(run.id, wakeAt);
    return true;
  }

  #create({ at, run: { startAt = at, ...given }, fork }: CommandOf<"create">): boolean {
    if (this.#runs.find(given.id)) return false;
    const isLater = startAt > at;
    const run: RunSummary = {
      ...given,
      state: isLater ? "waiting" : "queued",
      ...(isLater && { wait: { until: startAt, reason: SCHEDULED } }),
      epoch: 0,
      crashes: 0,
      createdAt: at,
      approvals: [],
      decisions: fork?.decisions ?? [],
      messages: fork?.messages ?? [],
      ...(fork && { forkedFrom: fork.from }),
    };
    this.#runs.add(run);
    if (isLater) this.#wakeTimes.set(run.id, startAt);
    else this.#queue.add(run, false);
    return true;
  }

  #claim({ id, epoch, worker, at }: CommandOf<"claim">): boolean {
    const stored = this.#runs.find(id);
    if (!stored) return false;
    const { run } = stored;
    if (run.state !== "queued" || epoch !== run.epoch + 1 || !this.#mayStart(run.tenant)) return false;
    this.#queue.remove(run);
    run.state = "running";
    run.epoch = epoch;
    run.worker = worker;
    run.startedAt ??= at;
    this.#hold(run);
    this.#runs.store(stored);
    return true;
  }

  #crash({ id, epoch, maxCrashes, at, reason, progressed }: CommandOf<"crash">): boolean {
    const stored = this.#findHeld(id, epoch);
    if (!stored) return false;
    const { run } = stored;
    this.#letGo(run);
    run.crashes = progressed ? 1 : run.crashes + 1;
    if (run.cancelReason !== undefined) this.#finishCancelled(run, run.cancelReason, at);
    else if (run.crashes < maxCrashes) this.#enqueue(run);
    else {
      run.state = "set_aside";
      run.endedAt = at;
      run.error = {
        code: "set_aside",
        message: `${run.crashes} workers were lost with it. The last: ${reason}`,
      };
    }
    this.#runs.store(stored);
    return true;
  }

  #end(command: CommandOf<"end">): boolean {
    const { id, epoch, at, approvals, expiresMs, pause, error, usage, cost } = command;
    const stored = this.#findHeld(id, epoch);
    if (!stored) return false;
    const { run } = stored;
    const { messages = run.messages.length } = command;
    // Someone sent a message that the worker had not seen.
    const state = command.state === "done" && run.messages.length > messages ? "queued" : command.state;
    this.#letGo(run);
    if (usage) run.usage = usage;
    if (cost !== undefined) run.cost = cost;
    delete run.failures;
    delete run.hasModelCall;
    if (run.cancelReason !== undefined && (state === "queued" || state === "waiting")) {
      this.#finishCancelled(run, run.cancelReason, at);
    } else if (state === "queued") {
      this.#enqueue(run);
    } else {
      run.state = state;
      run.approvals = approvals ?? [];
      if (pause) this.#pause(run, pause, at);
      if (expiresMs !== undefined) {
        run.expiresAt = at + expiresMs;
        this.#wakeTimes.set(id, run.expiresAt);
      }
      if (error) run.error = error;
      if (isEnded(state)) run.endedAt = at;
    }
    this.#runs.store(stored);
    return true;
  }

  #decide({ id, key, decision }: CommandOf<"decide">): boolean {
    const stored = this.#runs.find(id);
    if (!stored) return false;
    const { run } = stored;
    const approval = run.approvals.find((one) => one.key === key);
    if (run.state !== "waiting" || !approval) return false;
    run.approvals = run.approvals.filter((one) => one !== approval);
    run.decisions = [...run.decisions, decided(approval, decision)];
    if (run.approvals.length === 0) {
      this.#stopWaiting(run);
      this.#enqueue(run);
    }
    this.#runs.store(stored);
    return true;
  }

  #cancel({ id, reason, at }: CommandOf<"cancel">): boolean {
    const stored = this.#runs.find(id);
    if (!stored || isEnded(stored.run.state)) return false;
    const { run } = stored;
    if (run.state === "running") run.cancelReason ??= reason;
    else this.#finishCancelled(run, reason, at);
    this.#runs.store(stored);
    return true;
  }

  #retry({ id }: CommandOf<"retry">): boolean {
    const stored = this.#runs.find(id);
    if (!stored || stored.run.state === "done") return false;
    const { run } = stored;
    if (!isEnded(run.state) && !run.wait) return false;
    this.#stopWaiting(run);
    run.crashes = 0;
    delete run.failures;
    delete run.error;
    delete run.endedAt;
    delete run.cancelReason;
    this.#enqueue(run);
    this.#runs.store(stored);
    return true;
  }

  #send({ id, message }: CommandOf<"send">): boolean {
    const stored = this.#runs.find(id);
    if (!stored || (isEnded(stored.run.state) && stored.run.state !== "done")) return false;
    const { run } = stored;
    run.messages = [...run.messages, message];
    if (run.state === "done") {
      delete run.endedAt;
      this.#enqueue(run);
    }
    this.#runs.store(stored);
    return true;
  }

  #advance({ id, from, next }: CommandOf<"advance">): boolean {
    const schedule = this.#schedules.get(id);
    if (schedule?.nextAt !== from) return false;
    this.#schedules.set(id, { ...schedule, ...next });
    return true;
  }

  #forget(id: string): void {
    const stored = this.#runs.find(id);
    if (stored && isEnded(stored.run.state)) this.#runs.remove(stored);
  }

  #pause(run: StoredRun["run"], { ms, reason, failures, hasModelCall }: Pause, at: number): void {
    run.wait = { until: at + ms, reason };
    if (failures) run.failures = failures;
    if (hasModelCall) run.hasModelCall = true;
    this.#wakeTimes.set(run.id, run.wait.until);
  }

  #stopWaiting(run: StoredRun["run"]): void {
    this.#wakeTimes.delete(run.id);
    delete run.wait;
    delete run.expiresAt;
  }

  #wake({ at }: CommandOf<"wake">): boolean {
    const due = this.#wakeTimes.takeDue(at);
    for (const id of due) this.#continue(id);
    return due.length > 0;
  }

  /** Queues a run that waits for a time, if it waits for this reason. */
  #continue(id: string, code?: string): void {
    const stored = this.#runs.find(id);
    if (stored?.run.state !== "waiting") return;
    if (code !== undefined) {
      if (stored.run.wait?.reason.code !== code) return;
      delete stored.run.hasModelCall;
    }
    const { run } = stored;
    this.#stopWaiting(run);
    const expired = run.approvals.map((one) => decided(one, { deny: EXPIRED }));
    run.decisions = [...run.decisions, ...expired];
    run.approvals = [];
    this.#enqueue(run);
    this.#runs.store(stored);
  }

  #setLimits({ tenant, limits, at }: CommandOf<"limits">): void {
    const before = this.limits(tenant).modelCallsPerMinute;
    this.#limits.set(tenant, limits);
    if (limits.modelCallsPerMinute === before) return;
    this.#setRate(tenantScope(tenant), limits.modelCallsPerMinute, at);
  }

  /** Changes a limit on model calls. Runs that wait for such a limit ask again. */
  #setRate(scope: string, perMinute: number | undefined, at: number): void {
    this.#models.setRate(scope, perMinute, at);
    for (const id of [...this.#wakeTimes.ids()]) this.#continue(id, "rate_limited");
  }

  #finishCancelled(run: StoredRun["run"], reason: string, at: number): void {
    this.#queue.remove(run);
    this.#stopWaiting(run);
    run.state = "cancelled";
    run.approvals = [];
    run.endedAt = at;
    run.error = { code: "cancelled", message: reason };
  }

  #enqueue(run: StoredRun["run"]): void {
    run.state = "queued";
    this.#queue.add(run, run.epoch > 0);
  }

  #findHeld(id: string, epoch: number): StoredRun | undefined {
    const stored = this.#runs.find(id);
    return stored?.run.state === "running" && stored.run.epoch === epoch ? stored : undefined;
  }

  #hold({ id, worker = "", tenant }: RunSummary): void {
    const held = this.#held.get(worker) ?? new Set();
    this.#held.set(worker, held.add(id));
    this.#queue.countStarted(tenant);
  }

  #letGo({ id, worker = "", tenant }: RunSummary): void {
    const held = this.#held.get(worker);
    held?.delete(id);
    if (held?.size === 0) this.#held.delete(worker);
    this.#queue.countStopped(tenant);
  }

  #mayStart(tenant: string): boolean {
    if (this.#paused.has("*") || this.#paused.has(tenant)) return false;
    return this.#queue.running(tenant) < (this.limits(tenant).concurrency ?? Infinity);
  }
}

function newerFormat(what: string): AgentError {
  return new AgentError(
    "session_invalid",
    `These runs were written by a newer version of @agent/durable (${what}; this one knows format ${FORMAT}). Upgrade it here, too.`,
  );
}

/** The wake-up times of runs: a binary heap whose outdated entries are skipped. */
class WakeTimes {
  readonly #heap: { readonly id: string; readonly at: number }[] = [];
  readonly #times = new Map<string, number>();

  set(id: string, at: number): void {
    this.#times.set(id, at);
    const heap = this.#heap;
    let index = heap.push({ id, at }) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#at(parent) <= this.#at(index)) break;
      this.#swap(index, parent);
      index = parent;
    }
  }

  delete(id: string): void {
    this.#times.delete(id);
  }

  /** The earliest time, or `undefined` if no run waits for one. */
  get next(): number | undefined {
    for (let first = this.#heap[0]; first; first = this.#heap[0]) {
      if (this.#times.get(first.id) === first.at) return first.at;
      this.#removeFirst();
    }
    return undefined;
  }

  /** Removes the runs whose time has come, and returns them in order. */
  takeDue(now: number): string[] {
    const due: string[] = [];
    for (let at = this.next; at !== undefined && at <= now; at = this.next) {
      const { id } = this.#heap[0] as { id: string };
      due.push(id);
      this.#times.delete(id);
    }
    return due;
  }

  ids(): Iterable<string> {
    return this.#times.keys();
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    heap[0] = last;
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      let least = index;
      if (left < heap.length && this.#at(left) < this.#at(least)) least = left;
      if (right < heap.length && this.#at(right) < this.#at(least)) least = right;
      if (least === index) return;
      this.#swap(index, least);
      index = least;
    }
  }

  #at(index: number): number {
    return this.#heap[index]?.at ?? Infinity;
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap;
    const [first, second] = [heap[one], heap[other]];
    if (!first || !second) return;
    heap[one] = second;
    heap[other] = first;
  }
}
