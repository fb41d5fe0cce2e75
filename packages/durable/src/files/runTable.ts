import { AgentError } from "@agent/core";
import { isEnded, type RunSummary, type TenantLimits } from "../engine/run.js";
import { type Command, FORMAT } from "./command.js";
import { ModelCallBudget } from "./modelCallBudget.js";
import { RunQueue, type WorkerFilter } from "./runQueue.js";
import { type StoredRun, StoredRuns } from "./storedRuns.js";

type CommandOf<Op extends Command["op"]> = Extract<Command, { op: Op }>;

/** All runs of a directory, as the commands of its log made them. The same commands always give the same table. */
export class RunTable {
  readonly #runs: StoredRuns;
  readonly #limits = new Map<string, TenantLimits>();
  readonly #queue = new RunQueue();
  readonly #budget = new ModelCallBudget();
  /** The runs each worker has. */
  readonly #held = new Map<string, Set<string>>();

  /** `idlePath`: see `StoredRuns`. */
  constructor(idlePath: string) {
    this.#runs = new StoredRuns(idlePath);
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
    return id === undefined ? undefined : this.get(id);
  }

  /** Commands that give this table again. */
  *snapshot(): Iterable<Command> {
    yield { op: "format", version: FORMAT };
    for (const [tenant, limits] of this.#limits) yield { op: "limits", tenant, limits };
    for (const run of this.#runs.all()) yield { op: "run", run, resumed: this.#queue.isResumed(run.id) };
  }

  /** Returns whether the command took effect. Throws for one that this version does not know. */
  apply(command: Command): boolean {
    switch (command.op) {
      case "format":
        if (command.version > FORMAT) throw newerFormat(`format ${command.version}`);
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
      case "forget":
        for (const id of command.ids) this.#forget(id);
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

  #restore({ run, resumed }: CommandOf<"run">): boolean {
    this.#runs.add(run);
    if (run.state === "queued") this.#queue.add(run, resumed);
    if (run.state === "running") this.#hold(run);
    return true;
  }

  #create({ at, run: given }: CommandOf<"create">): boolean {
    if (this.#runs.find(given.id)) return false;
    const run: RunSummary = {
      ...given,
      state: "queued",
      epoch: 0,
      crashes: 0,
      createdAt: at,
      approvals: [],
      decisions: [],
    };
    this.#runs.add(run);
    this.#queue.add(run, false);
    return true;
  }

  #claim({ id, epoch, worker, at }: CommandOf<"claim">): boolean {
    const stored = this.#runs.find(id);
    if (!stored) return false;
    const { run } = stored;
    if (run.state !== "queued" || epoch !== run.epoch + 1 || !this.#hasRoom(run.tenant)) return false;
    this.#queue.remove(run);
    run.state = "running";
    run.epoch = epoch;
    run.worker = worker;
    run.startedAt ??= at;
    this.#hold(run);
    this.#runs.store(stored);
    return true;
  }

  #crash({ id, epoch, maxCrashes, at, reason }: CommandOf<"crash">): boolean {
    const stored = this.#findHeld(id, epoch);
    if (!stored) return false;
    const { run } = stored;
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
    this.#runs.store(stored);
    return true;
  }

  #end({ id, epoch, state, at, approvals, error, usage, cost }: CommandOf<"end">): boolean {
    const stored = this.#findHeld(id, epoch);
    if (!stored) return false;
    const { run } = stored;
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
    run.decisions = [...run.decisions, { key, name: approval.name, decision }];
    if (run.approvals.length === 0) this.#enqueue(run);
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
    if (!stored || !isEnded(stored.run.state) || stored.run.state === "done") return false;
    const { run } = stored;
    run.crashes = 0;
    delete run.error;
    delete run.endedAt;
    delete run.cancelReason;
    this.#enqueue(run);
    this.#runs.store(stored);
    return true;
  }

  #forget(id: string): void {
    const stored = this.#runs.find(id);
    if (stored && isEnded(stored.run.state)) this.#runs.remove(stored);
  }

  #finishCancelled(run: StoredRun["run"], reason: string, at: number): void {
    this.#queue.remove(run);
    run.state = "cancelled";
    run.approvals = [];
    run.endedAt = at;
    run.error = { code: "cancelled", message: reason };
  }

  #enqueue(run: StoredRun["run"]): void {
    run.state = "queued";
    this.#queue.add(run, true);
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
