// What run_bash costs, side by side with a bare spawn in the same run: node bench/bash.mjs
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const entry = new URL("../packages/tools-bash/dist/index.js", import.meta.url);
const { RunBashTool } = await import(entry.href);
const tool = new RunBashTool();

// One signal for all, as an agent has one for a turn.
const call = { signal: new AbortController().signal, onOutput() {}, report() {} };
const runTool = (command, timeout = 120_000) => tool.execute({ command, timeout }, call);

function bareSpawn(command, onData = () => {}) {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", onData);
    child.stderr.on("data", onData);
    child.on("error", reject).on("close", resolve);
  });
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Runs both works in turn, so that noise hits both alike, and compares the medians. */
async function compare(rounds, ours, bare) {
  const times = { ours: [], bare: [] };
  await ours();
  await bare();
  for (let round = 0; round < rounds; round++) {
    times.ours.push(await timed(ours));
    times.bare.push(await timed(bare));
  }
  return { ours: median(times.ours), bare: median(times.bare) };
}

const rows = [];
function row(work, reach, figure, detail) {
  rows.push(`| ${work} | ${reach} | ${figure} | ${detail} |`);
  console.log(`${work}: ${figure} (${detail}; reach ${reach})`);
}
const ms = (value) => `${value.toFixed(1)} ms`;
const ratio = ({ ours, bare }) => `${(ours / bare).toFixed(2)} ×`;

// One line is checked by the shell in the run itself; several lines are checked by a shell of their own first.
const plain = await compare(
  300,
  () => runTool('echo "hello"'),
  () => bareSpawn('echo "hello"'),
);
row(
  "trivial command of one line",
  "≤ 1.3 × bare spawn",
  ratio(plain),
  `${ms(plain.ours)} against ${ms(plain.bare)}`,
);
const lines = 'echo "hello"\necho "again"';
const checked = await compare(
  300,
  () => runTool(lines),
  () => bareSpawn(lines),
);
row(
  "two lines, with the syntax check before them",
  "≤ 2.2 × bare spawn",
  ratio(checked),
  `${ms(checked.ours)} against ${ms(checked.bare)}`,
);

const fifty = (one) => () => Promise.all(Array.from({ length: 50 }, () => one("echo hello")));
const many = await compare(15, fifty(runTool), fifty(bareSpawn));
row(
  "50 commands at once",
  "≤ 1.3 × 50 bare spawns",
  ratio(many),
  `${ms(many.ours)} against ${ms(many.bare)}`,
);

const flood = "head -c 400000000 /dev/zero";
let grown = 0;
const big = await compare(
  5,
  async () => {
    const before = process.memoryUsage.rss();
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10);
    await runTool(flood);
    clearInterval(timer);
    grown = Math.max(grown, most - before);
  },
  () => bareSpawn(flood),
);
row(
  "400 MB of output, complete in a file",
  "≥ 0.7 × the speed of draining a bare pipe",
  `${(big.bare / big.ours).toFixed(2)} ×`,
  `${ms(big.ours)} against ${ms(big.bare)}`,
);
row("memory growth meanwhile", "≤ 64 MB", `${(grown / 1e6).toFixed(0)} MB`, "largest of 5 runs");

const late = [];
for (let round = 0; round < 10; round++) late.push((await timed(() => runTool("sleep 60", 200))) - 200);
row(
  "settles after the deadline when TERM is obeyed",
  "≤ 300 ms",
  ms(median(late)),
  `largest of 10: ${ms(Math.max(...late))}`,
);

// Each import in a fresh process that measures it itself: starting node varies more than the import takes.
const importTime = (target) =>
  Number(
    execFileSync(process.execPath, [
      "--input-type=module",
      "-e",
      `const t = performance.now(); await import(${JSON.stringify(target)}); process.stdout.write(String(performance.now() - t))`,
    ]),
  );
// A bare node loads a module too, an empty one: what the loader itself takes is not the pack's.
const directory = mkdtempSync(join(tmpdir(), "bench-bash-"));
const empty = join(directory, "empty.mjs");
writeFileSync(empty, "");
const imports = { ours: [], bare: [] };
for (let round = 0; round < 25; round++) {
  imports.ours.push(importTime(entry.href));
  imports.bare.push(importTime(pathToFileURL(empty).href));
}
rmSync(directory, { recursive: true });
row(
  "import, on top of a bare node that loads an empty module",
  "≤ 10 ms",
  ms(Math.min(...imports.ours) - Math.min(...imports.bare)),
  `fastest of 25: ${ms(Math.min(...imports.ours))} against ${ms(Math.min(...imports.bare))}; medians ${ms(median(imports.ours))} against ${ms(median(imports.bare))}`,
);

console.log(`\n| work | reach | measured | detail |\n|---|---|---|---|\n${rows.join("\n")}`);
