import { errorMessage } from "@agent/core/toolkit";
import type { JournalEntry, RunClaim, StopCode } from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import type { Pause, Run } from "../engine/run.js";
import { StoppedError } from "../engine/stopped.js";
import type { CommandLog } from "./commandLog.js";
import type { JournalFile, JournalLine, RunFiles } from "./runFiles.js";

/** A run that a worker of this process has claimed. */
export class FileClaim implements RunClaim {
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
    const line: JournalLine = {
      at: Date.now(),
      ...(entries.length > 0 && { j: entries }),
      ...(events.length > 0 && { e: events }),
    };
    try {
      this.#journal.append(line, this.#flush && entries.length > 0);
    } catch (error) {
      throw this.#lose(`The journal of run ${this.run.id} cannot be written: ${errorMessage(error)}`, error);
    }
    // A worker that takes the run writes that to the log and reads this file afterwards. If the log does not say so
    // yet, the next worker will read this line.
    this.#checkHeld();
  }

  async takeModelCall(model: string): Promise<Pause | undefined> {
    const { tenant } = this.run;
    if (this.#hasModelCall) {
      this.#hasModelCall = false;
      return undefined;
    }
    this.#log.read();
    if (!this.#log.table.models.concerns(tenant, model)) return undefined;
    return this.#log.takeModelCall(tenant, model);
  }

  async reportModelCall(model: string, failure?: { readonly retryAfterMs?: number }): Promise<void> {
    this.#log.read();
    if (!failure && !this.#log.table.models.isSuspect(model)) return;
    this.#log.submit({ op: "outcome", at: Date.now(), model, ...(failure && { failure }) });
  }

  close(): void {
    this.#journal.close();
  }

  #checkHeld(): void {
    try {
      this.#log.read();
    } catch (error) {
      throw this.#lose(`The log of runs cannot be read: ${errorMessage(error)}`, error);
    }
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
