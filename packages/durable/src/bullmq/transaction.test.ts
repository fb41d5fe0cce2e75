import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { POSTGRES_URL, query, withServers } from "../../test/servers.js";
import { inTransaction } from "./transaction.js";

// An `error` event without a listener ends the process.
test.skipIf(!withServers)("rejects if the connection is cut between two statements", async () => {
  const pool = new pg.Pool({ connectionString: POSTGRES_URL });
  onTestFinished(() => pool.end());
  const cut = inTransaction(pool, async (client) => {
    const { rows } = await client.query("select pg_backend_pid() as pid");
    const ended = new Promise((resolve) => client.once("end", resolve));
    await query(`select pg_terminate_backend(${rows[0].pid})`);
    await ended;
    await client.query("select 1");
  });
  await expect(cut).rejects.toThrow(/connection|not queryable/i);
  expect(await inTransaction(pool, async (client) => (await client.query("select 1 as n")).rows)).toEqual([
    { n: 1 },
  ]);
});
