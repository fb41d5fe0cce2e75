// What @agent/core costs beside a hand-written loop over `openai`. Run, after `pnpm build` and `npm install` in
// bench/: node bench/core.mjs [rounds]
// Everything is measured side by side in one run: each round runs every contestant once, in changing order, and
// the figure is the median over all rounds of (contestant / hand-written loop) within the same round.
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { contestants } from "./coreContestants.mjs";

const ROUNDS = Number(process.argv[2] ?? 21);
const WARM_UP = 10;
const TURNS = 50;
const BASELINE = "hand-written loop over openai";
const CORE = fileURLToPath(new URL("../packages/core/", import.meta.url));

// openai's runTools adds a listener to one signal in every turn, and Node warns about it each time.
process.removeAllListeners("warning");

const server = fork(new URL("coreServer.mjs", import.meta.url));
const [port] = await once(server, "message");
const at = (conversation) => `http://127.0.0.1:${port}/${conversation}/v1`;

const small = async ({ path, limit }) => `${path}: ${limit} lines`;
const FILLER = "x".repeat(4096);
const large = async ({ path }) => `${path}\n${FILLER}`;

console.log(`Node ${process.version}, ${ROUNDS} rounds, medians of ratios within a round\n`);
await compareCpu("CPU per turn, JSON", "turns", small, { stream: false, reach: 1.1 });
await compareCpu("CPU per turn, streaming", "turns", small, { stream: true, reach: 1.1 });
await compareCpu("CPU per turn, JSON, 4 KB results", "turns", large, { stream: false, reach: 1.1 });
await compareCpu("CPU per turn, streaming, 4 KB results", "turns", large, { stream: true, reach: 1.1 });
await compareCpu("CPU, 2000 streamed deltas", "deltas", small, { stream: true, reach: 1.05 });
await compareImports();
comparePackages();
await measureParallel();
server.disconnect();

async function compareCpu(title, conversation, tool, { stream, reach }) {
  const entries = Object.entries(await contestants(at(conversation), tool));
  const used = new Map(entries.map(([name]) => [name, []]));
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const turn = (round + WARM_UP) % entries.length;
    for (const [name, run] of [...entries.slice(turn), ...entries.slice(0, turn)]) {
      globalThis.gc?.();
      const before = process.cpuUsage();
      const text = await run({ stream });
      const { user, system } = process.cpuUsage(before);
      if (!/^(All done\.|word )/.test(text)) throw new Error(`${name} answered ${JSON.stringify(text)}`);
      if (round >= 0) used.get(name).push(user + system);
    }
  }
  const baseline = used.get(BASELINE);
  const perTurn =
    conversation === "turns"
      ? `${Math.round(median(baseline) / TURNS)} µs a turn`
      : `${Math.round(median(baseline))} µs`;
  console.log(`${title} (reach ≤ ${reach}; ${BASELINE}: ${perTurn})`);
  for (const [name, times] of used) {
    if (name !== BASELINE)
      console.log(
        `  ${name.padEnd(18)} ${median(times.map((time, round) => time / baseline[round])).toFixed(2)}`,
      );
  }
}

async function compareImports() {
  const sources = {
    "@agent/core": new URL("../packages/core/dist/index.js", import.meta.url).href,
    openai: import.meta.resolve("openai"),
  };
  const times = { "@agent/core": [], openai: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, url] of Object.entries(sources)) {
      const script = `const before = process.cpuUsage(); await import(${JSON.stringify(url)}); const { user, system } = process.cpuUsage(before); console.log(user + system)`;
      times[name].push(
        Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })),
      );
    }
  }
  const ratio = median(times["@agent/core"].map((time, round) => time / times.openai[round]));
  console.log(`import, CPU in fresh processes (reach ≤ 0.15 of importing openai)`);
  console.log(
    `  @agent/core        ${ratio.toFixed(2)} (${ms(times["@agent/core"])} against ${ms(times.openai)})`,
  );
}

function comparePackages() {
  console.log("packages installed (reach ≤ 2)");
  console.log(`  @agent/core        ${installedBy("@agent/core", CORE, new Set()).size}`);
  for (const name of ["openai", "ai"]) {
    const found = installedBy(name, undefined, new Set());
    if (found.size > 0) console.log(`  ${name.padEnd(18)} ${found.size}`);
  }
}

/** The names of a package and everything it depends on, as it is installed. */
function installedBy(name, folder, found, from = import.meta.url) {
  const directory = folder ?? packageFolder(name, from);
  if (directory === undefined || found.has(name)) return found;
  found.add(name);
  const { dependencies = {} } = JSON.parse(readFileSync(`${directory}/package.json`, "utf8"));
  for (const dependency of Object.keys(dependencies))
    installedBy(dependency, undefined, found, `${directory}/package.json`);
  return found;
}

function packageFolder(name, from) {
  const folders = createRequire(from).resolve.paths(name) ?? [];
  for (const folder of folders) {
    try {
      readFileSync(`${folder}/${name}/package.json`);
      return `${folder}/${name}`;
    } catch {
      // Not in this one.
    }
  }
  return undefined;
}

async function measureParallel() {
  const tool = async () => {
    await sleep(100);
    return "done";
  };
  console.log("8 calls of 100 ms in one turn, whole conversation (reach ≤ 112 ms)");
  for (const [name, run] of Object.entries(await contestants(at("parallel"), tool))) {
    const times = [];
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const before = performance.now();
      await run({ stream: false });
      if (round >= 0) times.push(performance.now() - before);
    }
    console.log(`  ${name.padEnd(30)} ${median(times).toFixed(1)} ms`);
  }
}

function ms(times) {
  return `${(median(times) / 1000).toFixed(1)} ms`;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
