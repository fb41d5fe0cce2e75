import type { Pool } from "pg";
import type { ActivityBucket, RunQuery } from "../engine/engine.js";
import { RUN_STATES, type Run, type RunState, type RunSummary } from "../engine/run.js";
import { RUN_COLUMNS, type RunRow, SUMMARY_COLUMNS, type SummaryRow, toRun, toSummary } from "./rows.js";

const DEFAULT_LIST_LIMIT = 100;

/** Reads runs, one or many. */
export class RunQueries {
  readonly #pool: Pool;
  readonly #s: string;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
  }

  async get(id: string): Promise<Run | undefined> {
    const { rows } = await this.#pool.query<RunRow>(
      `select ${RUN_COLUMNS} from ${this.#s}.run where id = $1`,
      [id],
    );
    return rows[0] && toRun(rows[0]);
  }

  async getSummary(id: string): Promise<RunSummary | undefined> {
    const { rows } = await this.#pool.query<SummaryRow>(
      `select ${SUMMARY_COLUMNS} from ${this.#s}.run where id = $1`,
      [id],
    );
    return rows[0] && toSummary(rows[0]);
  }

  async list({ state, tenant, limit = DEFAULT_LIST_LIMIT }: RunQuery): Promise<readonly RunSummary[]> {
    const { rows } = await this.#pool.query<SummaryRow>(
      `select ${SUMMARY_COLUMNS} from ${this.#s}.run
       where ($1::text is null or state = $1) and ($2::text is null or tenant = $2)
       order by run.created_at desc limit $3`,
      [state ?? null, tenant ?? null, limit],
    );
    return rows.map(toSummary);
  }

  async count({ state, tenant }: RunQuery): Promise<Readonly<Record<RunState, number>>> {
    const { rows } = await this.#pool.query<{ state: RunState; count: string }>(
      `select state, count(*) from ${this.#s}.run
       where ($1::text is null or state = $1) and ($2::text is null or tenant = $2) group by state`,
      [state ?? null, tenant ?? null],
    );
    const counts = Object.fromEntries(RUN_STATES.map((one) => [one, 0])) as Record<RunState, number>;
    for (const row of rows) counts[row.state] = Number(row.count);
    return counts;
  }

  async activity(since: number, bucketMs: number): Promise<readonly ActivityBucket[]> {
    const { rows } = await this.#pool.query(
      `with bucket as (select generate_series(0, greatest(0, ceil((extract(epoch from clock_timestamp()) * 1000 - $1::float8) / $2::float8)::int - 1)) as n),
       ended as (select floor((extract(epoch from ended_at) * 1000 - $1::float8) / $2::float8)::int as n,
           count(*) filter (where state = 'done') as done, count(*) filter (where state in ('failed', 'set_aside')) as failed,
           count(*) filter (where state = 'cancelled') as cancelled
         from ${this.#s}.run where ended_at >= to_timestamp($1::float8 / 1000.0) group by 1),
       started as (select floor((extract(epoch from started_at) * 1000 - $1::float8) / $2::float8)::int as n, count(*) as started,
           avg(extract(epoch from started_at - created_at)) * 1000 as wait
         from ${this.#s}.run where started_at >= to_timestamp($1::float8 / 1000.0) group by 1)
       select n, coalesce(done, 0) as done, coalesce(failed, 0) as failed, coalesce(cancelled, 0) as cancelled,
         coalesce(started, 0) as started, coalesce(wait, 0) as wait
       from bucket left join ended using (n) left join started using (n) order by n`,
      [since, bucketMs],
    );
    return rows.map((row) => ({
      at: since + row.n * bucketMs,
      done: Number(row.done),
      failed: Number(row.failed),
      cancelled: Number(row.cancelled),
      started: Number(row.started),
      averageWaitMs: Number(row.wait),
    }));
  }
}
