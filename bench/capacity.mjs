// What a number of runs a day needs, from what was measured. Run, after `pnpm bench durable`:
//   pnpm bench capacity [--runs 1000000] [--turns 10] [--minutes 2] [--peak 3] [--keep-days 3] [--concurrency 32]
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { RESULTS } from "./support/report.mjs";

const ENGINE = "@agent/durable, BullMQ and Postgres";
const MEASURED_TURNS = 10;
const SECONDS_A_DAY = 24 * 60 * 60;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000000" },
    turns: { type: "string", default: "10" },
    minutes: { type: "string", default: "2" },
    peak: { type: "string", default: "3" },
    "keep-days": { type: "string", default: "3" },
    concurrency: { type: "string", default: "32" },
  },
});
const [runs, turns, minutes, peak, keepDays, concurrency] = [
  values.runs,
  values.turns,
  values.minutes,
  values.peak,
  values["keep-days"],
  values.concurrency,
].map(Number);

const { rows, measured, cores } = JSON.parse(readFileSync(`${RESULTS}durable.json`, "utf8"));
const figure = (start) => {
  const row = rows.find(({ work, who }) => who === ENGINE && work.startsWith(start));
  if (!row) throw new Error(`bench/results/durable.json has no "${start}…": run pnpm bench durable.`);
  return row;
};
const stepsPerSecond = figure("steps with two workers").median;
const cpuMs = Number.parseFloat(figure("steps with two workers").note);
const connections = figure("connections of a worker").median;
const runKilobytes = ["journal of a run", "event log of a run"]
  .map((name) => (figure(name).median * turns) / MEASURED_TURNS)
  .reduce((sum, one) => sum + one, figure("row of a run").median);

const peakRuns = (runs / SECONDS_A_DAY) * peak;
// An answer and a call a turn, and the last answer.
const peakSteps = peakRuns * (2 * turns + 1);
const atOnce = peakRuns * minutes * 60;
const workers = Math.ceil(atOnce / concurrency);
const gigabytes = (runs * runKilobytes) / 1e6;

const lines = [
  ["runs at the peak", `${peakRuns.toFixed(0)} a second (${peak} × the average)`],
  ["steps at the peak", `${peakSteps.toFixed(0)} a second`],
  [
    `of what two workers and one Postgres did on ${cores} cores`,
    `${((peakSteps / stepsPerSecond) * 100).toFixed(0)} %`,
  ],
  // An intent waits for the disk, and takes the result and the answer before it along.
  ["commits at the peak", `${(peakRuns * (turns + 3)).toFixed(0)} a second`],
  ["CPU of all workers at the peak", `${((peakSteps * cpuMs) / 1000).toFixed(1)} cores`],
  ["runs under way at the peak", atOnce.toFixed(0)],
  [`worker processes with ${concurrency} runs each`, String(workers)],
  ["connections to Postgres", String(Math.ceil(workers * connections))],
  ["database a day", `${gigabytes.toFixed(0)} GB`],
  [`database with ${keepDays} days kept`, `${(gigabytes * keepDays).toFixed(0)} GB`],
];
console.log(`${runs} runs a day of ${turns} turns and ${minutes} minutes, from figures of ${measured}:`);
for (const [what, value] of lines) console.log(`  ${what.padEnd(60)} ${value}`);
