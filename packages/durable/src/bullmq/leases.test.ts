import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { POSTGRES_URL, testSchema, withServers } from "../../test/servers.js";
import { Leases } from "./leases.js";
import { RunStore } from "./runStore.js";
import { migrate } from "./schema.js";

const CLAIMANT = { worker: "test", leaseMs: 60_000, maxCrashes: 5 };
const FIRST = 12;

async function setup() {
  const { schema } = await testSchema();
  const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 1 });
  onTestFinished(() => pool.end());
  await migrate(pool, schema);
  const store = new RunStore(pool, schema);
  const create = (id: string) =>
    store.create({
      id,
      definition: "d",
      version: "1",
      tenant: "t",
      labels: [],
      priority: 0,
      input: null,
    });
  return { schema, pool, store, create, leases: new Leases(pool, schema) };
}

describe.skipIf(!withServers)("claims", () => {
  test("look a run up by its id, also with a plan that was made while the queue was short", async () => {
    const { schema, pool, store, create, leases } = await setup();
    for (let index = 0; index < FIRST; index++) {
      await create(`first${index}`);
      expect((await leases.claim(`first${index}`, CLAIMANT))?.epoch).toBe(1);
      const ended = await store.end(`first${index}`, 1, {
        state: "done",
        result: { text: "", finishReason: "stop", turns: 1 },
      });
      expect(ended.applied).toBe(true);
    }
    const plan = await pool.query(`explain execute "claim-${schema}" ('next', 'test', 1000, 5)`);
    const text = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(new Set(text.match(/(?<=using )run_\w+/g)), text).toEqual(new Set(["run_pkey"]));
  });

  test("are refused for a run that is claimed, parked, finished or unknown", async () => {
    const { schema, pool, create, leases } = await setup();
    for (const id of ["claimed", "parked", "ended"]) await create(id);
    await leases.claim("claimed", CLAIMANT);
    await pool.query(`update ${schema}.run set parked = true where id = 'parked'`);
    await pool.query(`update ${schema}.run set state = 'done' where id = 'ended'`);
    for (const id of ["claimed", "parked", "ended", "unknown"]) {
      expect(await leases.claim(id, CLAIMANT), id).toBeUndefined();
    }
  });

  test("succeed once for two simultaneous claims of one run", async () => {
    const { schema, create } = await setup();
    const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 8 });
    onTestFinished(() => pool.end());
    const leases = new Leases(pool, schema);
    for (let round = 0; round < 20; round++) {
      await create(`run${round}`);
      const claims = await Promise.all(
        Array.from({ length: 8 }, () => leases.claim(`run${round}`, CLAIMANT)),
      );
      expect(claims.filter((row) => row !== undefined)).toHaveLength(1);
    }
  });
});
