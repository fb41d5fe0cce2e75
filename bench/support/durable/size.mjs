// What a run leaves in the database, and how many connections its workers hold.
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { startRun } from "../../../packages/durable/dist/index.js";
import { BENCH, openEngine } from "./runs.mjs";
import { end, spawnWorker } from "./workers.mjs";

const RUNS = 300;
const TURNS = 10;
const RESULT_BYTES = 2000;
const WORKERS = 2;

/** Runs of ten turns whose calls return 2 KB each. */
export async function size({ report, servers, stores }) {
  const [, { who, address }] = stores();
  const { schema } = JSON.parse(address);
  const query = (text) =>
    Number(execFileSync("psql", ["-qAt", "-c", text, servers.postgres], { encoding: "utf8" }));
  const engine = await openEngine(address);
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, () => spawnWorker(address, { concurrency: 8 })),
  );
  const input = { turns: TURNS, resultBytes: RESULT_BYTES };
  await Promise.all(Array.from({ length: RUNS }, () => startRun(engine, BENCH, input)));
  while ((await engine.count()).done < RUNS) await sleep(20);
  await engine.close();
  const connections = query("select count(*) from pg_stat_activity where application_name = 'agent-runs'");
  await end(workers);
  for (const [table, what] of [
    ["step", "journal"],
    ["event", "event log"],
    ["run", "row"],
  ]) {
    // Exclude dead rows that updates left behind: later runs reuse their space.
    execFileSync("psql", ["-q", "-c", `vacuum full ${schema}.${table}`, servers.postgres]);
    report.add({
      work: `${what} of a run of ${TURNS} turns, results of ${RESULT_BYTES} bytes`,
      who,
      unit: "KB",
      values: [query(`select pg_total_relation_size('${schema}.${table}')`) / RUNS / 1000],
    });
  }
  report.add({
    work: "connections of a worker process with 8 runs at a time",
    who,
    unit: "connections",
    values: [connections / WORKERS],
  });
}
