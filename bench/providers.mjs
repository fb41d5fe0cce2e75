// What a provider costs compared with a hand-written loop over the vendor's own SDK, on each wire; what installing and importing
// one costs. Run, after `pnpm build`: pnpm bench providers [rounds] [json|streaming|deltas|install|import …] [wire …],
// where a wire is one of "openai chat", "openai responses", anthropic and google.
//
// Each contestant runs in its own process, so that neither pays for what the other one left behind. In each round both
// are measured one right after the other, in turn first or second, over several conversations. What the engine compiles
// differs from process to process: so the rounds are shared out among several pairs of processes, and the figure is the
// median of the ratios of all rounds.
//
// The CPU time of a process includes the engine's threads, which compile its code while it runs. On Node 20 they need
// about 100 conversations of 50 turns; until then a turn takes longer, at first several times as long, for either contestant, and their
// ratio says which of them was compiled first. So turns are measured after that, and its own row shows the first
// conversations of a process.
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startContestant } from "./support/contestants.mjs";
import { comparePairs } from "./support/measure.mjs";
import { WIRES } from "./support/providersContestants.mjs";
import { createReport } from "./support/report.mjs";

const [rounds = "20", ...wanted] = process.argv.slice(2);
const ROUNDS = Number(rounds);
// Conversations of 50 turns, or of one answer in 2000 pieces: the first ones of a process, those until its code is compiled,
// and those that are measured together.
const FIRST = 10;
const WARM_UP = { turns: 110, deltas: 60 };
const TOGETHER = { turns: 20, deltas: 12 };
const PAIRS = 5;
const PACKAGES = ["core", "provider-anthropic"];

const server = fork(new URL("support/providersServer.mjs", import.meta.url));
const [port] = await once(server, "message");
const report = createReport(
  "providers",
  "Each provider compared with a hand-written loop over the vendor's own SDK",
);

const parts = {
  json: () => compare("CPU per turn, JSON", "turns", { stream: false }, "≤ 1.1"),
  streaming: () => compare("CPU per turn, streaming", "turns", { stream: true }, "≤ 1.1"),
  deltas: () => compare("CPU, 2000 streamed deltas", "deltas", { stream: true }, "≤ 0.6"),
  install: measureInstall,
  import: measureImport,
};
const wantedParts = wanted.filter((name) => name in parts);
const wantedWires = wanted.filter((name) => WIRES.includes(name));
for (const [name, run] of Object.entries(parts)) {
  if (wantedParts.length === 0 || wantedParts.includes(name)) await run();
}
server.disconnect();
report.save({ isPartial: wanted.length > 0 });

async function compare(title, conversation, { stream }, reach) {
  for (const wire of wantedWires.length > 0 ? wantedWires : WIRES) {
    const first = [];
    const values = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const measured = await measurePair(conversation, wire, { stream, isOursFirst: pair % 2 === 0 });
      first.push(measured.first);
      values.push(...measured.ratios);
    }
    report.add({ work: `${title}, ${wire}`, unit: "× by hand", reach, values });
    if (conversation !== "turns") continue;
    report.add({
      work: `${title}, ${wire}, the first ${FIRST} conversations of a process`,
      unit: "× by hand",
      values: first,
    });
  }
}

/** The ratios of CPU time of two fresh processes: of their first conversations, and of rounds after the warm-up. */
async function measurePair(conversation, wire, { stream, isOursFirst }) {
  const [byHand, ours] = ["byHand", "ours"].map((who) =>
    startContestant(who, new URL("support/providersWorker.mjs", import.meta.url), [
      `http://127.0.0.1:${port}/${conversation}`,
      wire,
      who,
    ]),
  );
  const cpuOf = async (contestant, times) => (await contestant.work({ stream, times })).cpu;
  const cold = new Map();
  for (const one of isOursFirst ? [ours, byHand] : [byHand, ours]) cold.set(one, await cpuOf(one, FIRST));
  await Promise.all([byHand, ours].map((one) => cpuOf(one, WARM_UP[conversation])));
  const { ratios } = await comparePairs({
    rounds: Math.ceil(ROUNDS / PAIRS),
    warmUp: 0,
    ours,
    theirs: byHand,
    measure: (one) => cpuOf(one, TOGETHER[conversation]),
  });
  for (const one of [byHand, ours]) one.stop();
  return { first: cold.get(ours) / cold.get(byHand), ratios };
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
