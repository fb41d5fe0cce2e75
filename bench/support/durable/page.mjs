// How often the page of runs asks its server, with very many runs and three tabs. Needs Chromium.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openEngine } from "./runs.mjs";

const CLI = fileURLToPath(new URL("../../../packages/cli/", import.meta.url));
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const TABS = 3;
const WATCH_MS = 20_000;

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
  await engine.close();
  insertRows(servers.postgres, schema, sizes.page);
  const puppeteer = createRequire(`${CLI}package.json`)("puppeteer-core");
  const { address, stop } = await serve(servers);
  const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const tabs = await Promise.all(
      Array.from({ length: TABS }, async () => {
        const tab = await browser.newPage();
        const seen = { requests: 0, open: 0, most: 0 };
        const ended = () => seen.open--;
        tab.on("request", () => {
          seen.requests++;
          seen.most = Math.max(seen.most, ++seen.open);
        });
        tab.on("requestfinished", ended).on("requestfailed", ended);
        await tab.goto(address, { waitUntil: "domcontentloaded" });
        return seen;
      }),
    );
    await sleep(WATCH_MS / 4);
    for (const seen of tabs) Object.assign(seen, { requests: 0, most: seen.open });
    await sleep(WATCH_MS);
    report.add({
      work: `the page of runs with ${sizes.page} runs, ${TABS} tabs`,
      unit: "requests per second and tab",
      reach: "≤ 2",
      values: tabs.map(({ requests }) => requests / (WATCH_MS / 1000)),
      note: `at most ${Math.max(...tabs.map(({ most }) => most))} open at the same time in a tab`,
    });
  } finally {
    await browser.close();
    stop();
  }
}
