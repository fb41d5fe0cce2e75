import { AgentError } from "@agent/core";
import { isEnded, type RunSummary, type TenantLimits } from "../engine/run.js";
import { type Command, FORMAT } from "./command.js";
import { ModelCallBudget } from "./modelCallBudget.js";
import { RunQueue, type WorkerFilter } from "./runQueue.js";

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Entry = Mutable<RunSummary>;
type CommandOf<Op extends Command["op"]> = Extract<Command, { op: Op }>;

/** All runs of a directory, as the commands of its log made them. The same commands always give the same table. */
export class RunTable {
  readonly #runs = new Map<string, Entry>();
  readonly #limits = new Map<string, TenantLimits>();
  readonly #queue = new RunQueue();
  readonly #budget = new ModelCallBudget();
  /** The runs each worker has. */
  readonly #held = new Map<string, Set<string>>();

  get(id: string): RunSummary | undefined {
    return this.#runs.get(id);
  }

  /** The oldest first. */
  all(): IterableIterator<RunSummary> {
    return this.#runs.values();
  }

  get size(): number {
    return this.#runs.size;
  }

  limits(tenant: string): TenantLimits {
    return this.#limits.get(tenant) ?? {};
  }

  /** How long to wait for the tenant's next model call. */
  modelWaitMs(tenant: string, at: number): number {
    return this.#budget.waitMs(tenant, this.limits(tenant).modelCallsPerMinute, at);
  }

  /** Workers that have runs, with their runs. */
  workers(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#held;
  }

  next(filter: WorkerFilter): RunSummary | undefined {
    const id = this.#queue.next(filter, (tenant) => this.#hasRoom(tenant));
    return id === undefined ? undefined : this.#runs.get(id);
  }

  /** Commands that give this table again. */
  *snapshot(): Iterable<Command> {
    yield { op: "format", version: FORMAT };
    for (const [tenant, limits] of this.#limits) yield { op: "limits", tenant, limits };
    for (const run of this.#runs.values()) yield { op: "run", run, resumed: this.#queue.isResumed(run.id) };
  }

  /** Returns whether the command took effect. Throws for one that this version does not know. */
  apply(command: Command): boolean {
    switch (command.op) {
      case "format":
        if (command.version > FORMAT) throw newerFormat(`format ${command.version}`);
        return true;
      case "run":
        return this.#load(command);
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
      case "forget":
        for (const id of command.ids)
          if (isEnded(this.#runs.get(id)?.state ?? "queued")) this.#runs.delete(id);
        return true;
      case "limits":
        this.#limits.set(command.tenant, command.limits);
        return true;
      case "model":
        return this.#budget.take(command.tenant, this.limits(command.tenant).modelCallsPerMinute, command.at);
      case "seal":
        return true;
      default:
        throw newerFormat(`the command "${String((command as { op: unknown }).op)}"`);
    }
  }

  #load({ run, resumed }: CommandOf<"run">): boolean {
    const entry = { ...run };
    this.#runs.set(run.id, entry);
    if (run.state === "queued") this.#queue.add(entry, resumed);
    if (run.state === "running") this.#hold(entry);
    return true;
  }

  #create({ at, run }: CommandOf<"create">): boolean {
    if (this.#runs.has(run.id)) return false;
    const entry: Entry = {
      ...run,
      state: "queued",
      epoch: 0,
      crashes: 0,
      createdAt: at,
      approvals: [],
      decisions: [],
    };
    this.#runs.set(run.id, entry);
    this.#queue.add(entry, false);
    return true;
  }

  #claim({ id, epoch, worker, at }: CommandOf<"claim">): boolean {
    const run = this.#runs.get(id);
    if (run?.state !== "queued" || epoch !== run.epoch + 1 || !this.#hasRoom(run.tenant)) return false;
    this.#queue.remove(run);
    run.state = "running";
    run.epoch = epoch;
    run.worker = worker;
    run.startedAt ??= at;
    this.#hold(run);
    return true;
  }

  #crash({ id, epoch, maxCrashes, at, reason }: CommandOf<"crash">): boolean {
    const run = this.#heldRun(id, epoch);
    if (!run) return false;
    this.#letGo(run);
    run.crashes++;
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
    return true;
  }

  #end({ id, epoch, state, at, approvals, error, usage, cost }: CommandOf<"end">): boolean {
    const run = this.#heldRun(id, epoch);
    if (!run) return false;
    this.#letGo(run);
    if (usage) run.usage = usage;
    if (cost !== undefined) run.cost = cost;
    if (run.cancelReason !== undefined && (state === "queued" || state === "waiting")) {
      this.#finishCancelled(run, run.cancelReason, at);
    } else if (state === "queued") {
      this.#enqueue(run);
    } else {
      run.state = state;
      run.approvals = approvals ?? [];
      if (error) run.error = error;
      if (isEnded(state)) run.endedAt = at;
    }
    return true;
  }

  #decide({ id, key, decision }: CommandOf<"decide">): boolean {
    const run = this.#runs.get(id);
    const approval = run?.approvals.find((one) => one.key === key);
    if (run?.state !== "waiting" || !approval) return false;
    run.approvals = run.approvals.filter((one) => one !== approval);
    run.decisions = [...run.decisions, { key, name: approval.name, decision }];
    if (run.approvals.length === 0) this.#enqueue(run);
    return true;
  }

  #cancel({ id, reason, at }: CommandOf<"cancel">): boolean {
    const run = this.#runs.get(id);
    if (!run || isEnded(run.state)) return false;
    if (run.state === "running") run.cancelReason ??= reason;
    else this.#finishCancelled(run, reason, at);
    return true;
  }

  #retry({ id }: CommandOf<"retry">): boolean {
    const run = this.#runs.get(id);
    if (!run || !isEnded(run.state) || run.state === "done") return false;
    run.crashes = 0;
    delete run.error;
    delete run.endedAt;
    delete run.cancelReason;
    this.#enqueue(run);
    return true;
  }

  #finishCancelled(run: Entry, reason: string, at: number): void {
    this.#queue.remove(run);
    run.state = "cancelled";
    run.approvals = [];
    run.endedAt = at;
    run.error = { code: "cancelled", message: reason };
  }

  #enqueue(run: Entry): void {
    run.state = "queued";
    this.#queue.add(run, true);
  }

  #heldRun(id: string, epoch: number): Entry | undefined {
    const run = this.#runs.get(id);
    return run?.state === "running" && run.epoch === epoch ? run : undefined;
  }

  #hold(run: Entry): void {
    const worker = run.worker ?? "";
    const held = this.#held.get(worker) ?? new Set();
    this.#held.set(worker, held.add(run.id));
    this.#queue.countStarted(run.tenant);
  }

  #letGo(run: Entry): void {
    const worker = run.worker ?? "";
    const held = this.#held.get(worker);
    held?.delete(run.id);
    if (held?.size === 0) this.#held.delete(worker);
    this.#queue.countStopped(run.tenant);
  }

  #hasRoom(tenant: string): boolean {
    return this.#queue.running(tenant) < (this.limits(tenant).concurrency ?? Infinity);
  }
}

function newerFormat(what: string): AgentError {
  return new AgentError(
    "session_invalid",
    `These runs were written by a newer version of @agent/durable (${what}; this one knows format ${FORMAT}). Upgrade it here, too.`,
  );
}
