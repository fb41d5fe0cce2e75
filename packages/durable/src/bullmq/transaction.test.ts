import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { startProxy } from "../../test/proxy.js";
import { POSTGRES_URL, query, withServers } from "../../test/servers.js";
import { clientConfig } from "./bullmqEngine.js";
import { inTransaction } from "./transaction.js";

function openPool(address: string): pg.Pool {
  const pool = new pg.Pool({ ...clientConfig(address, 30_000), max: 1 });
  onTestFinished(() => pool.end());
  return pool;
}

/** The transaction was cut, and the pool gives the next one another connection. */
async function expectCut(cut: Promise<unknown>, pool: pg.Pool): Promise<void> {
  await expect(cut).rejects.toThrow(/connection|not queryable/i);
  expect(await inTransaction(pool, async (client) => (await client.query("select 1 as n")).rows)).toEqual([
    { n: 1 },
  ]);
}

// An `error` event without a listener ends the process.
describe.skipIf(!withServers)("a transaction whose connection is cut", () => {
  test("rejects if that happens between two statements", async () => {
    const pool = openPool(POSTGRES_URL);
    const cut = inTransaction(pool, async (client) => {
      const { rows } = await client.query("select pg_backend_pid() as pid");
      const ended = new Promise((resolve) => client.once("end", resolve));
      await query(`select pg_terminate_backend(${rows[0].pid})`);
      await ended;
      await client.query("select 1");
    });
    await expectCut(cut, pool);
  });

  test("rejects if that happens before its first statement, in the moment in which the pool passes it on", async () => {
    let isArmed = false;
    const address = await startProxy(POSTGRES_URL, (near, dial) => {
      const far = dial();
      near.pipe(far);
      far.once("close", () => near.end());
      far.on("data", (answer: Buffer) => {
        if (!isArmed) {
          near.write(answer);
          return;
        }
        isArmed = false;
        // Both in one write, so that the program cannot react in between.
        near.end(Buffer.concat([answer, END_OF_SESSION]));
        far.destroy();
      });
    });
    const pool = openPool(address);
    await pool.query("select 1");
    isArmed = true;
    const [before, cut] = [pool.query("select 2"), inTransaction(pool, (client) => client.query("select 3"))];
    await Promise.all([before, expectCut(cut, pool)]);
  });
});

const FIELDS = "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
/** The message with which Postgres ends a session: its type, its length, its fields. */
const END_OF_SESSION = Buffer.concat([Buffer.from([0x45, 0, 0, 0, 4 + FIELDS.length]), Buffer.from(FIELDS)]);
