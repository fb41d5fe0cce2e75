import type { Pool } from "pg";
import type { Schedule } from "../engine/schedule.js";
import { inTransaction } from "./transaction.js";

/** Schedules in the database. */
export class Schedules {
  readonly #pool: Pool;
  readonly #s: string;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
  }

  async set(schedule: Schedule): Promise<void> {
    await this.#pool.query(
      `insert into ${this.#s}.schedule (id, next_at, body) values ($1, $2, $3)
       on conflict (id) do update set next_at = $2, body = $3`,
      [schedule.id, schedule.nextAt, JSON.stringify(schedule)],
    );
  }

  async remove(id: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(`delete from ${this.#s}.schedule where id = $1`, [id]);
    return rowCount === 1;
  }

  async list(): Promise<readonly Schedule[]> {
    const { rows } = await this.#pool.query<{ body: string }>(
      `select body from ${this.#s}.schedule order by id collate "C"`,
    );
    return rows.map(({ body }) => JSON.parse(body));
  }

  async advance(id: string, from: number, next: Pick<Schedule, "nextAt" | "last">): Promise<boolean> {
    // The row is locked: what another process sets meanwhile must not be replaced by what was read before.
    return await inTransaction(this.#pool, async (client) => {
      const { rows } = await client.query<{ body: string }>(
        `select body from ${this.#s}.schedule where id = $1 and next_at = $2 for update`,
        [id, from],
      );
      const [found] = rows;
      if (!found) return false;
      await client.query(`update ${this.#s}.schedule set next_at = $2, body = $3 where id = $1`, [
        id,
        next.nextAt,
        JSON.stringify({ ...JSON.parse(found.body), ...next }),
      ]);
      return true;
    });
  }
}
