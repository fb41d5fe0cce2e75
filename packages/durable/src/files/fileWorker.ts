import { errorMessage } from "@agent/core/toolkit";
import type {
  ClaimEnding,
  ClaimHandler,
  EngineWorker,
  EngineWorkOptions,
  JournalEntry,
  RunClaim,
  StopCode,
} from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import type { Pause, Run, RunSummary } from "../engine/run.js";
import { isStopped, StoppedError } from "../engine/stopped.js";
import { toJson } from "../journal/toJson.js";
import { sleep } from "../worker/sleep.js";
import type { Command } from "./command.js";
import type { CommandLog } from "./commandLog.js";
import type { Heartbeats } from "./heartbeats.js";
import type { JournalFile, JournalLine, RunFiles } from "./runFiles.js";
import type { WorkerFilter } from "./runQueue.js";

const RETRY_MS = 200;
// The time before a run is claimed again that could not be begun because the disk was full.
const DISK_PAUSE_MS = 2000;
// What the system refuses to any run, for lack of room or files.
const DISK_FAULTS: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE"]);
// The system clock may be set: check again even if the next run continues only in hours.
const LONGEST_WAIT_MS = 10_000;

interface Parts {
  readonly log: CommandLog;
  readonly files: RunFiles;
  readonly heartbeats: Heartbeats;
  readonly flush: boolean;
  /** Calls the listener when the log may have grown, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void;
}

/** Claims runs of a directory while there are any, and requeues those of lost workers. */
export class FileWorker implements EngineWorker {
  readonly #parts: Parts;
  readonly #handle: ClaimHandler;
  readonly #options: EngineWorkOptions;
  readonly #filter: WorkerFilter;
  readonly #name: string;
  readonly #id: string;
  readonly #stopHeartbeat: () => void;
  readonly #stopListening: () => void;
  readonly #claims = new Set<FileClaim>();
  readonly #handlers = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #wakeTimer: NodeJS.Timeout | undefined;

  constructor(parts: Parts, handle: ClaimHandler, options: EngineWorkOptions) {
    this.#parts = parts;
    this.#handle = handle;
    this.#options = options;
    this.#filter = { definitions: new Set(options.definitions), labels: new Set(options.labels) };
    const { id, stop } = parts.heartbeats.start(options);
    this.#id = id;
    this.#name = `${options.name} ${id}`;
    this.#stopHeartbeat = stop;
    this.#stopListening = parts.onChange(() => this.#onChange());
    this.#onChange();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#wakeTimer);
    for (const claim of this.#claims) claim.stop("closing");
    await Promise.all(this.#handlers);
    this.#stopListening();
    this.#stopHeartbeat();
  }

  #onChange(): void {
    try {
      this.#parts.log.read();
      for (const claim of this.#claims) this.#tell(claim);
      this.#giveBackLost();
      this.#wakeDue();
      this.#fill();
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  /** Queues the runs whose time has come, and checks again when the next one is due. */
  #wakeDue(): void {
    const { log } = this.#parts;
    const now = Date.now();
    if ((log.table.nextWake ?? Infinity) <= now) log.submit({ op: "wake", at: now });
    const next = log.table.nextWake;
    clearTimeout(this.#wakeTimer);
    if (next === undefined || this.#closing.signal.aborted) return;
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(0, next - now));
    this.#wakeTimer = setTimeout(() => this.#onChange(), waitMs);
  }

  #tell(claim: FileClaim): void {
    if (claim.signal.aborted) return;
    if (!claim.holds) {
      claim.stop("lost");
      return;
    }
    const reason = this.#parts.log.table.get(claim.run.id)?.cancelReason;
    if (reason !== undefined) claim.stop("cancelled", reason);
  }

  #giveBackLost(): void {
    const { log, heartbeats } = this.#parts;
    const { leaseMs, maxCrashes } = this.#options;
    for (const [worker, ids] of [...log.table.workers()]) {
      const id = worker.slice(worker.lastIndexOf(" ") + 1);
      const loss = id === this.#id ? undefined : heartbeats.findLoss(id, leaseMs);
      if (loss === undefined) continue;
      const reason = `${worker}: ${loss}`;
      for (const run of ids) {
        const { epoch = 0 } = log.table.get(run) ?? {};
        const progressed = this.#parts.files.hasProgress(run, epoch);
        log.submit({ op: "crash", at: Date.now(), id: run, epoch, maxCrashes, reason, progressed });
      }
    }
  }

  #fill(): void {
    while (!this.#closing.signal.aborted && this.#handlers.size < this.#options.concurrency) {
      const next = this.#parts.log.table.next(this.#filter);
      if (!next) return;
      if (!this.#claim(next)) continue;
      const claimed = this.#parts.log.table.get(next.id);
      if (!claimed) continue;
      const handled: Promise<void> = this.#work({ ...claimed }).finally(() => {
        this.#handlers.delete(handled);
        this.#onChange();
      });
      this.#handlers.add(handled);
    }
  }

