import { errorMessage, isRecord } from "@agent/core/toolkit";
import type { JournalEntry, RunClaim, StopCode } from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import type { Run } from "../engine/run.js";
import { StoppedError } from "../engine/stopped.js";
import type { CommandLog } from "./commandLog.js";
import type { JournalFile, RunFiles } from "./runFiles.js";

/** One line of a journal file. */
export interface JournalLine {
  readonly at: number;
  readonly j?: readonly JournalEntry[];
  readonly e?: readonly RunEvent[];
}

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

  constructor(run: Run, log: CommandLog, files: RunFiles, flush: boolean) {
    this.run = run;
    this.epoch = run.epoch;
    this.worker = run.worker ?? "";
    this.#log = log;
    this.#files = files;
    this.#flush = flush;
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

  async journal(): Promise<readonly JournalEntry[]> {
    const { id } = this.run;
    return this.#files
      .segments(id, this.epoch)
      .flatMap(({ epoch, size }) => this.#files.readFrom(id, epoch, 0, size))
      .flatMap(({ text }) => parseLine(text).j ?? []);
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

  async takeModelCall(): Promise<number> {
    const { tenant } = this.run;
    this.#log.read();
    if (this.#log.table.limits(tenant).modelCallsPerMinute === undefined) return 0;
    const wait = this.#log.table.modelWaitMs(tenant, Date.now());
    if (wait > 0) return wait;
    return this.#log.submit({ op: "model", at: Date.now(), tenant }) ? 0 : 1;
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

/** A line as far as it can be read; the header of a file has neither entries nor events. */
export function parseLine(text: string): Partial<JournalLine> {
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? (value as Partial<JournalLine>) : {};
}
