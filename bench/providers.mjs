// What a provider costs beside a hand-written loop over the vendor's own SDK, on each wire; what installing and importing
// one costs. Run, after `pnpm build`: pnpm bench providers [rounds] [json|streaming|deltas|install|import …]
// Each contestant runs in a process of its own, so that neither pays for what the other one left behind. In each round both
// are measured one right after the other, in turn first or second, over several conversations. What the engine compiles,
// and when, differs from process to process: so the rounds are shared out among several pairs of processes, and the figure
// is the median of the ratios of all rounds.
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { WIRES } from "./support/providersContestants.mjs";
import { createReport } from "./support/report.mjs";

const [rounds = "15", ...wanted] = process.argv.slice(2);
const ROUNDS = Number(rounds);
// Conversations before the first measurement, until their code is compiled, and those that are measured together:
// conversations of 50 turns, or of one answer in 2000 pieces.
const WARM_UP = { turns: 40, deltas: 60 };
const TOGETHER = { turns: 4, deltas: 12 };
const PAIRS = 3;
const PACKAGES = ["core", "provider-anthropic"];

const server = fork(new URL("support/providersServer.mjs", import.meta.url));
const [port] = await once(server, "message");
const report = createReport(
  "providers",
  "Each provider beside a hand-written loop over the vendor's own SDK",
);

const parts = {
  json: () => compare("CPU per turn, JSON", "turns", { stream: false }, "≤ 1.1"),
  streaming: () => compare("CPU per turn, streaming", "turns", { stream: true }, "≤ 1.1"),
  deltas: () => compare("CPU, 2000 streamed deltas", "deltas", { stream: true }, "≤ 0.6"),
  install: measureInstall,
  import: measureImport,
};
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await run();
}
server.disconnect();
report.save({ isPartial: wanted.length > 0 });

async function compare(title, conversation, { stream }, reach) {
  for (const wire of WIRES) {
    const values = [];
    for (let pair = 0; pair < PAIRS; pair++) values.push(...(await ratiosOfPair(conversation, wire, stream)));
    report.add({ work: `${title}, ${wire}`, unit: "× by hand", reach, values });
  }
}

async function ratiosOfPair(conversation, wire, stream) {
  const [byHand, ours] = ["byHand", "ours"].map((who) => startWorker(conversation, wire, who));
  for (const worker of [byHand, ours]) await cpuOf(worker, { stream, times: WARM_UP[conversation] });
  const ratios = [];
  for (let round = 0; round < Math.ceil(ROUNDS / PAIRS); round++) {
    const cpu = new Map();
    for (const worker of round % 2 === 0 ? [byHand, ours] : [ours, byHand]) {
      cpu.set(worker, await cpuOf(worker, { stream, times: TOGETHER[conversation] }));
    }
    ratios.push(cpu.get(ours) / cpu.get(byHand));
  }
  for (const worker of [byHand, ours]) worker.disconnect();
  return ratios;
}

function startWorker(conversation, wire, who) {
  const baseURL = `http://127.0.0.1:${port}/${conversation}`;
  const worker = fork(new URL("support/providersWorker.mjs", import.meta.url), [baseURL, wire, who]);
  worker.on("exit", (code) => {
    if (code !== 0) process.exit(1);
  });
  return worker;
}

async function cpuOf(worker, work) {
  worker.send(work);
  const [microseconds] = await once(worker, "message");
  return microseconds;
}

/** What npm would unpack: the core and one provider are all there is. */
function measureInstall() {
  const sizes = PACKAGES.map((name) => {
    const cwd = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url));
    const [packed] = JSON.parse(
      execFileSync("npm", ["pack", "--dry-run", "--json"], {
        cwd,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }),
    );
    return packed.unpackedSize;
  });
  const megabytes = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
  report.add({ work: "installing core and Anthropic", unit: "MB", reach: "≤ 2", values: [megabytes] });
  report.add({
    work: "installing core and Anthropic",
    unit: "packages",
    who: "count",
    values: [PACKAGES.length],
  });
}

/**
 * The CPU time that importing adds to a node process that imports a built-in module. The minimum of all runs, since what
 * else the machine does only adds to it.
 */
function measureImport() {
  const files = PACKAGES.map((name) => new URL(`../packages/${name}/dist/index.js`, import.meta.url).href);
  const bare = [];
  const ours = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(cpuOfImport(["node:fs"]));
    ours.push(cpuOfImport(["node:fs", ...files]));
  }
  report.add({
    work: "importing core and Anthropic",
    unit: "ms CPU",
    reach: "≤ 15",
    values: [Math.min(...ours) - Math.min(...bare)],
    note: `the least of ${ROUNDS} runs`,
  });
}

function cpuOfImport(modules) {
  const script = `const before = process.cpuUsage();
    await Promise.all(${JSON.stringify(modules)}.map((module) => import(module)));
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }));
}
