import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFileEngine, startRun } from "@agent/durable";
import { expect, onTestFinished, test } from "vitest";

const WORKER = fileURLToPath(new URL("./fixtures/killable.mjs", import.meta.url));

// Which call follows depends on random numbers and on the order of results, as it may in a script of a model.
const SCRIPT = `
const order = [];
const seen = await Promise.all(
  [0, 1, 2, 3].map(async (n) => {
    const first = await tools.read({ n: "a" + n });
    order.push(first);
    return await tools.read({ n: first + " " + order.length + " " + Math.floor(Math.random() * 1e6) });
  }),
);
for (let n = 0; n < 4; n++) {
  const text = await tools.read({ n: "b" + n });
  await tools.write({ n: text + " " + Math.floor(Math.random() * 1e6) });
}
return seen;`;

function places() {
  const directory = mkdtempSync(join(tmpdir(), "agent-code-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  const [runs, effects] = [join(directory, "runs"), join(directory, "effects")];
  const lines = () => (existsSync(effects) ? readFileSync(effects, "utf8").trim().split("\n") : []);
  const start = (deathAfter: number): ChildProcess => {
    const child = fork(WORKER, [runs, effects, String(deathAfter)], { stdio: "inherit" });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const engine = createFileEngine(runs);
  onTestFinished(() => engine.close());
  return { engine, lines, start };
}

/** Resolves once the run is in this state. */
async function reached(
  engine: ReturnType<typeof createFileEngine>,
  id: string,
  state: string,
): Promise<void> {
  for await (const one of engine.events(id, { follow: true })) {
    if ("run" in one && one.run.state === state) return;
  }
  throw new Error(`The run ended as ${(await engine.get(id))?.state}, not as ${state}.`);
}

test("resumes a script at its next call after kills, and does nothing twice", async () => {
  const { engine, lines, start } = places();
  const id = await startRun(engine, { name: "script", version: "1" }, { script: SCRIPT });
  let kills = 0;
  // Eleven calls at most, of sixteen: the last worker still has a read to die in.
  for (const deathAfter of [1, 3, 3, 2, 2]) {
    const [, signal] = await once(start(deathAfter), "exit");
    if (signal === "SIGKILL") kills++;
  }
  expect(kills).toBe(5);
  start(0);
  await reached(engine, id, "done");
  const effects = lines();
  // A read that was interrupted is repeated with the same arguments; there are no others.
  expect(new Set(effects).size).toBe(8 + 4 + 4);
  expect(effects.filter((line) => line.startsWith("write"))).toHaveLength(4);
});

test("waits for approval of a call in a script without holding a process", async () => {
  const { engine, lines, start } = places();
  const script = 'await tools.read({ n: "a" }); await tools.write({ n: "b" });';
  const id = await startRun(engine, { name: "script", version: "1" }, { script, asks: true });
  const first = start(0);
  await reached(engine, id, "waiting");
  const ended = once(first, "exit");
  first.kill("SIGKILL");
  await ended;
  expect(lines().filter((line) => line.startsWith("write"))).toEqual([]);
  const [approval] = (await engine.get(id))?.approvals ?? [];
  expect(approval).toMatchObject({ name: "write" });
  expect(await engine.decide(id, approval?.key ?? "", "allow")).toBe(true);
  start(0);
  await reached(engine, id, "done");
  expect(lines().filter((line) => line.startsWith("write"))).toEqual(["write b"]);
});