  /** Returns whether this worker got the run. If another was faster, the table has changed. */
  #claim({ id, epoch }: RunSummary): boolean {
    const { log } = this.#parts;
    return log.submit({ op: "claim", at: Date.now(), id, epoch: epoch + 1, worker: this.#name });
  }

  async #work(summary: RunSummary): Promise<void> {
    const { log, files, flush } = this.#parts;
    const { id, epoch } = summary;
    let claim: FileClaim;
    try {
      claim = new FileClaim({ ...summary, input: files.readInput(id) }, log, files, flush);
    } catch (error) {
      this.#options.onFault(error);
      const isDiskFault = error instanceof Error && "code" in error && DISK_FAULTS.has(error.code);
      return await this.#end(() => {
        if (isDiskFault)
          log.submit(endCommand(id, epoch, { state: "waiting", pause: pauseOf(summary, error) }));
        else this.#crashed(summary, error);
      });
    }
    this.#claims.add(claim);
    try {
      const ending = await this.#handle(claim);
      await this.#end(() => {
        if (!claim.holds) return;
        if (ending.state === "done") files.writeResult(id, epoch, ending.result);
        if (log.submit(endCommand(id, epoch, ending))) this.#options.onEnded?.(claim.run, ending);
      });
    } catch (error) {
      this.#options.onFault(error);
      const isGivenBack = isStopped(error);
      await this.#end(() => {
        if (!claim.holds) return;
        if (isGivenBack) log.submit(endCommand(id, epoch, { state: "queued" }));
        else this.#crashed(summary, error);
      });
    } finally {
      this.#claims.delete(claim);
      claim.close();
    }
  }

  #crashed({ id, epoch }: RunSummary, error: unknown): void {
    const reason = `${this.#name}: ${errorMessage(error)}`;
    const { maxCrashes } = this.#options;
    const progressed = this.#parts.files.hasProgress(id, epoch);
    this.#parts.log.submit({ op: "crash", at: Date.now(), id, epoch, maxCrashes, reason, progressed });
  }

  /**
   * Retries while the disk is full: no other process can end the claim of a live worker. A worker that closes tries
   * once more and leaves the run to the next worker, which continues from the journal.
   */
  async #end(write: () => void): Promise<void> {
    for (;;) {
      const { aborted: isLastAttempt } = this.#closing.signal;
      try {
        this.#parts.log.read();
        write();
        return;
      } catch (error) {
        this.#options.onFault(error);
        if (isLastAttempt) return;
        await sleep(RETRY_MS, this.#closing.signal);
      }
    }
  }
}

/** A full disk is no fault of the run: it is claimed again after a moment. */
function pauseOf({ failures, hasModelCall }: RunSummary, error: unknown): Pause {
  return {
    ms: DISK_PAUSE_MS,
    reason: { code: "disk", message: `Its files cannot be used: ${errorMessage(error)}` },
    ...(failures && { failures }),
    ...(hasModelCall && { hasModelCall }),
  };
}

