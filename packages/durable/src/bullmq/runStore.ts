import type { Pool, PoolClient } from "pg";
import type { ClaimEnding } from "../engine/engine.js";
import { tenantScope } from "../engine/modelLimits.js";
import {
  type Approval,
  type DecidedApproval,
  type Decision,
  decided,
  EXPIRED,
  isEnded,
  type NewRun,
  type RunState,
  SCHEDULED,
  type TenantLimits,
} from "../engine/run.js";
import type { Swept } from "./leases.js";
import { kindOf } from "./rows.js";
import { FORMAT } from "./schema.js";
import { DISPATCH, type Dispatch, Slots } from "./slots.js";
import { inTransaction } from "./transaction.js";

const PRUNE_AT_ONCE = 500;

// Deadlock: two changes wait for each other's rows. The server aborts one of them, which is then repeated.
const DEADLOCK = "40P01";
const MAX_ATTEMPTS = 5;

/** The result of a change, and the runs that must be queued because of it. */
export interface RunChange {
  readonly applied: boolean;
  readonly dispatch: readonly Dispatch[];
}

const NOTHING: RunChange = { applied: false, dispatch: [] };

interface LockedRow {
  readonly state: RunState;
  readonly tenant: string;
  readonly parked: boolean;
  readonly approvals: string;
  readonly decisions: string;
  readonly messages: string;
  /** Waits for a time. */
  readonly is_timed: boolean;
}

