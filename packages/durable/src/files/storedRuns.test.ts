import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../test/helpers.js";
import type { RunState, RunSummary } from "../engine/run.js";
import { StoredRuns } from "./storedRuns.js";

// Enough for several blocks of the index and several writes to the file.
const MANY = 5000;

function summary(number: number, state: RunState): RunSummary {
  return {
    id: `run-${number}`,
    definition: "review",
    version: "1",
    tenant: `t${number % 3}`,
    labels: ["dir:/project"],
    priority: 0,
    state,
    epoch: 1,
    crashes: 0,
    createdAt: 1000 + number,
    startedAt: 2000 + number,
    approvals: [
      {
        key: "1:call_0",
        name: "write_file",
        args: { path: `ä ${number}` },
        capabilities: ["write"],
        description: { title: "", kind: "other", needs: [] },
      },
    ],
    decisions: [],
    messages: [],
  };
}

function open(directory: string): StoredRuns {
  const runs = new StoredRuns(directory, "test");
  onTestFinished(() => runs.close());
  return runs;
}

describe.each([
  ["on disk", ""],
  // No file can be made here, as on a full disk.
  ["on a disk that takes nothing", "missing"],
])("runs that no one works on, %s", (_, folder) => {
  test("are found, listed, counted, changed and removed like all others", () => {
    const directory = temporaryDirectory();
    const runs = open(join(directory, folder));
    for (let number = 0; number < MANY; number++) {
      runs.add(summary(number, number % 10 === 0 ? "queued" : "waiting"));
    }
    expect(runs.count).toBe(MANY);
    expect(runs.find("run-4321")?.run).toEqual(summary(4321, "waiting"));
    expect(runs.find("run-5000")).toBeUndefined();
    expect(
      Array.from(
        runs.select(() => true),
        ({ id }) => id,
      ),
    ).toEqual(Array.from({ length: MANY }, (_, n) => `run-${MANY - 1 - n}`));

    const isWaitingOfT1 = runs.select(({ state, tenant }) => state === "waiting" && tenant === "t1");
    const newest = [];
    for (const { id } of isWaitingOfT1) if (newest.push(id) === 3) break;
    expect(newest).toEqual(["run-4999", "run-4996", "run-4993"]);
    const waiting = [...runs.facts()].filter(({ state }) => state === "waiting");
    expect(waiting).toHaveLength(MANY * 0.9);
    expect(waiting[0]).toEqual({
      state: "waiting",
      tenant: "t1",
      createdAt: 1001,
      startedAt: 2001,
      undecided: true,
    });

    const decided = runs.find("run-1");
    if (!decided) throw new Error("run-1 is missing");
    decided.run.state = "queued";
    decided.run.approvals = [];
    runs.store(decided);
    expect(runs.find("run-1")?.run).toMatchObject({ state: "queued", approvals: [] });
    decided.run.state = "done";
    decided.run.endedAt = 9000;
    runs.store(decided);
    expect(runs.find("run-1")?.run).toMatchObject({ state: "done", endedAt: 9000 });
    runs.remove(decided);
    expect(runs.find("run-1")).toBeUndefined();
    expect(runs.count).toBe(MANY - 1);
    expect(readdirSync(directory)).toEqual([]);
  });
});
