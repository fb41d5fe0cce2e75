import type { PoolClient } from "pg";

/** A run that may go to the queue. */
export interface Dispatch {
  readonly id: string;
  readonly kind: string;
  readonly epoch: number;
  readonly turn: number;
}

/** The columns of a `Dispatch`. */
export const DISPATCH = "id, kind, epoch, turn::float8 as turn";

/** The queue slots of tenants with a limit, within a transaction: see `sqlFunctions`. */
export class Slots {
  readonly #schema: string;

  constructor(schema: string) {
    this.#schema = schema;
  }

  /** Takes a slot. Returns `false` if the run has to be parked. */
  async take(client: PoolClient, tenant: string): Promise<boolean> {
    const { rows } = await client.query(`select ${this.#schema}.take_slot($1) as taken`, [tenant]);
    return rows[0]?.taken === true;
  }

  /** Releases a slot, and returns the parked run that gets it, if any. */
  async release(client: PoolClient, tenant: string): Promise<readonly Dispatch[]> {
    return (await client.query<Dispatch>(`select * from ${this.#schema}.release_slot($1)`, [tenant])).rows;
  }

  /** Gives free slots to parked runs, in order. */
  async fill(client: PoolClient, tenant: string): Promise<readonly Dispatch[]> {
    return (await client.query<Dispatch>(`select * from ${this.#schema}.fill_slots($1)`, [tenant])).rows;
  }
}
