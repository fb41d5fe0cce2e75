// Writes docs/benchmarks.md's tables and draws its charts from bench/results/*.json: pnpm docs:benchmarks
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawChart } from "./support/chart.mjs";
import { RESULTS } from "./support/report.mjs";

const DOCS = fileURLToPath(new URL("../docs/", import.meta.url));
const CHARTS = join(DOCS, "charts");
const PAGE = join(DOCS, "benchmarks.md");
const [START, END] = ["<!-- figures: written by pnpm docs:benchmarks -->", "<!-- end of figures -->"];

rmSync(CHARTS, { recursive: true, force: true });
mkdirSync(CHARTS, { recursive: true });
const sections = readdirSync(RESULTS)
  .filter((name) => name.endsWith(".json"))
  .sort()
  .map((name) => section(basename(name, ".json"), JSON.parse(readFileSync(join(RESULTS, name), "utf8"))));
const page = readFileSync(PAGE, "utf8");
const [before, after] = [page.indexOf(START), page.indexOf(END)];
if (before === -1 || after === -1) throw new Error(`${PAGE} must hold the lines "${START}" and "${END}".`);
writeFileSync(
  PAGE,
  `${page.slice(0, before + START.length)}\n\n${sections.join("\n")}\n${page.slice(after)}`,
);

function section(area, { title, command, measured, node, cores, load, leftOut = {}, rows }) {
  const chart = drawChart(title, rows);
  if (chart !== undefined) writeFileSync(join(CHARTS, `${area}.svg`), chart);
  return `## ${title}

\`${command}\`, ${measured}, Node ${node.replace(/^v/, "")}, ${cores} cores, load ${load} at the start.

| work | who | median | spread | unit | reach | |
|---|---|---|---|---|---|---|
${rows.map(tableRow).join("\n")}
${Object.entries(leftOut)
  .map(([who, reason]) => `\n${who} is left out: ${reason}.\n`)
  .join(
    "",
  )}${chart === undefined ? "" : `\n![${title}: each figure as a share of its reach](charts/${area}.svg)\n`}`;
}

function tableRow({ work, who = "@agent", median, low, high, unit, reach = "", note = "" }) {
  const spread = low === undefined ? "" : `${low} – ${high}`;
  return `| ${[work, who, median, spread, unit, reach, note].map(escapeCell).join(" | ")} |`;
}

function escapeCell(text) {
  return String(text).replaceAll("|", "\\|");
}
