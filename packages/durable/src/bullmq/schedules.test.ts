import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { POSTGRES_URL, testSchema, withServers } from "../../test/servers.js";
import { Schedules } from "./bullmqEngine.js";
import { migrate } from "./schema.js";

describe.skipIf(!withServers)("schedules", () => {
  test("keeps what another process sets while the next time is written", async () => {
    const { schema } = await testSchema();
    const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 4 });
    onTestFinished(() => pool.end());
    await migrate(pool, schema);
    const schedules = new Schedules(pool, schema);
    const run = { definition: "d", version: "1", tenant: "t", labels: [], priority: 0, input: null };
    const old = { id: "daily", cron: "0 9 * * *", overlap: "skip", run, nextAt: 1000 } as const;
    await schedules.set(old);
    const other = await pool.connect();
    await other.query("begin");
    const body = JSON.stringify({ ...old, overlap: "allow" });
    await other.query(`update ${schema}.schedule set body = $1 where id = 'daily'`, [body]);
    const advancing = schedules.advance("daily", 1000, { nextAt: 2000 });
    // It waits for the lock on the row.
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%${schema}.schedule%'`;
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
    await other.query("commit");
    other.release();
    expect(await advancing).toBe(true);
    expect(await schedules.list()).toEqual([{ ...old, overlap: "allow", nextAt: 2000 }]);
    expect(await schedules.advance("daily", 1000, { nextAt: 3000 })).toBe(false);
  });
});
