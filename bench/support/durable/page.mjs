// How often the page of runs asks its server while runs start, and how soon it shows one, with very many runs and three
// tabs. Needs Chromium.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startRun } from "../../../packages/durable/dist/index.js";
import { openEngine } from "./runs.mjs";

const CLI = fileURLToPath(new URL("../../../packages/cli/", import.meta.url));
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const TABS = 3;
const WATCH_MS = 20_000;
const START_EVERY_MS = 100;

function insertRows(postgres, schema, runs) {
  const sql = `insert into ${schema}.run (id, format, definition, version, tenant, labels, priority, kind, title, input, state, epoch, turn, created_at, started_at, ended_at, cost)
    select 'run-' || n, 1, 'bench', '1', 't' || n % 20, '{}', 0, 'bench', 'Run the checks', '{}', 'done', 1, n,
      at, at + interval '1 min', at + interval '2 min', 0.01
    from (select n, now() - n * interval '1 second' as at from generate_series(1, ${runs}) as n) as runs;
    analyze ${schema}.run`;
  execFileSync("psql", ["-q", "-c", sql, postgres]);
}

/** Starts the page and resolves to its address. */
async function serve(servers) {
  const child = spawn(
    process.execPath,
    [`${CLI}bin.js`, "runs", "serve", "--engine", servers.postgres, "--redis", servers.redis, "--json"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  process.once("exit", () => child.kill());
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += chunk;
    const [address] = /http:\/\/[^"\s]+/.exec(printed) ?? [];
    if (address !== undefined) return { address, stop: () => child.kill() };
  }
  throw new Error(`agent runs serve ended: ${printed}`);
}

export async function page({ report, servers, sizes }) {
  const executablePath = CHROMIUM.find((path) => existsSync(path));
  if (executablePath === undefined) return report.leaveOut("the page of runs", "Chromium is not installed");
  const schema = "agent_runs";
  const engine = await openEngine(
    JSON.stringify({ postgres: servers.postgres, redis: servers.redis, schema }),
  );
  insertRows(servers.postgres, schema, sizes.page);
  const puppeteer = createRequire(`${CLI}package.json`)("puppeteer-core");
  const { address, stop } = await serve(servers);
  const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const tabs = await Promise.all(
      Array.from({ length: TABS }, async () => {
        // Each in its own window: a tab behind another one is hidden, and asks for nothing.
        const tab = await (await browser.createBrowserContext()).newPage();
        const seen = { requests: 0, open: 0, most: 0 };
        const ended = () => seen.open--;
        tab.on("request", () => {
          seen.requests++;
          seen.most = Math.max(seen.most, ++seen.open);
        });
        tab.on("requestfinished", ended).on("requestfailed", ended);
        tab.setDefaultTimeout(120_000);
        await tab.goto(address, { waitUntil: "domcontentloaded" });
        await tab.waitForSelector("td a");
        return { tab, seen };
      }),
    );
    const start = (title) => startRun(engine, { name: "bench", version: "1" }, {}, { title });
    for (const { seen } of tabs) Object.assign(seen, { requests: 0, most: seen.open });
    for (const end = performance.now() + WATCH_MS; performance.now() < end; await sleep(START_EVERY_MS))
      await start("one of many");
    const counted = tabs.map(({ seen }) => ({ ...seen }));
    const begun = performance.now();
    await start("the last one");
    const shown = "document.querySelector('td a').textContent === 'the last one'";
    const delays = await Promise.all(
      tabs.map(async ({ tab }) => {
        await tab.waitForFunction(shown, { polling: 50 });
        return (performance.now() - begun) / 1000;
      }),
    );
    report.add({
      work: `the page of runs with ${sizes.page} runs, ${TABS} tabs`,
      unit: "requests per second and tab",
      reach: "≤ 2",
      values: counted.map(({ requests }) => requests / (WATCH_MS / 1000)),
      note: `10 runs start per second; at most ${Math.max(...counted.map(({ most }) => most))} open at the same time in a tab`,
    });
    report.add({
      work: `a run from its start to the page with ${sizes.page} runs, ${TABS} tabs`,
      unit: "s",
      values: delays,
    });
  } finally {
    await browser.close();
    await engine.close();
    stop();
  }
}
