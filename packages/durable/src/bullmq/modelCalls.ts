import type { Pool } from "pg";

// Cache the absence of a limit: most tenants have none, so calls need no query.
const REMEMBER_MS = 1000;

/** The model calls of tenants: a token bucket in the database, filled by its clock. */
export class ModelCalls {
  readonly #pool: Pool;
  readonly #s: string;
  readonly #unlimited = new Map<string, number>();

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
  }

  forget(tenant: string): void {
    this.#unlimited.delete(tenant);
  }

  /** Takes one call. Resolves to 0, or to how long to wait before trying again. */
  async take(tenant: string): Promise<number> {
    if ((this.#unlimited.get(tenant) ?? -Infinity) > performance.now() - REMEMBER_MS) return 0;
    const { rows } = await this.#pool.query(
      `with now as (select calls_per_minute as rate, least(calls_per_minute, tokens
           + greatest(0, extract(epoch from clock_timestamp() - tokens_at)) * calls_per_minute / 60) as filled
         from ${this.#s}.tenant where name = $1 and calls_per_minute is not null for update),
       taken as (update ${this.#s}.tenant set tokens_at = clock_timestamp(),
           tokens = case when now.filled >= 1 then now.filled - 1 else now.filled end from now where name = $1)
       select rate, filled::float8 as filled from now`,
      [tenant],
    );
    const [row] = rows;
    if (!row) {
      this.#unlimited.set(tenant, performance.now());
      return 0;
    }
    return row.filled >= 1 ? 0 : Math.ceil(((1 - row.filled) * 60_000) / row.rate);
  }
}
