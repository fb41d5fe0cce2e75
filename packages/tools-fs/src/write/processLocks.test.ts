import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { lockFile, processTag } from "@agent/core/toolkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { fileTools, temporaryDirectory } from "../../test/support.js";
import { withProcessLocks } from "./processLocks.js";

const EDIT_LOOP = fileURLToPath(new URL("../../test/editLoop.mjs", import.meta.url));

function startEditor(path: string, name: string, count: number): ChildProcess {
  const child = spawn(process.execPath, [EDIT_LOOP, path, name, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** The edits that were acknowledged to a process. An incomplete last line was not acknowledged yet. */
async function acknowledged(child: ChildProcess): Promise<string[]> {
  if (child.stdout === null) return [];
  return (await text(child.stdout)).split("\n").slice(0, -1);
}

test("keeps every acknowledged edit when several processes edit a file at the same time", async () => {
  const path = join(temporaryDirectory(), "shared.txt");
  writeFileSync(path, "end\n");
  const editors = ["a", "b", "c", "d"].map((name) => startEditor(path, name, 30));
  const told = (await Promise.all(editors.map(acknowledged))).flat();
  const lines = readFileSync(path, "utf8").split("\n");
  expect(told).toHaveLength(120);
  expect(told.filter((line) => !lines.includes(line))).toEqual([]);
  // Each edit is there exactly once, and nothing else.
  expect(lines).toHaveLength(told.length + 2);
}, 120_000);

test("keeps acknowledged edits while other processes are killed in the middle of theirs", async () => {
  const path = join(temporaryDirectory(), "shared.txt");
  writeFileSync(path, "end\n");
  const steady = ["a", "b"].map((name) => startEditor(path, name, 25));
  const told = Promise.all(steady.map(acknowledged));
  const ofKilled: string[] = [];
  let over = false;
  void told.then(() => {
    over = true;
  });
  for (let round = 0; !over; round++) {
    const victim = startEditor(path, `k${round}`, 1000);
    const seen = acknowledged(victim);
    // Kill it during its second edit, at an arbitrary point.
    if (victim.stdout) await Promise.race([once(victim.stdout, "data"), told]);
    victim.kill("SIGKILL");
    ofKilled.push(...(await seen));
  }
  const all = [...(await told).flat(), ...ofKilled];
  const content = readFileSync(path, "utf8");
  expect(content.endsWith("end\n")).toBe(true);
  const lines = content.split("\n");
  expect(all.filter((line) => !lines.includes(line))).toEqual([]);
  expect(readdirSync(dirname(path)).filter((name) => !name.endsWith(".tmp"))).toEqual([basename(path)]);
}, 120_000);

/** The tag of a process that has ended. */
function endedProcess(): string {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  return processTag().replace(/\d+$/, String(pid));
}

/** Leaves a lock behind as if its holder had been killed. */
async function leaveLock(path: string, holder: string): Promise<void> {
  await withProcessLocks([path], async () => undefined);
  symlinkSync(holder, lockFile(path));
  onTestFinished(() => rmSync(lockFile(path), { force: true }));
}

test.each([
  ["has ended", () => `${endedProcess()} 1 12345678-dead`],
  ["has ended and left its process id to another one", () => `${processTag()} 1 12345678-dead`],
])(
  "lets the waiting calls take over the lock of a process that %s, one after the other",
  async (_, holder) => {
    const path = join(temporaryDirectory(), "file");
    await leaveLock(path, holder());
    let [inside, most] = [0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside--;
    };
    await Promise.all(Array.from({ length: 20 }, () => withProcessLocks([path], work)));
    expect(most).toBe(1);
    expect(
      readdirSync(dirname(lockFile(path))).filter((name) => lockFile(path).endsWith(name.slice(0, 32))),
    ).toEqual([]);
  },
);

test("never reads or changes the lock files with any tool", async () => {
  const path = join(temporaryDirectory(), "file");
  await withProcessLocks([path], async () => {
    const run = fileTools({ protect: [] });
    expect(await run("remove", { path: lockFile(path) })).toContain("no tool changes it");
    expect(await run("write_file", { path: lockFile(path), content: "x" })).toContain("no tool changes it");
    expect(await run("move", { source: dirname(lockFile(path)), destination: `${path}2` })).toContain(
      "no tool changes it",
    );
  });
});

test("does not take a lock that is held, and stops waiting on an abort", async () => {
  const path = join(temporaryDirectory(), "file");
  await withProcessLocks([path], async () => {
    const stop = new AbortController();
    const waiting = withProcessLocks([path], async () => "done", { signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
  });
  expect(await withProcessLocks([path], async () => "done")).toBe("done");
});

test("does not take the lock of a running process whose start time is unknown", async () => {
  const path = join(temporaryDirectory(), "file");
  await leaveLock(path, `${processTag()} - 12345678-live`);
  const stop = new AbortController();
  const waiting = withProcessLocks([path], async () => "done", { signal: stop.signal });
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});

test("works without locks if the directory for them cannot be looked at", async () => {
  // Without user ids, as on Windows, the directory is below TMPDIR; this one is too long for the system.
  vi.stubGlobal("process", Object.assign(Object.create(process), { geteuid: undefined }));
  vi.stubEnv("TMPDIR", `/${"long".repeat(2000)}`);
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
  });
  expect(await withProcessLocks(["/file"], async () => "done")).toBe("done");
});

test("runs work on one path serially and on different paths in parallel, without deadlock for paths given twice or in opposite order", async () => {
  const directory = temporaryDirectory();
  const [a, b] = [join(directory, "a"), join(directory, "b")];
  let [inside, most] = [0, 0];
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await new Promise(setImmediate);
    inside--;
  };
  await Promise.all([
    withProcessLocks([a, b], work),
    withProcessLocks([b, a], work),
    withProcessLocks([a, a], work),
    withProcessLocks([a], work),
  ]);
  expect(most).toBe(1);
  await withProcessLocks([a], () => withProcessLocks([b], work));
});
