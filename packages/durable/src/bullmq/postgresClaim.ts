import { errorMessage } from "@agent/core/toolkit";
import type { Pool } from "pg";
import type { JournalEntry, RunClaim, StopCode } from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import type { Run } from "../engine/run.js";
import { StoppedError } from "../engine/stopped.js";
import type { ModelCalls } from "./modelCalls.js";

export interface ClaimParts {
  readonly pool: Pool;
  readonly schema: string;
  readonly modelCalls: ModelCalls;
  /** Tells followers that there is something to read. */
  readonly notify: (id: string) => void;
}

/** A run that a worker of this process has claimed. */
export class PostgresClaim implements RunClaim {
  readonly run: Run;
  readonly epoch: number;
  readonly worker: string;
  readonly #parts: ClaimParts;
  readonly #controller = new AbortController();

  constructor(run: Run, parts: ClaimParts) {
    this.run = run;
    this.epoch = run.epoch;
    this.worker = run.worker ?? "";
    this.#parts = parts;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(code: StopCode, message?: string): void {
    this.#controller.abort(new StoppedError(code, message === undefined ? {} : { message }));
  }

  async journal(): Promise<readonly JournalEntry[]> {
    const { pool, schema } = this.#parts;
    try {
      const { rows } = await pool.query(
        `select key, kind, value from ${schema}.step where run_id = $1 order by seq`,
        [this.run.id],
      );
      return rows.map(({ key, kind, value }) => ({ key, kind, value: JSON.parse(value) }));
    } catch (error) {
      throw this.#lose(error);
    }
  }

  async append(entries: readonly JournalEntry[], events: readonly RunEvent[]): Promise<void> {
    const { reason } = this.signal;
    if (reason instanceof StoppedError && reason.stop === "lost") throw reason;
    const { pool, schema, notify } = this.#parts;
    let held: number;
    try {
      // `for share` keeps the run from being taken until the entries are in: a check without it could pass, and the
      // entries appear after the next worker has read the journal.
      const { rows } = await pool.query({
        name: `append-${schema}`,
        text: `with held as (select id, epoch from ${schema}.run where id = $1 and epoch = $2 and state = 'running' for share),
          steps as (insert into ${schema}.step (run_id, epoch, key, kind, value)
            select held.id, held.epoch, e.key, e.kind, e.value
            from held, unnest($3::text[], $4::text[], $5::text[]) with ordinality as e (key, kind, value, n) order by e.n),
          events as (insert into ${schema}.event (run_id, epoch, body)
            select held.id, held.epoch, e.body from held, unnest($6::text[]) with ordinality as e (body, n) order by e.n)
          select count(*)::int as held, set_config('synchronous_commit',
            case when $7::boolean then current_setting('synchronous_commit') else 'off' end, true) from held`,
        values: [
          this.run.id,
          this.epoch,
          entries.map(({ key }) => key),
          entries.map(({ kind }) => kind),
          entries.map(({ value }) => JSON.stringify(value) ?? "null"),
          events.map((event) => JSON.stringify(event)),
          // Events alone need not wait for the disk: the next entry, or the run's end, takes them along. What a crash
          // of the server loses before that, the run reports again.
          entries.length > 0,
        ],
      });
      held = rows[0]?.held;
    } catch (error) {
      throw this.#lose(error);
    }
    if (held !== 1) throw this.#lose();
    if (events.length > 0) notify(this.run.id);
  }

  async takeModelCall(): Promise<number> {
    try {
      return await this.#parts.modelCalls.take(this.run.tenant);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  /** A fault of the database is no fault of the run: it goes on elsewhere, or here later. */
  #lose(cause?: unknown): StoppedError {
    const message = cause === undefined ? undefined : `The database failed: ${errorMessage(cause)}`;
    const error = new StoppedError("lost", { ...(message !== undefined && { message }), cause });
    this.#controller.abort(error);
    return error;
  }
}
