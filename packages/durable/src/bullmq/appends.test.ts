import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { POSTGRES_URL, query, testSchema, withServers } from "../../test/servers.js";
import { Appends } from "./appends.js";
import { migrate } from "./schema.js";

/** A schema with running runs of these ids, in their first epoch. */
async function setup(ids: readonly string[], max = 2) {
  const { schema } = await testSchema();
  const pool = new pg.Pool({ connectionString: POSTGRES_URL, max });
  onTestFinished(() => pool.end());
  await migrate(pool, schema);
  for (const id of ids) {
    await pool.query(
      `insert into ${schema}.run (id, format, definition, version, tenant, labels, priority, kind, input, state, epoch, turn)
       values ($1, 1, 'd', '1', 't', '{}', 0, 'd', 'null', 'running', 1, 1)`,
      [id],
    );
  }
  return { schema, pool, appends: new Appends(pool, schema) };
}

const entry = (key: string) => [{ key, kind: "result" as const, value: key }];

describe.skipIf(!withServers)("writes of many runs in few statements", () => {
  test("apply to the claims that own their runs, and to no other", async () => {
    const { schema, appends } = await setup(["a", "b", "c"]);
    const held = await Promise.all([
      appends.append("a", 1, entry("first"), []),
      appends.append("b", 1, entry("b"), []),
      appends.append("c", 2, entry("of a claim to come"), []),
      appends.append("c", 0, entry("of a claim that is over"), [{ type: "text", text: "late" }]),
      appends.append("unknown", 1, entry("of nothing"), []),
      appends.append("c", 1, entry("c"), [{ type: "text", text: "in time" }]),
      appends.append("a", 1, entry("second"), []),
    ]);
    expect(held.map((server) => server !== undefined)).toEqual([true, true, false, false, false, true, true]);
    const steps = await query(`select run_id, key from ${schema}.step order by run_id, seq`);
    expect(steps.map(({ run_id, key }) => `${run_id} ${key}`)).toEqual(["a first", "a second", "b b", "c c"]);
    const events = await query(`select run_id, body from ${schema}.event`);
    expect(events).toEqual([{ run_id: "c", body: '{"type":"text","text":"in time"}' }]);
  });

  test("fail alone if the server refuses one", async () => {
    const { schema, appends } = await setup(["a", "b", "c", "d"]);
    const written = await Promise.allSettled([
      appends.append("a", 1, entry("a"), []),
      appends.append("d", 1, entry("d"), []),
      appends.append("b", 1, entry("a key may hold no \0"), []),
      appends.append("c", 1, entry("c"), []),
    ]);
    expect(written.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    const steps = await query(`select run_id from ${schema}.step order by run_id`);
    expect(steps.map(({ run_id }) => run_id)).toEqual(["a", "c", "d"]);
  });

  test("are planned once, and find their runs by the primary key", async () => {
    const { schema, appends, pool } = await setup(["a", "b", "c"], 1);
    for (let size = 1; size <= 12; size++) {
      const ids = ["a", "b", "c"].slice(0, 1 + (size % 3));
      await Promise.all(ids.map((id) => appends.append(id, 1, entry(`${id} ${size}`), [])));
    }
    const name = `append-${schema}`;
    const { rows } = await pool.query(
      `select custom_plans::int as custom, generic_plans::int as generic from pg_prepared_statements where name = '${name}'`,
    );
    // The server tries five plans for the values at hand before it keeps the one for any values.
    expect(rows).toEqual([{ custom: 5, generic: expect.any(Number) }]);
    expect(rows[0].generic).toBeGreaterThan(0);
    const values = `'{a}', '{1}', '{0}', '{k}', '{result}', '{v}', '{}', '{}', true`;
    const plan = await pool.query(`explain execute "${name}" (${values})`);
    const text = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(text.match(/(?<=using )run_\w+/g)).toEqual(["run_pkey"]);
  });
});
