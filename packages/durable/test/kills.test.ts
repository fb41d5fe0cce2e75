import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFileEngine, startRun } from "../src/index.js";
import { checkRun, countEffects, keepDying } from "./killing.js";

const RUNS = Number(process.env.AGENT_KILL_RUNS ?? 150);
const KILLS = Number(process.env.AGENT_KILLS ?? 40);
const ENGINE = new URL("./fixtures/fileEngine.mjs", import.meta.url).href;

test("runs on files survive workers that are killed and stopped: nothing is done twice, nothing is lost", async () => {
  expect(existsSync(new URL("../dist/index.js", import.meta.url)), "Build the package first").toBe(true);
  const directory = mkdtempSync(join(tmpdir(), "agent-kills-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const engine = createFileEngine(join(directory, "runs"));
  onTestFinished(() => engine.close());
  const ids: string[] = [];
  for (let index = 0; index < RUNS; index++) {
    ids.push(await startRun(engine, { name: "kills", version: "1" }, {}, { tenant: `t${index % 3}` }));
  }
  let left = RUNS;
  const watch = setInterval(async () => {
    const { queued, running } = await engine.count();
    left = queued + running;
  }, 50);
  const crowd = {
    engineModule: ENGINE,
    address: join(directory, "runs"),
    effects: join(directory, "effects"),
    leaseMs: 500,
  };
  const { kills, stops } = await keepDying(crowd, 3, KILLS, () => left === 0);
  clearInterval(watch);
  const effects = countEffects(crowd.effects);
  let interrupted = 0;
  for (const id of ids) {
    interrupted += await checkRun(engine, id, effects);
    expect(resultsTwice(join(directory, "runs", "runs", id)), id).toEqual([]);
  }
  process.stdout.write(
    `${RUNS} runs, ${kills} kills, ${stops} stops past the lease, ${interrupted} calls interrupted\n`,
  );
  expect(kills).toBeGreaterThanOrEqual(KILLS / 2);
  expect(interrupted).toBeGreaterThan(0);
});

/** Steps that completed more than once in what counts of a run's journals. */
function resultsTwice(directory: string): string[] {
  const files = readdirSync(directory).filter((name) => name.startsWith("journal."));
  const numbers = files.map((name) => Number(name.split(".")[1])).sort((a, b) => b - a);
  const newest = readFileSync(join(directory, `journal.${numbers[0]}.jsonl`), "utf8");
  const header = JSON.parse(newest.slice(0, newest.indexOf("\n")));
  const parts: string[] = header.previous.map(({ epoch, size }: { epoch: number; size: number }) =>
    readFileSync(join(directory, `journal.${epoch}.jsonl`))
      .subarray(0, size)
      .toString("utf8"),
  );
  const counts = new Map<string, number>();
  for (const line of [...parts, newest].join("").split("\n").filter(Boolean)) {
    for (const { key, kind } of JSON.parse(line).j ?? []) {
      if (kind === "result" && key !== "version") counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts].filter(([, count]) => count > 1).map(([key]) => key);
}
