import { readdirSync, statSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../test/helpers.js";
import { CommandLog } from "./commandLog.js";

// Long, so that a few thousand runs fill several logs.
const TITLE = `Ü ${"long title ".repeat(100)}`;
const MANY = 3000;
const HOUR_MS = 3_600_000;

function open(directory: string): CommandLog {
  const log = new CommandLog(directory, false);
  onTestFinished(() => log.close());
  return log;
}

function create(log: CommandLog, id: string): void {
  const run = { id, definition: "d", version: "1", tenant: "t", labels: [], priority: 0, title: TITLE };
  expect(log.submit({ op: "create", at: 1000, run })).toBe(true);
}

function finish(log: CommandLog, id: string, state: "done" | "failed" = "done"): void {
  const epoch = (log.table.get(id)?.epoch ?? 0) + 1;
  log.submit({ op: "claim", at: 2000, id, epoch, worker: "w" });
  expect(log.submit({ op: "end", at: 3000, id, epoch, state, cost: 0.5 })).toBe(true);
}

function ids(log: CommandLog): string[] {
  return Array.from(
    log.table.runs.select(() => true),
    ({ id }) => id,
  );
}

function logsOf(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith("log."));
}

/** A directory in which the log was rewritten several times. */
function manyRuns(): { directory: string; log: CommandLog; stopped: CommandLog } {
  const directory = temporaryDirectory();
  const [log, stopped] = [open(directory), open(directory)];
  for (let number = 0; number < MANY; number++) {
    create(log, `run-${number}`);
    if (number % 1000 !== 7) finish(log, `run-${number}`, number % 2 === 0 ? "done" : "failed");
  }
  return { directory, log, stopped };
}

test("keeps runs that have ended in an archive, so that a log stays short, and every process sees the same", () => {
  const { directory, log, stopped } = manyRuns();
  const expected = Array.from({ length: MANY }, (_, n) => `run-${MANY - 1 - n}`);
  expect(logsOf(directory).length).toBeGreaterThan(2);
  const newest = join(directory, logsOf(directory).sort().at(-1) ?? "");
  expect(statSync(newest).size).toBeLessThan(2.5 * 1024 * 1024);

  const fresh = open(directory);
  // It read the first log only, and continues with the newest one.
  stopped.read();
  for (const one of [log, fresh, stopped]) {
    expect(ids(one)).toEqual(expected);
    expect(one.table.runs.count).toBe(MANY);
    expect(one.table.get("run-42")).toMatchObject({ state: "done", title: TITLE, cost: 0.5 });
    expect(one.table.get("run-1007")?.state).toBe("queued");
    expect([...one.table.runs.facts()].filter(({ state }) => state === "failed")).toHaveLength(1497);
  }

  expect(stopped.submit({ op: "retry", at: 4000, id: "run-41" })).toBe(true);
  finish(fresh, "run-41");
  fresh.submit({ op: "forget", ids: ["run-43"] });
  finish(fresh, "run-1007");
  log.read();
  expect(log.table.get("run-41")).toMatchObject({ state: "done", epoch: 2 });
  expect(log.table.get("run-43")).toBeUndefined();
  expect(ids(log)).toEqual(expected.filter((id) => id !== "run-43"));
});

test("removes earlier logs and what only they refer to, but not while a backup may be copying them", () => {
  const { directory, log } = manyRuns();
  const names = readdirSync(directory);
  for (const name of names) utimesSync(join(directory, name), 0, (Date.now() - HOUR_MS) / 1000);
  for (let number = 0; logsOf(directory).length > 2; number++) {
    create(log, `later-${number}`);
    finish(log, `later-${number}`);
  }
  // The newest log has an index, and so has the one before: it was used until now, although it is old.
  const indexes = readdirSync(directory).filter((name) => name.startsWith("index."));
  expect(indexes).toHaveLength(2);
  expect(names.filter((name) => indexes.includes(name))).toHaveLength(1);
  expect(open(directory).table.runs.count).toBe(log.table.runs.count);
});

test("explains an archive that is cut off, and changes nothing", () => {
  const { directory } = manyRuns();
  const index = readdirSync(directory).filter((name) => name.startsWith("index."));
  for (const name of index) truncateSync(join(directory, name), 100);
  expect(() => new CommandLog(directory, false)).toThrow(/archive of runs .*cannot be read: .*backup/);
});
