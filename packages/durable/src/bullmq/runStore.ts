import type { Pool, PoolClient } from "pg";
import type { ActivityBucket, ClaimEnding, RunQuery } from "../engine/engine.js";
import {
  type Approval,
  type DecidedApproval,
  type Decision,
  isEnded,
  type NewRun,
  RUN_STATES,
  type Run,
  type RunState,
  type RunSummary,
  type TenantLimits,
} from "../engine/run.js";
import {
  kindOf,
  RUN_COLUMNS,
  type RunRow,
  SUMMARY_COLUMNS,
  type SummaryRow,
  toRun,
  toSummary,
} from "./rows.js";
import { FORMAT } from "./schema.js";
import { type Dispatch, Slots } from "./slots.js";
import { inTransaction } from "./transaction.js";

const DEFAULT_LIST_LIMIT = 100;
const PRUNE_AT_ONCE = 500;
const DISPATCH = "id, kind, epoch, turn::float8 as turn";

// Two changes that wait for each other's rows: the server ends one of them, which is done again.
const DEADLOCK = "40P01";
const MAX_ATTEMPTS = 5;

/** What a change did, and which runs have to go to the queue because of it. */
export interface Change {
  readonly applied: boolean;
  readonly dispatch: readonly Dispatch[];
}

const NOTHING: Change = { applied: false, dispatch: [] };

interface LockedRow {
  readonly state: RunState;
  readonly tenant: string;
  readonly parked: boolean;
  readonly approvals: string;
  readonly decisions: string;
}

