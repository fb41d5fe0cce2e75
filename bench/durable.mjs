// The cost of a journal, and how soon a run continues. Run, after `pnpm build`: pnpm bench durable [part…]
//   --rounds 15 --queued 100000 --waiting 10000 --runs 1000 --kills 220 --finished 50000 --page 1000000 Postgres and
//   Redis are started by this program; they need Debian's packages postgresql and redis-server. Takes many minutes as a
//   whole; name a part to run it alone. The parts claim and kills are the long ones.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startServers } from "../packages/durable/test/fixtures/databases.mjs";
import { finished } from "./support/durable/finished.mjs";
import { fairness, outages } from "./support/durable/outages.mjs";
import { langgraph, overhead } from "./support/durable/overhead.mjs";
import { page } from "./support/durable/page.mjs";
import { cancel, events, takeOver } from "./support/durable/reactions.mjs";
import { size } from "./support/durable/size.mjs";
import { claim, scaling, throughput } from "./support/durable/speed.mjs";
import { approvals, kills } from "./support/durable/survival.mjs";
import { createReport } from "./support/report.mjs";

const PARTS = {
  overhead,
  langgraph,
  throughput,
  scaling,
  events,
  cancel,
  takeOver,
  size,
  approvals,
  claim,
  kills,
  outages,
  fairness,
  finished,
  page,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "15" },
    queued: { type: "string", default: "100000" },
    waiting: { type: "string", default: "10000" },
    runs: { type: "string", default: "1000" },
    kills: { type: "string", default: "220" },
    finished: { type: "string", default: "50000" },
    page: { type: "string", default: "1000000" },
  },
});
const unknown = positionals.find((name) => !Object.hasOwn(PARTS, name));
if (unknown !== undefined) {
  console.error(`There is no part "${unknown}". Parts: ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}
const sizes = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
const wanted = positionals.length > 0 ? positionals : Object.keys(PARTS);

// Ends what was started: see `startServers`, and workers end with this process.
for (const [signal, number] of [
  ["SIGINT", 2],
  ["SIGTERM", 15],
  ["SIGHUP", 1],
]) {
  process.once(signal, () => process.exit(128 + number));
}
const report = createReport("durable", "Runs that survive, compared with the agent alone and LangGraph");
const servers = await startServers();
const folder = mkdtempSync(join(tmpdir(), "agent-bench-runs-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let number = 0;
/** The two engines, each with its own empty store. */
const stores = () => [
  { who: "@agent/durable, files", isFiles: true, address: `files:${join(folder, String(number++))}` },
  {
    who: "@agent/durable, BullMQ and Postgres",
    isFiles: false,
    address: JSON.stringify({
      postgres: servers.postgres,
      redis: servers.redis,
      schema: `bench_${number++}`,
    }),
  },
];
try {
  for (const name of wanted) await PARTS[name]({ report, servers, stores, sizes });
  report.save({ isPartial: positionals.length > 0 });
} finally {
  await servers.stop();
}
