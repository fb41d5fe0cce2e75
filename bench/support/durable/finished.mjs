// Whether runs that have ended slow down what is done afterwards: opening a directory of runs, and the plots of the page.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openEngine } from "./runs.mjs";

const FEW = 1000;
const MINUTE_MS = 60_000;
const ROUNDS = 7;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** So many ended within the last hour, however many there are. */
const RECENT = 500;

/** A log as workers write it. */
function writeLog(directory, runs) {
  mkdirSync(directory, { recursive: true });
  const lines = [{ op: "format", version: 1 }];
  for (let number = 0; number < runs; number++) {
    const at = Date.now() - (number < runs - RECENT ? DAY_MS : 30 * MINUTE_MS);
    const id = `run-${number}`;
    const run = {
      id,
      definition: "bench",
      version: "1",
      tenant: `t${number % 20}`,
      labels: [],
      priority: 0,
      title: "Run the checks and fix what fails",
    };
    lines.push(
      { op: "create", at, run, mark: "m" },
      { op: "claim", at: at + 10, id, epoch: 1, worker: "worker 1.2.3", mark: "m" },
      {
        op: "end",
        at: at + number,
        id,
        epoch: 1,
        state: "done",
        usage: { inputTokens: 900, outputTokens: 80 },
        cost: 0.01,
        mark: "m",
      },
    );
  }
  writeFileSync(join(directory, "log.1.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

function insertRows(servers, schema, runs) {
  const sql = `insert into ${schema}.run (id, format, definition, version, tenant, labels, priority, kind, title, input, state, epoch, turn, created_at, started_at, ended_at, cost)
    select 'run-' || n, 1, 'bench', '1', 't' || n % 20, '{}', 0, 'bench', 'Run the checks', '{}', 'done', 1, n,
      at, at + interval '1 min', at + interval '2 min', 0.01
    from (select n, now() - case when n <= ${runs - RECENT} then interval '1 day' else interval '30 min' end as at
      from generate_series(1, ${runs}) as n) as runs; analyze ${schema}.run`;
  execFileSync("psql", ["-q", "-c", sql, servers.postgres]);
}

async function sample(work) {
  const values = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = performance.now();
    await work();
    values.push(performance.now() - before);
  }
  return values;
}

export async function finished({ report, servers, stores, sizes }) {
  for (const { who, isFiles } of stores()) {
    for (const runs of [FEW, sizes.finished]) {
      const [files, bullmq] = stores();
      const { address } = isFiles ? files : bullmq;
      if (isFiles) writeLog(address.slice("files:".length), runs);
      const engine = await openEngine(address);
      // The first change after a long log has it rewritten. That of few runs is short, so it is read as it is.
      if (isFiles) await engine.setLimits("t1", {});
      else insertRows(servers, JSON.parse(address).schema, runs);
      const plots = await sample(() => engine.activity(Date.now() - 60 * MINUTE_MS, MINUTE_MS));
      await engine.close();
      const opening = await sample(async () => await (await openEngine(address)).close());
      const add = (work, values) =>
        report.add({ work: `${work}, ${runs} runs have ended`, who, unit: "ms", values });
      add("opening a store", opening);
      add("the plots of an hour", plots);
    }
  }
}
