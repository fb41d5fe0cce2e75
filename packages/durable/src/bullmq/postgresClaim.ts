import { errorMessage } from "@agent/core/toolkit";
import type { Pool } from "pg";
import type { JournalEntry, RunClaim, StopCode } from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import type { Pause, Run } from "../engine/run.js";
import { StoppedError } from "../engine/stopped.js";
import type { Appends } from "./appends.js";
import type { ModelCalls } from "./modelCalls.js";
import type { Notices } from "./notices.js";
import { RunQueries } from "./runQueries.js";

export interface ClaimParts {
  readonly pool: Pool;
  readonly schema: string;
  readonly appends: Appends;
  readonly modelCalls: ModelCalls;
  readonly notices: Pick<Notices, "send" | "isFollowed">;
}

/** A run that a worker of this process has claimed. */
export class PostgresClaim implements RunClaim {
  readonly run: Run;
  readonly epoch: number;
  readonly worker: string;
  /** When the lease ends if it is not renewed, by this process's steady clock; in the database it ends a little later. */
  heldUntil: number;
  messages: readonly string[];
  readonly #parts: ClaimParts;
  readonly #controller = new AbortController();
  #server: string | undefined;
  #hasWritten = false;
  #hasModelCall: boolean;

  constructor(run: Run, heldUntil: number, parts: ClaimParts) {
    this.run = run;
    this.heldUntil = heldUntil;
    this.epoch = run.epoch;
    this.worker = run.worker ?? "";
    this.#hasModelCall = run.hasModelCall ?? false;
    this.messages = run.messages;
    this.#parts = parts;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(code: StopCode, message?: string): void {
    this.#controller.abort(new StoppedError(code, message === undefined ? {} : { message }));
  }

  async journal(): Promise<readonly JournalEntry[]> {
    // This is the first claim of the run, so the journal is empty.
    if (this.epoch === 1 && !this.#hasWritten && this.run.forkedFrom === undefined) return [];
    const { pool, schema } = this.#parts;
    try {
      return await new RunQueries(pool, schema).journal(this.run.id);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  async append(entries: readonly JournalEntry[], events: readonly RunEvent[]): Promise<void> {
    const { reason } = this.signal;
    if (reason instanceof StoppedError && reason.stop === "lost") throw reason;
    const { appends, notices } = this.#parts;
    let server: string | undefined;
    this.#hasWritten = true;
    try {
      server = await appends.append(this.run.id, this.epoch, entries, events);
    } catch (error) {
      throw this.#lose(error);
    }
    if (server === undefined) throw this.#lose();
    this.#server ??= server;
    // The next worker that claims the run replays it and logs the lost events.
    if (server !== this.#server) throw this.#lose("it was restarted, and events may be missing.");
    if (events.length > 0 && notices.isFollowed(this.run.id)) notices.send(this.run.id);
  }

  async takeModelCall(model: string): Promise<Pause | undefined> {
    if (this.#hasModelCall) {
      this.#hasModelCall = false;
      return undefined;
    }
    try {
      return await this.#parts.modelCalls.take(this.run.tenant, model);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  async reportModelCall(model: string, failure?: { readonly retryAfterMs?: number }): Promise<void> {
    try {
      await this.#parts.modelCalls.report(model, failure);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  /** A fault of the database is no fault of the run: it continues elsewhere, or here later. */
  #lose(cause?: unknown): StoppedError {
    const message = cause === undefined ? undefined : `The database failed: ${errorMessage(cause)}`;
    const error = new StoppedError("lost", { ...(message !== undefined && { message }), cause });
    this.#controller.abort(error);
    return error;
  }
}
