import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { PackProcess } from "../../src/isolation/packProcess.js";

function startProcess(code = ""): ChildProcess {
  const child = spawn(process.execPath, ["-e", `${code}; setInterval(() => {}, 1e9)`], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("leaves a process alone that got the id of one that was killed", async () => {
  const [child, other] = [startProcess(), startProcess()];
  const listener = { notify: expect.unreachable, serve: expect.unreachable };
  const channel = child.stdio[3] as Duplex;
  const pack = new PackProcess("helper", { child, channel, pid: other.pid }, listener, { memoryMb: 1024 });
  child.kill("SIGKILL");
  await once(child, "exit");
  pack.end("the agent ended");
  await pack.dispose();
  const ended = once(other, "exit");
  other.kill("SIGTERM");
  // Killed by its own signal, not by an earlier one.
  expect(await ended).toEqual([null, "SIGTERM"]);
});

test.skipIf(process.platform !== "linux")(
  "ends a process that uses too much memory between its calls",
  async () => {
    const child = startProcess("globalThis.kept = Buffer.alloc(200 * 1024 * 1024, 1)");
    const listener = { notify: expect.unreachable, serve: expect.unreachable };
    const channel = child.stdio[3] as Duplex;
    const pack = new PackProcess("helper", { child, channel, pid: child.pid }, listener, { memoryMb: 150 });
    await expect.poll(() => pack.problem, { timeout: 60_000 }).toBe("it used more than 150 MB of memory");
    await pack.dispose();
  },
);

test.skipIf(process.platform !== "linux")(
  "counts the memory of the programs that a process started",
  async () => {
    // Each ends with the one that started it.
    const program = (code: string): string =>
      `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(`${code}; process.stdin.on("end", () => process.exit()).resume()`)}])`;
    const child = startProcess(program(program("globalThis.kept = Buffer.alloc(400 * 1024 * 1024, 1)")));
    const listener = { notify: expect.unreachable, serve: expect.unreachable };
    const channel = child.stdio[3] as Duplex;
    const limits = { memoryMb: 100, programs: true };
    const pack = new PackProcess("helper", { child, channel, pid: child.pid }, listener, limits);
    await expect.poll(() => pack.problem, { timeout: 60_000 }).toBe("it used more than 400 MB of memory");
    await pack.dispose();
  },
);

test.skipIf(process.platform !== "linux")(
  "ends a process that uses the processor without a call or background work",
  async () => {
    const child = startProcess("setImmediate(() => { for (;;); })");
    let checks = 0;
    const listener = {
      notify: expect.unreachable,
      serve: expect.unreachable,
      isWorking: () => ++checks <= 4,
    };
    const channel = child.stdio[3] as Duplex;
    const limits = { memoryMb: 1024, idleCpuMs: 100 };
    const pack = new PackProcess("helper", { child, channel, pid: child.pid }, listener, limits);
    await expect
      .poll(() => pack.problem, { timeout: 60_000 })
      .toBe("it used 0.1 seconds of processor time without a call");
    expect(checks).toBeGreaterThan(4);
    await pack.dispose();
  },
);
