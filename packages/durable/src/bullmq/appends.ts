import type { Pool } from "pg";
import type { JournalEntry } from "../engine/engine.js";
import type { RunEvent } from "../engine/events.js";
import { toJson } from "../journal/toJson.js";

// The number of concurrent writes: one waits for the disk while the other is prepared.
const LANES = 2;
const MAX_WRITES = 32;
const MAX_BYTES = 1024 * 1024;

interface Write {
  readonly id: string;
  readonly epoch: number;
  readonly entries: readonly (readonly [key: string, kind: string, value: string])[];
  readonly events: readonly string[];
  readonly bytes: number;
  resolve(server: string | undefined): void;
  reject(error: unknown): void;
}

/**
 * Appends to journals and event logs, with fencing: a write is valid only while its claim holds the run. Writes that
 * the runs of this process make while earlier ones are in progress are combined into one statement and one commit.
 */
export class Appends {
  readonly #pool: Pool;
  readonly #s: string;
  #waiting: Write[] = [];
  #lanes = 0;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
  }

  /**
   * Resolves, if the claim held the run and the write is valid, to the start time of the server that has it, otherwise
   * to `undefined`. Events that another server accepted before may be missing: they do not wait for its disk.
   */
  append(
    id: string,
    epoch: number,
    entries: readonly JournalEntry[],
    events: readonly RunEvent[],
  ): Promise<string | undefined> {
    const rows = entries.map(({ key, kind, value }) => [key, kind, toJson(value)] as const);
    const bodies = events.map(toJson);
    const bytes = [...rows.map(([, , value]) => value), ...bodies].reduce(
      (sum, { length }) => sum + length,
      0,
    );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, epoch, entries: rows, events: bodies, bytes, resolve, reject });
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    if (this.#lanes >= LANES) return;
    this.#lanes++;
    while (this.#waiting.length > 0) await this.#write(this.#takeBatch());
    this.#lanes--;
  }

  #takeBatch(): readonly Write[] {
    let bytes = 0;
    const end = this.#waiting.findIndex((write, index) => {
      bytes += write.bytes;
      return index > 0 && (index >= MAX_WRITES || bytes > MAX_BYTES);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #write(writes: readonly Write[]): Promise<void> {
    try {
      const held = await this.#send(writes);
      for (const [index, { resolve }] of writes.entries()) resolve(held.get(index));
    } catch (error) {
      // The server rolled back the whole statement; one of the writes may have caused it, so each is retried alone.
      if (writes.length > 1 && isRefused(error)) for (const write of writes) await this.#write([write]);
      else for (const { reject } of writes) reject(error);
    }
  }

  async #send(writes: readonly Write[]): Promise<ReadonlyMap<number, string>> {
    const steps = writes.flatMap(({ entries }, index) => entries.map((entry) => [index, ...entry] as const));
    const events = writes.flatMap(({ events: bodies }, index) =>
      bodies.map((body) => [index, body] as const),
    );
    // `for share` prevents a run from being claimed until its entries are stored: a check without it could pass, and
    // the entries appear after the next worker has read the journal. The lateral query selects only the id, so that the
    // primary key is the only matching index, whatever the planner estimates. Each array is a subquery, so that the
    // planner cannot see its length: it would plan the statement again for each, which takes twice as long as executing
    // it.
    const { rows } = await this.#pool.query<{ n: number; server: string }>({
      name: `append-${this.#s}`,
      text: `with asked as materialized (select id, epoch, n - 1 as n
          from unnest((select $1::text[]), (select $2::int[])) with ordinality as asked (id, epoch, n) order by id),
        held as materialized (select run.id, run.epoch, asked.n from asked, lateral (select id, epoch, state
          from ${this.#s}.run where run.id = asked.id offset 0 for share) as run
          where run.epoch = asked.epoch and run.state = 'running'),
        steps as (insert into ${this.#s}.step (run_id, epoch, key, kind, value)
          select held.id, held.epoch, e.key, e.kind, e.value
          from unnest((select $3::int[]), (select $4::text[]), (select $5::text[]), (select $6::text[])) with ordinality as e (n, key, kind, value, place)
          join held on held.n = e.n order by e.place),
        events as (insert into ${this.#s}.event (run_id, epoch, body) select held.id, held.epoch, e.body
          from unnest((select $7::int[]), (select $8::text[])) with ordinality as e (n, body, place)
          join held on held.n = e.n order by e.place)
        select n::int as n, pg_postmaster_start_time()::text as server, set_config('synchronous_commit',
          case when (select $9::boolean) then current_setting('synchronous_commit') else 'off' end, true) from held`,
      values: [
        writes.map(({ id }) => id),
        writes.map(({ epoch }) => epoch),
        steps.map(([index]) => index),
        steps.map(([, key]) => key),
        steps.map(([, , kind]) => kind),
        steps.map(([, , , value]) => value),
        events.map(([index]) => index),
        events.map(([, body]) => body),
        // Events alone do not wait for the disk: the next entry, or the end of the run, flushes them. Events lost in a
        // server crash before that are reported again by the run (`PostgresClaim.append`).
        steps.length > 0,
      ],
    });
    return new Map(rows.map(({ n, server }) => [n, server]));
  }
}

/** Whether the server rolled the whole statement back and the connection is still usable. */
function isRefused(error: unknown): boolean {
  return (error as { severity?: string } | null)?.severity === "ERROR";
}
