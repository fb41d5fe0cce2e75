import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { RunEngine, RunEvent } from "../src/index.js";

const WORKER = fileURLToPath(new URL("./fixtures/killable.mjs", import.meta.url));

/** Every place where a worker can die, each with its own consequences. */
const DEATHS = [
  "claim",
  "ask",
  "before append",
  "after append",
  "before intent",
  "after intent",
  "before write",
  "after write",
  "before read",
  "after read",
  "finish",
] as const;

export interface Crowd {
  /** The module in fixtures/ that opens the engine, and what it gets. */
  readonly engineModule: string;
  readonly address: string;
  readonly effects: string;
  readonly leaseMs: number;
  /** Default: more than there are deaths. */
  readonly maxCrashes?: number;
}

/** Starts a worker process; `death` is `point:count`: the worker dies when it reaches the point for the count-th time. */
export function spawnWorker(
  { engineModule, address, effects, leaseMs, maxCrashes = 1000 }: Crowd,
  death = "never:0",
): ChildProcess {
  const args = [WORKER, engineModule, address, effects, death, String(leaseMs), String(maxCrashes)];
  return spawn(process.execPath, args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

export interface Casualties {
  kills: number;
  stops: number;
}

/**
 * Keeps `size` workers alive while `isDone` is false: most die at a chosen point, an occasional one is killed at a
 * random moment, or suspended for longer than its lease and continued.
 */
export async function keepDying(
  crowd: Crowd,
  size: number,
  most: number,
  isDone: () => boolean,
): Promise<Casualties> {
  const casualties: Casualties = { kills: 0, stops: 0 };
  const alive = new Set<ChildProcess>();
  let spawned = 0;
  const start = (): void => {
    // The last workers survive, so that every run can finish.
    const isDoomed = casualties.kills + alive.size < most;
    const point = DEATHS[spawned % DEATHS.length];
    const death = isDoomed && spawned % 4 !== 3 ? `${point}:${1 + (spawned % 5)}` : "never:0";
    const child = spawnWorker(crowd, death);
    const number = spawned++;
    alive.add(child);
    child.once("message", () => {
      if (!isDoomed || number % 4 !== 3) return;
      if (number % 8 === 3) setTimeout(() => child.kill("SIGKILL"), 50 + ((number * 37) % 200));
      else {
        setTimeout(() => child.kill("SIGSTOP"), 100);
        setTimeout(() => child.kill("SIGCONT"), 100 + crowd.leaseMs * 2);
        setTimeout(() => child.kill("SIGKILL"), 400 + crowd.leaseMs * 2);
        casualties.stops++;
      }
    });
    child.once("exit", (_, signal) => {
      alive.delete(child);
      if (signal === "SIGKILL") casualties.kills++;
      if (!isDone()) start();
    });
  };
  for (let index = 0; index < size; index++) start();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (!isDone()) return;
      clearInterval(timer);
      resolve();
    }, 20);
  });
  const ended = [...alive].map((child) => new Promise((resolve) => child.once("exit", resolve)));
  for (const child of alive) {
    child.removeAllListeners("exit");
    child.kill("SIGKILL");
  }
  await Promise.all(
    ended.map((one) => Promise.race([one, new Promise((resolve) => setTimeout(resolve, 1000))])),
  );
  return casualties;
}

/** Checks the invariants of every run however its workers died. Returns the number of calls reported as interrupted. */
export async function checkRun(
  engine: RunEngine,
  id: string,
  effects: ReadonlyMap<string, number>,
): Promise<number> {
  const run = await engine.get(id);
  expect(run?.state, `${id}: ${run?.error?.message}`).toBe("done");
  expect(run?.result?.text).toBe("parent done");
  const events: RunEvent[] = [];
  for await (const one of engine.events(id)) if ("event" in one) events.push(one.event);
  const flat = events.map((event) =>
    event.type === "child" ? { who: "child", event: event.event as RunEvent } : { who: "parent", event },
  );
  const ends = flat.flatMap(({ who, event }) => (event.type === "tool_end" ? [{ who, ...event }] : []));
  const requests = flat.filter(({ event }) => event.type === "tool_requested");
  // Every call is reported once, although workers died before, during and after.
  expect(ends.map(({ who, name }) => `${who} ${name}`).sort(), id).toEqual(
    ["parent read", "parent write", "parent delegate", "parent write", "child write", "child read"].sort(),
  );
  expect(requests, id).toHaveLength(6);
  expect(
    flat.filter(({ who, event }) => who === "parent" && event.type === "done"),
    id,
  ).toHaveLength(1);
  let interrupted = 0;
  for (const step of ["parent.1", "parent.3", "child.0"]) {
    const times = effects.get(`write ${id} ${step}`) ?? 0;
    const [who] = step.split(".");
    const own = ends.filter((end) => end.who === who && end.name === "write");
    const end = own[step === "parent.3" ? 1 : 0];
    if (end?.outcome === "interrupted") {
      interrupted++;
      expect(times, `${id} ${step} was interrupted and ran`).toBeLessThanOrEqual(1);
      expect(end.text).toContain("may or may not have run");
    } else {
      expect(end?.outcome, `${id} ${step}`).toBe("ok");
      expect(times, `${id} ${step}`).toBe(1);
    }
  }
  return interrupted;
}

/** How often each effect happened. */
export function countEffects(path: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of readFileSync(path, "utf8").split("\n")) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}
