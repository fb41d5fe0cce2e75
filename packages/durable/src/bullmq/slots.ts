import type { PoolClient } from "pg";

/** A run that may go to the queue. */
export interface Dispatch {
  readonly id: string;
  readonly kind: string;
  readonly epoch: number;
  readonly turn: number;
}

const DISPATCH = "id, kind, epoch, turn::float8 as turn";

/**
 * The places a tenant with a limit has in the queue and with workers. Runs beyond it are parked: they are in no
 * queue, so however many there are, they cost nobody else anything.
 */
export class Slots {
  readonly #schema: string;

  constructor(schema: string) {
    this.#schema = schema;
  }

  /** Takes a place. Returns `false` if the run has to be parked. */
  async take(client: PoolClient, tenant: string): Promise<boolean> {
    const { rows } = await client.query(
      `select concurrency from ${this.#schema}.tenant where name = $1 and concurrency is not null for update`,
      [tenant],
    );
    if (rows.length === 0) return true;
    const { rowCount } = await client.query(
      `update ${this.#schema}.tenant set active = active + 1 where name = $1 and active < concurrency`,
      [tenant],
    );
    return rowCount === 1;
  }

  /** Gives a place back, and to whom it goes next. */
  async release(client: PoolClient, tenant: string): Promise<readonly Dispatch[]> {
    const { rowCount } = await client.query(
      `update ${this.#schema}.tenant set active = greatest(active - 1, 0) where name = $1 and concurrency is not null`,
      [tenant],
    );
    return rowCount === 1 ? await this.fill(client, tenant) : [];
  }

  /** Gives free places to parked runs, the first ones first. */
  async fill(client: PoolClient, tenant: string): Promise<readonly Dispatch[]> {
    const { rows: limits } = await client.query(
      `select greatest(concurrency - active, 0) as free from ${this.#schema}.tenant
       where name = $1 and concurrency is not null for update`,
      [tenant],
    );
    const free = limits[0]?.free ?? null;
    if (free === 0) return [];
    const { rows } = await client.query<Dispatch>(
      `update ${this.#schema}.run set parked = false, enqueued = false, queued_at = clock_timestamp()
       where id in (select id from ${this.#schema}.run where tenant = $1 and parked order by turn limit $2)
       returning ${DISPATCH}`,
      [tenant, free],
    );
    if (free !== null) {
      await client.query(`update ${this.#schema}.tenant set active = active + $2 where name = $1`, [
        tenant,
        rows.length,
      ]);
    }
    return rows;
  }
}