/** Everything that changes the state of runs in Postgres. */
export class RunStore {
  readonly #pool: Pool;
  readonly #s: string;
  readonly #slots: Slots;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
    this.#slots = new Slots(schema);
  }

  async create(run: NewRun): Promise<RunChange> {
    const {
      id,
      definition,
      version,
      tenant,
      labels,
      priority,
      input,
      title = null,
      trace = null,
      startAt,
      fork,
    } = run;
    const kind = kindOf(run).name;
    const { rows } = await this.#again(() =>
      this.#pool.query<{ turn: number; is_parked: boolean }>({
        name: `create-${this.#s}`,
        text: `select * from ${this.#s}.create_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
        values: [
          id,
          FORMAT,
          definition,
          version,
          tenant,
          labels,
          priority,
          kind,
          title,
          trace,
          JSON.stringify(input),
          startAt ?? null,
          JSON.stringify({ reason: SCHEDULED }),
          fork?.from ?? null,
          JSON.stringify(fork?.decisions ?? []),
          JSON.stringify(fork?.messages ?? []),
          fork?.messages.length ?? 0,
          fork?.journal.map(({ key }) => key) ?? [],
          fork?.journal.map(({ kind: step }) => step) ?? [],
          fork?.journal.map(({ value }) => JSON.stringify(value)) ?? [],
        ],
      }),
    );
    const [row] = rows;
    if (!row) return NOTHING;
    return { applied: true, dispatch: row.is_parked ? [] : [{ id, kind, epoch: 0, turn: row.turn }] };
  }

  /**
   * Writes the end of a claim, if it still holds the run and the server was not restarted since `server`, the start time
   * that its writes returned.
   */
  async end(id: string, epoch: number, ending: ClaimEnding, server?: string): Promise<RunChange> {
    const { rows } = await this.#again(() =>
      this.#pool.query<Dispatch | { readonly id: null }>({
        name: `end-${this.#s}`,
        text: `with same as materialized (select $1::text as id
            where $12::text is null or $12 = pg_postmaster_start_time()::text)
          select ended.* from same, lateral ${this.#s}.end_claim(same.id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) as ended`,
        values: [
          id,
          epoch,
          ending.state,
          "error" in ending ? JSON.stringify(ending.error) : null,
          "approvals" in ending ? JSON.stringify(ending.approvals) : null,
          "result" in ending ? JSON.stringify(ending.result) : null,
          "usage" in ending && ending.usage ? JSON.stringify(ending.usage) : null,
          "cost" in ending ? (ending.cost ?? null) : null,
          "pause" in ending ? JSON.stringify(ending.pause) : null,
          waitMsOf(ending),
          "messages" in ending ? (ending.messages ?? null) : null,
          server ?? null,
        ],
      }),
    );
    return { applied: rows.length > 0, dispatch: rows.filter((row): row is Dispatch => row.id !== null) };
  }

  async decide(id: string, key: string, decision: Decision): Promise<RunChange> {
    return await this.#transaction(async (client) => {
      const row = await this.#lock(client, id);
      const approvals: Approval[] = JSON.parse(row?.approvals ?? "[]");
      const approval = approvals.find((one) => one.key === key);
      if (row?.state !== "waiting" || !approval) return NOTHING;
      const left = approvals.filter((one) => one !== approval);
      const decisions: DecidedApproval[] = [...JSON.parse(row.decisions), decided(approval, decision)];
      await client.query(`update ${this.#s}.run set approvals = $2, decisions = $3 where id = $1`, [
        id,
        JSON.stringify(left),
        JSON.stringify(decisions),
      ]);
      return { applied: true, dispatch: left.length > 0 ? [] : await this.#requeue(client, id, row.tenant) };
    });
  }

  async cancel(id: string, reason: string): Promise<RunChange> {
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
        `update ${this.#s}.run set state = 'cancelled', approvals = '[]', parked = false, wake_at = null, pause = null, ended_at = clock_timestamp(),
           error = $2 where id = $1`,
        [id, JSON.stringify({ code: "cancelled", message: reason })],
      );
      const hadSlot = row.state === "queued" && !row.parked;
      return { applied: true, dispatch: hadSlot ? await this.#slots.release(client, row.tenant) : [] };
    });
  }

  async retry(id: string): Promise<RunChange> {
    return await this.#transaction(async (client) => {
      const row = await this.#lock(client, id);
      if (!row || row.state === "done" || !(isEnded(row.state) || row.is_timed)) return NOTHING;
      await client.query(
        `update ${this.#s}.run set crashes = 0, error = null, wake_at = null, pause = null, ended_at = null, cancel_reason = null where id = $1`,
        [id],
      );
      return { applied: true, dispatch: await this.#requeue(client, id, row.tenant) };
    });
  }

  async send(id: string, message: string): Promise<RunChange> {
    return await this.#transaction(async (client) => {
      const row = await this.#lock(client, id);
      if (!row || (isEnded(row.state) && row.state !== "done")) return NOTHING;
      await client.query(
        `update ${this.#s}.run set messages = $2, message_count = message_count + 1, ended_at = null where id = $1`,
        [id, JSON.stringify([...JSON.parse(row.messages), message])],
      );
      const isDone = row.state === "done";
      return { applied: true, dispatch: isDone ? await this.#requeue(client, id, row.tenant) : [] };
    });
  }

  /** Allows or prevents claiming of runs. Those that become claimable have to be sent to the queue. */
  async setPaused(tenant: string, isPaused: boolean): Promise<void> {
    if (isPaused) {
      await this.#pool.query(`insert into ${this.#s}.paused values ($1) on conflict do nothing`, [tenant]);
      return;
    }
    await this.#pool.query(
      // Workers have taken tickets of these runs and could not use them.
      `with resumed as (delete from ${this.#s}.paused where tenant = $1 returning tenant)
       update ${this.#s}.run set enqueued = false from resumed
         where state = 'queued' and not parked and ($1 = '*' or run.tenant = $1)`,
      [tenant],
    );
  }

  async getPaused(): Promise<readonly string[]> {
    const { rows } = await this.#pool.query<{ tenant: string }>(
      `select tenant from ${this.#s}.paused order by tenant collate "C"`,
    );
    return rows.map(({ tenant }) => tenant);
  }

  async getAllLimits(): Promise<Readonly<Record<string, TenantLimits>>> {
    const { rows } = await this.#pool.query(
      `select name, concurrency, calls from (select name, concurrency, (select per_minute from ${this.#s}.rate where scope = $1 || name) as calls
         from ${this.#s}.tenant) as tenant where concurrency is not null or calls is not null order by name collate "C"`,
      [tenantScope("")],
    );
    return Object.fromEntries(rows.map(({ name, ...row }) => [name, toLimits(row)]));
  }

  async setLimits(tenant: string, { concurrency, modelCallsPerMinute }: TenantLimits): Promise<RunChange> {
    return await this.#transaction(async (client) => {
      await client.query(
        `insert into ${this.#s}.tenant (name, concurrency) values ($1, $2)
         on conflict (name) do update set concurrency = $2`,
        [tenant, concurrency ?? null],
      );
      await client.query(
        `update ${this.#s}.tenant set active = (select count(*) from ${this.#s}.run
           where tenant = $1 and not parked and state in ('queued', 'running')) where name = $1`,
        [tenant],
      );
      const scope = tenantScope(tenant);
      const { rows } = await client.query(`select per_minute from ${this.#s}.rate where scope = $1`, [scope]);
      if ((rows[0]?.per_minute ?? undefined) !== modelCallsPerMinute) {
        await client.query(`select ${this.#s}.set_rate($1, $2)`, [scope, modelCallsPerMinute ?? null]);
      }
      return { applied: true, dispatch: await this.#slots.fill(client, tenant) };
    });
  }

  async getLimits(tenant: string): Promise<TenantLimits> {
    const { rows } = await this.#pool.query(
      `select (select concurrency from ${this.#s}.tenant where name = $1) as concurrency,
         (select per_minute from ${this.#s}.rate where scope = $2) as calls`,
      [tenant, tenantScope(tenant)],
    );
    return toLimits(rows[0] ?? {});
  }

  /** Queues runs whose wake-up time has come. */
  async wake(most: number): Promise<Swept> {
    const { rows } = await this.#again(() =>
      this.#pool.query<Dispatch & { readonly is_parked: boolean }>(`select * from ${this.#s}.wake_runs($1)`, [
        most,
      ]),
    );
    return { changed: rows.map(({ id }) => id), dispatch: rows.filter((row) => !row.is_parked) };
  }

  /** Denies calls that were not decided in time, and queues their runs. */
  async expire(most: number): Promise<Swept> {
    return await this.#transaction(async (client) => {
      const { rows } = await client.query<LockedRow & { readonly id: string }>(
        `select id, tenant, approvals, decisions from ${this.#s}.run where state = 'waiting'
           and wake_at <= clock_timestamp() and approvals <> '[]' order by wake_at limit $1 for update skip locked`,
        [most],
      );
      const dispatch: Dispatch[] = [];
      for (const { id, tenant, approvals, decisions } of rows) {
        const denied = (JSON.parse(approvals) as Approval[]).map((one) => decided(one, { deny: EXPIRED }));
        await client.query(`update ${this.#s}.run set approvals = '[]', decisions = $2 where id = $1`, [
          id,
          JSON.stringify([...JSON.parse(decisions), ...denied]),
        ]);
        dispatch.push(...(await this.#requeue(client, id, tenant)));
      }
      return { changed: rows.map(({ id }) => id), dispatch };
    });
  }

  async prune(endedBefore: number): Promise<number> {
    for (let removed = 0; ; ) {
      const { rows } = await this.#pool.query<{ count: number }>(
        `with old as (delete from ${this.#s}.run where id in
           (select id from ${this.#s}.run where ended_at < to_timestamp($1::float8 / 1000.0) limit ${PRUNE_AT_ONCE}
            for update skip locked) returning id),
         steps as (delete from ${this.#s}.step where run_id in (select id from old)),
         events as (delete from ${this.#s}.event where run_id in (select id from old))
         select count(*)::int as count from old`,
        [endedBefore],
      );
      const count = rows[0]?.count ?? 0;
      removed += count;
      if (count < PRUNE_AT_ONCE) return removed;
    }
  }

  async #lock(client: PoolClient, id: string): Promise<LockedRow | undefined> {
    const { rows } = await client.query<LockedRow>(
      `select state, tenant, parked, approvals, decisions, messages,
         state = 'waiting' and wake_at is not null and approvals = '[]' as is_timed from ${this.#s}.run where id = $1 for update`,
      [id],
    );
    return rows[0];
  }

  /** Queues a run again, or parks it if its tenant has no free slot in the queue. */
  async #requeue(client: PoolClient, id: string, tenant: string): Promise<readonly Dispatch[]> {
    const hasSlot = await this.#slots.take(client, tenant);
    const { rows } = await client.query<Dispatch>(
      `update ${this.#s}.run set state = 'queued', parked = $2, enqueued = false, wake_at = null, queued_at = clock_timestamp()
       where id = $1 returning ${DISPATCH}`,
      [id, !hasSlot],
    );
    return hasSlot ? rows : [];
  }

  #transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.#again(() => inTransaction(this.#pool, work));
  }

  async #again<T>(change: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await change();
      } catch (error) {
        const isDeadlock = (error as { code?: string }).code === DEADLOCK;
        if (!isDeadlock || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }
}

function toLimits(row: {
  readonly concurrency?: number | null;
  readonly calls?: number | null;
}): TenantLimits {
  const { concurrency = null, calls = null } = row;
  return {
    ...(concurrency !== null && { concurrency }),
    ...(calls !== null && { modelCallsPerMinute: calls }),
  };
}

/** The time at which a run continues by itself: its wake-up time, or the deadline of its decisions. */
function waitMsOf(ending: ClaimEnding): number | null {
  if (ending.state !== "waiting") return null;
  return "pause" in ending ? ending.pause.ms : (ending.expiresMs ?? null);
}
