import type { Pool } from "pg";
import type { RunError } from "../engine/run.js";
import { VERSION_KEY } from "../journal/keys.js";
import { RUN_COLUMNS, type RunRow } from "./rows.js";
import { FORMAT } from "./schema.js";
import { DISPATCH, type Dispatch, Slots } from "./slots.js";
import { inTransaction } from "./transaction.js";

const SWEEP_AT_ONCE = 200;
const UNQUEUED_AFTER = "1 second";

/** The data a worker needs to claim. */
export interface Claimant {
  readonly worker: string;
  readonly leaseMs: number;
  readonly maxCrashes: number;
}

export interface Held {
  readonly id: string;
  readonly epoch: number;
}

/** What a worker learns about a run when it renews the lease. */
export interface Renewed {
  readonly cancel_reason: string | null;
  readonly messages: string;
}

/** The results of a sweep. */
export interface Swept {
  readonly changed: readonly string[];
  readonly dispatch: readonly Dispatch[];
}

interface ExpiredRow extends Dispatch {
  readonly crashes: number;
  readonly max_crashes: number;
  readonly lease_ms: number;
  readonly worker: string;
  readonly tenant: string;
  readonly cancel_reason: string | null;
  readonly progressed: boolean;
}

/** The leases of runs: which worker holds which run until when, by the clock of the database alone. */
export class Leases {
  readonly #pool: Pool;
  readonly #s: string;
  readonly #slots: Slots;
  /** The columns of an \`ExpiredRow\`. */
  readonly #expired: string;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
    this.#slots = new Slots(schema);
    this.#expired = `crashes, max_crashes, lease_ms, worker, tenant, cancel_reason, ${DISPATCH},
      exists (select from ${schema}.step where run_id = run.id and step.epoch = run.epoch and step.kind = 'result'
        and key <> '${VERSION_KEY}') as progressed`;
  }

  /** Claims a queued run. `undefined` if it is no longer queued, or is for newer workers. */
  async claim(id: string, { worker, leaseMs, maxCrashes }: Claimant): Promise<RunRow | undefined> {
    const { rows } = await this.#pool.query<RunRow>({
      name: `claim-${this.#s}`,
      // The run is found by its id alone: a plan made while the queue was short could filter by state first, and scan
      // the whole queue for each claim once it is long.
      text: `with found as materialized (select id as found_id, state = 'queued' and not parked and format <= ${FORMAT}
           and not exists (select from ${this.#s}.paused where paused.tenant in ('*', run.tenant)) as is_free
         from ${this.#s}.run where id = $1 for update)
       update ${this.#s}.run set state = 'running', epoch = epoch + 1, worker = $2, lease_ms = $3::int, max_crashes = $4,
         lease_until = clock_timestamp() + $3::int * interval '1 ms', started_at = coalesce(started_at, clock_timestamp())
       from found where id = found_id and is_free returning ${RUN_COLUMNS}`,
      values: [id, worker, leaseMs, maxCrashes],
    });
    return rows[0];
  }

  /** Extends the leases of these claims. Resolves to those that still hold. */
  async renew(held: readonly Held[], leaseMs: number): Promise<ReadonlyMap<string, Renewed>> {
    const { rows } = await this.#pool.query<Renewed & { readonly id: string }>(
      // Lock rows in the order of their ids, as `Appends` does, to avoid deadlocks.
      `with asked as materialized (select * from unnest($1::text[], $2::int[]) as asked (id, epoch) order by id),
       held as materialized (select run.id from asked, lateral (select id, epoch, state from ${this.#s}.run
         where run.id = asked.id offset 0 for update) as run where run.epoch = asked.epoch and run.state = 'running')
       update ${this.#s}.run set lease_until = clock_timestamp() + $3::int * interval '1 ms'
       from held where run.id = held.id returning run.id, cancel_reason, messages`,
      [held.map(({ id }) => id), held.map(({ epoch }) => epoch), leaseMs],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** Counts a lost worker against a run: the run is queued again, or set aside. */
  async crash(id: string, epoch: number, reason: string): Promise<Swept> {
    return await inTransaction(this.#pool, async (client) => {
      const { rows } = await client.query<ExpiredRow>(
        `select ${this.#expired} from ${this.#s}.run
         where id = $1 and epoch = $2 and state = 'running' for update`,
        [id, epoch],
      );
      return await this.#giveBack(client, rows, () => reason);
    });
  }

  /** Requeues runs whose lease has expired, and finds queued runs that are in no queue. */
  async sweep(): Promise<Swept & { readonly isAll: boolean }> {
    const expired = await inTransaction(this.#pool, async (client) => {
      const { rows } = await client.query<ExpiredRow>(
        `select ${this.#expired} from ${this.#s}.run
         where state = 'running' and lease_until < clock_timestamp() order by lease_until limit ${SWEEP_AT_ONCE}
         for update skip locked`,
      );
      return await this.#giveBack(client, rows, (row) => `it sent no heartbeat for ${row.lease_ms} ms.`);
    });
    const { rows } = await this.#pool.query<Dispatch>(
      `select ${DISPATCH} from ${this.#s}.run where state = 'queued' and not parked and not enqueued
         and queued_at < clock_timestamp() - interval '${UNQUEUED_AFTER}' order by queued_at limit ${SWEEP_AT_ONCE}`,
    );
    return {
      changed: expired.changed,
      dispatch: [...expired.dispatch, ...rows],
      isAll: rows.length < SWEEP_AT_ONCE,
    };
  }

  /** Every queued run has to be sent again. */
  async forgetEnqueued(): Promise<void> {
    await this.#pool.query(
      `update ${this.#s}.run set enqueued = false, queued_at = queued_at - interval '${UNQUEUED_AFTER}'
       where state = 'queued' and not parked and enqueued`,
    );
  }

  async markEnqueued(runs: readonly Held[]): Promise<void> {
    await this.#pool.query(
      // Does not wait for the disk: a run whose mark is lost is only sent again.
      `with marked as (update ${this.#s}.run set enqueued = true from unnest($1::text[], $2::int[]) as sent (id, epoch)
         where run.id = sent.id and run.epoch = sent.epoch and state = 'queued')
       select set_config('synchronous_commit', 'off', true)`,
      [runs.map(({ id }) => id), runs.map(({ epoch }) => epoch)],
    );
  }

  /**
   * The runs that have been queued the longest, after the given time, to check whether they really are in the queue.
   */
  async longQueued(afterMs: number, waitedMs: number): Promise<readonly (Dispatch & { queuedMs: number })[]> {
    const { rows } = await this.#pool.query<Dispatch & { queued_ms: string }>(
      `select ${DISPATCH}, extract(epoch from queued_at) * 1000 as queued_ms from ${this.#s}.run
       where state = 'queued' and not parked and enqueued
         and not exists (select from ${this.#s}.paused where paused.tenant in ('*', run.tenant)) and queued_at > to_timestamp($1::float8 / 1000.0)
         and queued_at < clock_timestamp() - $2::float8 * interval '1 ms' order by queued_at limit ${SWEEP_AT_ONCE}`,
      [afterMs, waitedMs],
    );
    return rows.map(({ queued_ms, ...row }) => ({ ...row, queuedMs: Number(queued_ms) }));
  }

  async #giveBack(
    client: Parameters<Parameters<typeof inTransaction>[1]>[0],
    rows: readonly ExpiredRow[],
    describe: (row: ExpiredRow) => string,
  ): Promise<Swept> {
    const dispatch: Dispatch[] = [];
    for (const row of rows) {
      const crashes = row.progressed ? 1 : row.crashes + 1;
      const ended = endOf(row, crashes, describe(row));
      await client.query(
        `update ${this.#s}.run set state = $2::text, error = coalesce($3, error), crashes = $4, lease_until = null,
           enqueued = false, queued_at = clock_timestamp(), ended_at = case when $2::text <> 'queued' then clock_timestamp() end
         where id = $1`,
        [row.id, ended?.state ?? "queued", ended ? JSON.stringify(ended.error) : null, crashes],
      );
      if (!ended) dispatch.push(row);
      else dispatch.push(...(await this.#slots.release(client, row.tenant)));
    }
    return { changed: rows.map(({ id }) => id), dispatch };
  }
}

/** How a run ends after it lost another worker; `undefined` if it continues. */
function endOf(
  { cancel_reason: cancelled, max_crashes: most, worker }: ExpiredRow,
  crashes: number,
  reason: string,
): { readonly state: "cancelled" | "set_aside"; readonly error: RunError } | undefined {
  if (cancelled !== null) return { state: "cancelled", error: { code: "cancelled", message: cancelled } };
  if (crashes < most) return undefined;
  const message = `${crashes} workers were lost with it. The last: ${worker}: ${reason}`;
  return { state: "set_aside", error: { code: "set_aside", message } };
}