/** The runs in Postgres, and everything that changes their state. */
export class RunStore {
  readonly #pool: Pool;
  readonly #s: string;
  readonly #slots: Slots;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
    this.#slots = new Slots(schema);
  }

  async create(run: NewRun): Promise<Change> {
    const { id, definition, version, tenant, labels, priority, input, trace = null } = run;
    const kind = kindOf(run);
    return await this.#transaction(async (client) => {
      await client.query(
        `insert into ${this.#s}.kind (name, definition, labels) values ($1, $2, $3) on conflict do nothing`,
        [kind.name, definition, labels],
      );
      // Virtual time: after the tenant's own last run, but never before what runs now, so that tenants take turns.
      const { rows } = await client.query<Dispatch>(
        `insert into ${this.#s}.run (id, format, definition, version, tenant, labels, priority, kind, trace, input, state, turn)
         select $1, $2, $3, $4, $5, $6, $7::int, $8, $9, $10, 'queued', case when $7::int > 0 then now_turn
           else greatest(now_turn, (select coalesce(max(turn), 0) from ${this.#s}.run where tenant = $5 and state in ('queued', 'running')))
             + case when $7::int < 0 then 10000 else 0 end end + 1
         from (select coalesce(max(turn), 0) as now_turn from ${this.#s}.run where state = 'running') as clock
         on conflict (id) do nothing returning ${DISPATCH}`,
        [id, FORMAT, definition, version, tenant, labels, priority, kind.name, trace, JSON.stringify(input)],
      );
      if (rows.length === 0) return NOTHING;
      return { applied: true, dispatch: await this.#admit(client, tenant, rows) };
    });
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

  /** Writes the end of a claim, if it still holds the run. */
  async end(id: string, epoch: number, ending: ClaimEnding): Promise<Change> {
    return await this.#transaction(async (client) => {
      const { rows } = await client.query<{ tenant: string; state: RunState } & Dispatch>(
        `update ${this.#s}.run set
           state = case when cancel_reason is not null and $3::text in ('queued', 'waiting') then 'cancelled' else $3::text end,
           error = case when cancel_reason is not null and $3::text in ('queued', 'waiting')
             then json_build_object('code', 'cancelled', 'message', cancel_reason)::text else coalesce($4::text, error) end,
           approvals = coalesce($5::text, '[]'), result = $6::text, usage = coalesce($7::text, usage),
           enqueued = false, queued_at = clock_timestamp(), lease_until = null,
           ended_at = case when $3::text in ('done', 'failed', 'cancelled') or (cancel_reason is not null and $3::text in ('queued', 'waiting'))
             then clock_timestamp() end
         where id = $1 and epoch = $2 and state = 'running' returning tenant, state, ${DISPATCH}`,
        [
          id,
          epoch,
          ending.state,
          "error" in ending ? JSON.stringify(ending.error) : null,
          "approvals" in ending ? JSON.stringify(ending.approvals) : null,
          "result" in ending ? JSON.stringify(ending.result) : null,
          "usage" in ending && ending.usage ? JSON.stringify(ending.usage) : null,
        ],
      );
      const [row] = rows;
      if (!row) return NOTHING;
      const dispatch = row.state === "queued" ? rows : await this.#slots.release(client, row.tenant);
      return { applied: true, dispatch };
    });
  }

  async decide(id: string, key: string, decision: Decision): Promise<Change> {
    return await this.#transaction(async (client) => {
      const row = await this.#lock(client, id);
      const approvals: Approval[] = JSON.parse(row?.approvals ?? "[]");
      const approval = approvals.find((one) => one.key === key);
      if (row?.state !== "waiting" || !approval) return NOTHING;
      const left = approvals.filter((one) => one !== approval);
      const decisions: DecidedApproval[] = [
        ...JSON.parse(row.decisions),
        { key, name: approval.name, decision },
      ];
      await client.query(`update ${this.#s}.run set approvals = $2, decisions = $3 where id = $1`, [
        id,
        JSON.stringify(left),
        JSON.stringify(decisions),
      ]);
      return { applied: true, dispatch: left.length > 0 ? [] : await this.#requeue(client, id, row.tenant) };
    });
  }

  async cancel(id: string, reason: string): Promise<Change> {
    return await this.#transaction(async (client) => {
      const row = await this.#lock(client, id);
      if (!row || isEnded(row.state)) return NOTHING;
      if (row.state === "running") {
        await client.query(
          `update ${this.#s}.run set cancel_reason = coalesce(cancel_reason, $2) where id = $1`,
          [id, reason],
        );
        return { applied: true, dispatch: [] };
      }
      await client.query(
        `update ${this.#s}.run set state = 'cancelled', approvals = '[]', parked = false, ended_at = clock_timestamp(),
           error = $2 where id = $1`,
        [id, JSON.stringify({ code: "cancelled", message: reason })],
      );
      const hadSlot = row.state === "queued" && !row.parked;
      return { applied: true, dispatch: hadSlot ? await this.#slots.release(client, row.tenant) : [] };
    });
  }

  async retry(id: string): Promise<Change> {
    return await this.#transaction(async (client) => {
      const row = await this.#lock(client, id);
      if (!row || !isEnded(row.state) || row.state === "done") return NOTHING;
      await client.query(
        `update ${this.#s}.run set crashes = 0, error = null, ended_at = null, cancel_reason = null where id = $1`,
        [id],
      );
      return { applied: true, dispatch: await this.#requeue(client, id, row.tenant) };
    });
  }

  async setLimits(tenant: string, { concurrency, modelCallsPerMinute }: TenantLimits): Promise<Change> {
    return await this.#transaction(async (client) => {
      await client.query(
        `insert into ${this.#s}.tenant (name, concurrency, calls_per_minute, tokens) values ($1, $2::int, $3::float8, coalesce($3::float8, 0))
         on conflict (name) do update set concurrency = $2::int, calls_per_minute = $3::float8,
           tokens = coalesce(case when tenant.calls_per_minute is null then $3::float8 else least(tenant.tokens, $3::float8) end, 0)`,
        [tenant, concurrency ?? null, modelCallsPerMinute ?? null],
      );
      await client.query(
        `update ${this.#s}.tenant set active = (select count(*) from ${this.#s}.run
           where tenant = $1 and not parked and state in ('queued', 'running')) where name = $1`,
        [tenant],
      );
      return { applied: true, dispatch: await this.#slots.fill(client, tenant) };
    });
  }

  async getLimits(tenant: string): Promise<TenantLimits> {
    const { rows } = await this.#pool.query(
      `select concurrency, calls_per_minute as calls from ${this.#s}.tenant where name = $1`,
      [tenant],
    );
    const { concurrency = null, calls = null } = rows[0] ?? {};
    return {
      ...(concurrency !== null && { concurrency }),
      ...(calls !== null && { modelCallsPerMinute: calls }),
    };
  }

  async prune(endedBefore: number): Promise<number> {
    for (let removed = 0; ; ) {
      const { rowCount } = await this.#pool.query(
        `delete from ${this.#s}.run where id in
           (select id from ${this.#s}.run where ended_at < to_timestamp($1::float8 / 1000.0) limit ${PRUNE_AT_ONCE})`,
        [endedBefore],
      );
      removed += rowCount ?? 0;
      if ((rowCount ?? 0) < PRUNE_AT_ONCE) return removed;
    }
  }

  async #lock(client: PoolClient, id: string): Promise<LockedRow | undefined> {
    const { rows } = await client.query<LockedRow>(
      `select state, tenant, parked, approvals, decisions from ${this.#s}.run where id = $1 for update`,
      [id],
    );
    return rows[0];
  }

  async #requeue(client: PoolClient, id: string, tenant: string): Promise<readonly Dispatch[]> {
    const { rows } = await client.query<Dispatch>(
      `update ${this.#s}.run set state = 'queued', enqueued = false, queued_at = clock_timestamp() where id = $1
       returning ${DISPATCH}`,
      [id],
    );
    return await this.#admit(client, tenant, rows);
  }

  /** Parks what has no place in the queue. */
  async #admit(client: PoolClient, tenant: string, rows: readonly Dispatch[]): Promise<readonly Dispatch[]> {
    if (await this.#slots.take(client, tenant)) return rows;
    for (const { id } of rows) {
      await client.query(`update ${this.#s}.run set parked = true where id = $1`, [id]);
    }
    return [];
  }

  async #transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTransaction(this.#pool, work);
      } catch (error) {
        const isDeadlock = (error as { code?: string }).code === DEADLOCK;
        if (!isDeadlock || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }
}
