// The cost of run_bash compared with a bare spawn in the same run: pnpm bench bash
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { comparePairs, wallTime } from "./support/measure.mjs";
import { createReport } from "./support/report.mjs";

const entry = new URL("../packages/tools-bash/dist/index.js", import.meta.url);
const { runBashTool } = await import(entry.href);
const tool = runBashTool();

// All runs share one AbortSignal, as all calls of an agent's turn do.
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

const report = createReport("bash", "run_bash compared with a bare spawn");

async function addRatio({ work, reach, rounds, ours, theirs }) {
  const { ratios } = await comparePairs({ rounds, ours, theirs });
  report.add({ work, unit: "× bare spawn", reach, values: ratios });
}

// The shell checks one line in the run itself; several lines are checked by a separate shell first.
const one = 'echo "hello"';
await addRatio({
  work: "trivial command of one line",
  reach: "≤ 1.3",
  rounds: 300,
  ours: () => runTool(one),
  theirs: () => bareSpawn(one),
});
const two = 'echo "hello"\necho "again"';
await addRatio({
  work: "two lines, with the syntax check before them",
  reach: "≤ 2.2",
  rounds: 300,
  ours: () => runTool(two),
  theirs: () => bareSpawn(two),
});

const fifty = (run) => () => Promise.all(Array.from({ length: 50 }, () => run("echo hello")));
await addRatio({
  work: "50 commands at the same time",
  reach: "≤ 1.3",
  rounds: 15,
  ours: fifty(runTool),
  theirs: fifty(bareSpawn),
});

const flood = "head -c 400000000 /dev/zero";
const grown = [];
const { ratios } = await comparePairs({
  rounds: 5,
  ours: async () => {
    const before = process.memoryUsage.rss();
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10);
    await runTool(flood);
    clearInterval(timer);
    grown.push((most - before) / 1e6);
  },
  theirs: () => bareSpawn(flood),
});
report.add({
  work: "400 MB of output, complete in a file: speed",
  unit: "× draining a bare pipe",
  reach: "≥ 0.7",
  values: ratios.map((ratio) => 1 / ratio),
});
report.add({
  work: "memory growth meanwhile, largest",
  unit: "MB",
  reach: "≤ 64",
  values: [Math.max(...grown)],
});

const late = [];
for (let round = 0; round < 10; round++) late.push((await wallTime(() => runTool("sleep 60", 200))) - 200);
report.add({
  work: "returns after the deadline when the command handles SIGTERM",
  unit: "ms",
  reach: "≤ 300",
  values: late,
});

// Each import in a fresh process that measures it itself: starting node varies more than the import takes.
const importTime = (target) =>
  Number(
    execFileSync(process.execPath, [
      "--input-type=module",
      "-e",
      `const t = performance.now(); await import(${JSON.stringify(target)}); process.stdout.write(String(performance.now() - t))`,
    ]),
  );
// The comparison loads an empty module, so that the cost of Node's loader is not counted.
const directory = mkdtempSync(join(tmpdir(), "bench-bash-"));
const empty = join(directory, "empty.mjs");
writeFileSync(empty, "");
const imports = Array.from(
  { length: 25 },
  () => importTime(entry.href) - importTime(pathToFileURL(empty).href),
);
rmSync(directory, { recursive: true });
report.add({ work: "import over an empty module", unit: "ms", reach: "≤ 10", values: imports });
report.save();