function endCommand(id: string, epoch: number, ending: ClaimEnding): Command {
  const { state } = ending;
  return {
    op: "end",
    at: Date.now(),
    id,
    epoch,
    state,
    ...("approvals" in ending && { approvals: ending.approvals }),
    ...("expiresMs" in ending && ending.expiresMs !== undefined && { expiresMs: ending.expiresMs }),
    ...("pause" in ending && { pause: ending.pause }),
    ...("error" in ending && { error: ending.error }),
    ...("messages" in ending && ending.messages !== undefined && { messages: ending.messages }),
    ...("usage" in ending && ending.usage && { usage: ending.usage }),
    ...("cost" in ending && ending.cost !== undefined && { cost: ending.cost }),
  };
}

/** A run that a worker of this process has claimed. */
class FileClaim implements RunClaim {
  readonly run: Run;
  readonly epoch: number;
  readonly worker: string;
  readonly #log: CommandLog;
  readonly #files: RunFiles;
  readonly #journal: JournalFile;
  readonly #flush: boolean;
  readonly #controller = new AbortController();
  #hasModelCall: boolean;

  constructor(run: Run, log: CommandLog, files: RunFiles, flush: boolean) {
    this.run = run;
    this.epoch = run.epoch;
    this.worker = run.worker ?? "";
    this.#log = log;
    this.#files = files;
    this.#flush = flush;
    this.#hasModelCall = run.hasModelCall ?? false;
    this.#journal = files.openJournal(run.id, run.epoch);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(code: StopCode, message?: string): void {
    this.#controller.abort(new StoppedError(code, message === undefined ? {} : { message }));
  }

  /** Whether the run still belongs to this claim, according to the log. */
  get holds(): boolean {
    const now = this.#log.table.get(this.run.id);
    return now?.state === "running" && now.epoch === this.epoch;
  }

  get messages(): readonly string[] {
    return this.#log.table.get(this.run.id)?.messages ?? this.run.messages;
  }

  async journal(): Promise<readonly JournalEntry[]> {
    return this.#files.readJournal(this.run.id, this.epoch);
  }

  async append(entries: readonly JournalEntry[], events: readonly RunEvent[]): Promise<void> {
    this.#checkHeld();
    const line = toJson({
      at: Date.now(),
      ...(entries.length > 0 && { j: entries }),
      ...(events.length > 0 && { e: events }),
    } satisfies JournalLine);
    try {
      this.#journal.append(line, this.#flush && entries.length > 0);
    } catch (error) {
      throw this.#lose(`The journal of run ${this.run.id} cannot be written: ${errorMessage(error)}`, error);
    }
    // A worker that claims the run writes that to the log and reads this file afterwards. If it is not in the log yet,
    // the next worker will read this line.
    this.#checkHeld();
  }

  async takeModelCall(model: string): Promise<Pause | undefined> {
    const { tenant } = this.run;
    if (this.#hasModelCall) {
      this.#hasModelCall = false;
      return undefined;
    }
    return this.#logged(() => {
      if (!this.#log.table.models.concerns(tenant, model)) return undefined;
      return this.#log.takeModelCall(tenant, model);
    });
  }

  async reportModelCall(model: string, failure?: { readonly retryAfterMs?: number }): Promise<void> {
    this.#logged(() => {
      if (!failure && !this.#log.table.models.isSuspect(model)) return;
      this.#log.submit({ op: "outcome", at: Date.now(), model, ...(failure && { failure }) });
    });
  }

  close(): void {
    this.#journal.close();
  }

  /** Does something with the current log. A fault of the log is not a fault of the run. */
  #logged<T>(work: () => T): T {
    try {
      this.#log.read();
      return work();
    } catch (error) {
      throw this.#lose(`The log of runs cannot be used: ${errorMessage(error)}`, error);
    }
  }

  #checkHeld(): void {
    this.#logged(() => undefined);
    if (!this.holds) throw this.#lose();
    const { reason } = this.signal;
    if (reason instanceof StoppedError && reason.stop === "lost") throw reason;
  }

  #lose(message?: string, cause?: unknown): StoppedError {
    const error = new StoppedError("lost", { ...(message !== undefined && { message }), cause });
    this.#controller.abort(error);
    return error;
  }
}
