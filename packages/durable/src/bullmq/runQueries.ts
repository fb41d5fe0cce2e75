import type { Pool } from "pg";
import { emptyBuckets, endedAs } from "../engine/activity.js";
import type { ActivityBucket, JournalEntry, RunFilter, RunQuery } from "../engine/engine.js";
import { RUN_STATES, type Run, type RunState, type RunSummary } from "../engine/run.js";
import { RUN_COLUMNS, type RunRow, SUMMARY_COLUMNS, type SummaryRow, toRun, toSummary } from "./rows.js";

const DEFAULT_LIST_LIMIT = 100;

interface EndedRow {
  readonly n: number;
  readonly state: RunState;
  readonly count: number;
  readonly cost: number;
}

interface StartedRow {
  readonly n: number;
  readonly count: number;
  readonly wait: number;
}

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

  async journal(id: string): Promise<readonly JournalEntry[]> {
    const { rows } = await this.#pool.query(
      `select key, kind, value from ${this.#s}.step where run_id = $1 order by seq`,
      [id],
    );
    return rows.map(({ key, kind, value }) => ({ key, kind, value: JSON.parse(value) }));
  }

  async list({ limit = DEFAULT_LIST_LIMIT, after, ...filter }: RunQuery): Promise<readonly RunSummary[]> {
    const { where, values } = conditions(filter);
    const behind =
      after === undefined
        ? ""
        : `and (created_at, id) < (select created_at, id from ${this.#s}.run where id = $${values.push(after)})`;
    const { rows } = await this.#pool.query<SummaryRow>(
      `select ${SUMMARY_COLUMNS} from ${this.#s}.run where ${where} ${behind}
       order by run.created_at desc, run.id desc limit $${values.push(limit)}`,
      values,
    );
    return rows.map(toSummary);
  }

  async count(filter: RunFilter): Promise<Readonly<Record<RunState, number>>> {
    const { where, values } = conditions(filter);
    const { rows } = await this.#pool.query<{ state: RunState; count: string }>(
      `select state, count(*) from ${this.#s}.run where ${where} group by state`,
      values,
    );
    const counts = Object.fromEntries(RUN_STATES.map((one) => [one, 0])) as Record<RunState, number>;
    for (const row of rows) counts[row.state] = Number(row.count);
    return counts;
  }

  async activity(
    since: number,
    bucketMs: number,
    { tenant }: Pick<RunQuery, "tenant">,
  ): Promise<readonly ActivityBucket[]> {
    // Two plain aggregates: a join with generated buckets is estimated far too high, and Postgres then compiles the
    // query (JIT), which takes longer than the query itself. Arithmetic on numeric, which `extract` returns, is slow as well.
    const [ended, started] = await Promise.all([
      this.#pool.query<EndedRow>(
        `select floor((extract(epoch from ended_at)::float8 * 1000 - $1::float8) / $2::float8)::int as n, state, count(*)::int as count, coalesce(sum(cost), 0) as cost
         from ${this.#s}.run where ended_at >= to_timestamp($1::float8 / 1000.0) and ($3::text is null or tenant = $3)
         group by 1, 2`,
        [since, bucketMs, tenant ?? null],
      ),
      this.#pool.query<StartedRow>(
        `select floor((extract(epoch from started_at)::float8 * 1000 - $1::float8) / $2::float8)::int as n, count(*)::int as count,
           extract(epoch from avg(started_at - created_at))::float8 * 1000 as wait
         from ${this.#s}.run where started_at >= to_timestamp($1::float8 / 1000.0) and ($3::text is null or tenant = $3)
         group by 1`,
        [since, bucketMs, tenant ?? null],
      ),
    ]);
    const buckets = emptyBuckets(since, bucketMs);
    for (const { n, state, count, cost } of ended.rows) {
      const bucket = buckets[n];
      if (!bucket) continue;
      bucket[endedAs(state)] += count;
      bucket.cost += cost;
    }
    for (const { n, count, wait } of started.rows) {
      const bucket = buckets[n];
      if (bucket) Object.assign(bucket, { started: count, averageWaitMs: wait });
    }
    return buckets;
  }
}

/** Only the conditions that are asked for: Postgres then uses the index of each. */
function conditions({ state, tenant, label, text, undecided }: RunFilter): {
  where: string;
  values: unknown[];
} {
  const values: unknown[] = [];
  const parts = ["true"];
  if (state !== undefined) parts.push(`state = $${values.push(state)}`);
  if (tenant !== undefined) parts.push(`tenant = $${values.push(tenant)}`);
  if (label !== undefined) parts.push(`labels @> array[$${values.push(label)}::text]`);
  if (undecided) parts.push("state = 'waiting' and approvals <> '[]'");
  if (text !== undefined) {
    const found = `$${values.push(text.toLowerCase())}`;
    // As text: Postgres refuses to read JSON that holds the character NUL, which a message may.
    const message = `substr(error, strpos(error, '"message"') + 9)`;
    const quoted = `$${values.push(JSON.stringify(text.toLowerCase()).slice(1, -1))}`;
    parts.push(
      `(strpos(lower(coalesce(title, '')), ${found}) > 0 or strpos(lower(id), ${found}) > 0
        or strpos(lower(coalesce(${message}, '')), ${quoted}) > 0)`,
    );
  }
  return { where: parts.join(" and "), values };
}
