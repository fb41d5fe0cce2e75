import type { Pool } from "pg";
import type { WorkerInfo } from "../engine/engine.js";

// A worker sends three heartbeats per lease.
const LEASES = 2;
const FORGET_AFTER = "1 day";

interface Row {
  readonly info: string;
  readonly runs: number;
}

/** The known workers, by the clock of the database. */
export class Workers {
  readonly #pool: Pool;
  readonly #s: string;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
  }

  /** Sends a heartbeat. */
  async seen(info: Omit<WorkerInfo, "runs">, leaseMs: number): Promise<void> {
    await this.#pool.query(
      `with forgotten as (delete from ${this.#s}.worker where seen_at < clock_timestamp() - interval '${FORGET_AFTER}')
       insert into ${this.#s}.worker (name, info, lease_ms, seen_at) values ($1, $2, $3, clock_timestamp())
       on conflict (name) do update set seen_at = clock_timestamp()`,
      [info.name, JSON.stringify(info), Math.ceil(leaseMs)],
    );
  }

  async gone(name: string): Promise<void> {
    await this.#pool.query(`delete from ${this.#s}.worker where name = $1`, [name]);
  }

  async list(): Promise<readonly WorkerInfo[]> {
    const { rows } = await this.#pool.query<Row>(
      `select info, (select count(*)::int from ${this.#s}.run where state = 'running' and run.worker = worker.name) as runs
       from ${this.#s}.worker where seen_at > clock_timestamp() - ${LEASES} * lease_ms * interval '1 ms' order by name`,
    );
    return rows.map(({ info, runs }) => ({ ...JSON.parse(info), runs }));
  }
}
