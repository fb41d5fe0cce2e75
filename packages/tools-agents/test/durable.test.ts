import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFileEngine, startRun } from "@agent/durable";
import { expect, onTestFinished, test } from "vitest";

const WORKER = fileURLToPath(new URL("./fixtures/killable.mjs", import.meta.url));

test("continues children after kills: no completed write runs again", async () => {
  const directory = mkdtempSync(join(tmpdir(), "agent-children-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  const [runs, effects] = [join(directory, "runs"), join(directory, "effects")];
  const start = (deathAfter: number) => {
    const child = fork(WORKER, [runs, effects, String(deathAfter)], { stdio: "inherit" });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const engine = createFileEngine(runs);
  onTestFinished(() => engine.close());
  const id = await startRun(engine, { name: "children", version: "1" }, {});
  for (const deathAfter of [1, 3, 3]) {
    const [, signal] = await once(start(deathAfter), "exit");
    expect(signal).toBe("SIGKILL");
  }
  start(0);
  for await (const one of engine.events(id, { follow: true })) {
    if ("run" in one && one.run.state === "done") break;
  }
  const text = (await engine.get(id))?.result?.text ?? "";
  expect(text).toContain("a done");
  expect(text).toContain("b done");
  const lines = readFileSync(effects, "utf8").trim().split("\n");
  expect(new Set(lines).size).toBe(8);
  expect(lines.filter((line) => line.startsWith("write")).sort()).toEqual([
    "write a1",
    "write a3",
    "write b1",
    "write b3",
  ]);
});
