import { readdirSync } from "node:fs";
import { warningsDuring } from "@agent/test-support";
import { describe, expect, test } from "vitest";
import {
  commandsLike,
  expectNoProcessWith,
  leaveNoProcessBehind,
  makeTool,
  ownTag,
  processesWith,
  runBash,
  runIntoTimeout,
  runWith,
} from "../../test/processes.js";

leaveNoProcessBehind();
// Far beyond what any of these takes: it only tells a hang from a slow machine.
const HANG_MS = 20_000;

/** Runs with an own variable in the environment, by which a test finds what the command started. */
async function runMarked(mark: string, args: Record<string, unknown>, options = {}) {
  const result = await runBash({ ...args, env: { TEST_MARK: mark } }, options);
  return { result, left: processesWith(`TEST_MARK=${mark}\0`) };
}

describe("a command always returns", () => {
  test("does not wait for a background child that keeps the pipe open", async () => {
    const result = await runBash({ command: "sleep 300 & echo hi", timeout: HANG_MS });
    expect(result).toMatchObject({ stdout: "hi\n", exit_code: 0, timed_out: false });
    expect(result.duration_ms).toBeLessThan(HANG_MS);
  });

  test("does not wait for a background child that keeps printing", async () => {
    const result = await runBash({
      command: "while :; do echo x; sleep 0.01; done & echo hi",
      timeout: HANG_MS,
    });
    expect(result).toMatchObject({ exit_code: 0, timed_out: false });
    expect(result.stdout).toContain("hi\n");
    expect(result.duration_ms).toBeLessThan(HANG_MS);
  });

  test("loses no output and reports no false timeout if the event loop of the agent is busy", async () => {
    const running = runBash({ command: "echo done; echo err >&2; exit 5", timeout: 1500 });
    for (let turn = 0; turn < 3; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      block(900);
    }
    expect(await running).toMatchObject({
      stdout: "done\n",
      stderr: "err\n",
      exit_code: 5,
      timed_out: false,
    });
  });

  test("has an empty standard input", async () => {
    expect(await runBash({ command: "cat" })).toMatchObject({ stdout: "", exit_code: 0 });
  });

  test("can open its output by name, as scripts do", async () => {
    const command = "echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr";
    expect(await runBash({ command })).toMatchObject({ stdout: "a\nc\n", stderr: "b\nc\n", exit_code: 0 });
  });

  test("has no terminal to ask", async () => {
    const result = await runBash({ command: "read x </dev/tty; echo code $?", timeout: HANG_MS });
    expect(result.stdout).toMatch(/^(code [12]\n)?$/);
    expect(result).toMatchObject({ timed_out: false });
    expect(result.stderr).not.toBe("");
  });

  test("cannot ask a user: it has no controlling terminal, and its input is at its end", async () => {
    const command = [
      "tty",
      "(: </dev/tty) 2>/dev/null && echo opened",
      "ps -o tty= -p $$ 2>/dev/null",
      "read answer; echo read $?",
      "test -t 0 || test -t 1 || test -t 2 || echo none",
    ].join("; ");
    const result = await runBash({ command, timeout: HANG_MS });
    expect(result.stdout).toMatch(/^not a tty\n(\?+ *\n)?read 1\nnone\n$/);
    expect(result.timed_out).toBe(false);
  });

  test("runs to its end if it closes its output early", async () => {
    const result = await runBash({ command: "exec >&-; exec 2>&-; sleep 0.5; exit 4" });
    expect(result).toMatchObject({ exit_code: 4 });
    expect(result.duration_ms).toBeGreaterThanOrEqual(500);
  });

  test("reports death by a signal from inside as 128 + n with its name, not as a timeout", async () => {
    for (const [name, number] of [
      ["SEGV", 11],
      ["KILL", 9],
      ["TERM", 15],
    ] as const) {
      const result = await runBash({ command: `kill -${name} $$` });
      expect(result).toMatchObject({ exit_code: 128 + number, signal: `SIG${name}`, timed_out: false });
    }
    expect(await runBash({ command: "sh -c 'kill -KILL $$'; exit $?" })).toMatchObject({ exit_code: 137 });
  });

  test("gets its own output in each of fifty simultaneous calls, and leaks no descriptor", async () => {
    const tool = makeTool();
    await runWith(tool, { command: "echo warm" });
    const before = openDescriptors();
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        runWith(tool, { command: `echo "out ${i}"; echo "err ${i}" >&2; exit ${i}` }),
      ),
    );
    for (const [i, result] of results.entries()) {
      expect(result).toMatchObject({ stdout: `out ${i}\n`, stderr: `err ${i}\n`, exit_code: i });
    }
    expect(openDescriptors()).toBeLessThanOrEqual(before + 2);
  });
});

test("causes no Node warning for fifty simultaneous calls that share one signal", async () => {
  const { signal } = new AbortController();
  // Two lines are checked by a shell of their own first, which the signal ends as well.
  const one = () => runBash({ command: "true\necho done" }, {}, signal);
  const warnings = await warningsDuring(async () => {
    const results = await Promise.all(Array.from({ length: 50 }, one));
    expect(new Set(results.map(({ stdout }) => stdout))).toEqual(new Set(["done\n"]));
  });
  expect(warnings).toEqual([]);
}, 60_000);

describe("a timeout ends everything the command started", () => {
  test("a pipeline with children; what was printed is kept", async () => {
    const command = "echo part; sleep 100 | cat | sleep 100 & sleep 100; echo never";
    const env = { TEST_MARK: "a2" };
    const { result, timeout } = await runIntoTimeout({ command, env }, ({ stdout }) => stdout !== "");
    expect(processesWith("TEST_MARK=a2\0")).toEqual([]);
    expect(result).toMatchObject({ stdout: "part\n", exit_code: -1, timed_out: true });
    expect(result.stderr).toContain(`timed out after ${timeout} ms`);
  });

  test("children that ignore TERM, INT and HUP", async () => {
    const { result, left } = await runMarked("a3", {
      command: `trap '' TERM INT HUP; while :; do sleep 0.05; done`,
      timeout: 200,
    });
    expect(result).toMatchObject({ exit_code: -1, timed_out: true });
    expect(result.duration_ms).toBeLessThan(HANG_MS);
    expect(left).toEqual([]);
  });

  test("a setsid daemon, and one that forked twice and dropped its output", async () => {
    const { left } = await runMarked("a4", {
      command: "setsid sleep 100 & (setsid sh -c 'sleep 100 >/dev/null 2>&1 &' &) ; sleep 100",
      timeout: 400,
    });
    expect(left).toEqual([]);
  });

  test("a daemon that removed the tag from its environment but was seen running", async () => {
    const running = runBash({ command: "env -i setsid sleep 98.7654 & sleep 100", timeout: 1200 });
    await running;
    expect(commandsLike("98.7654")).toEqual([]);
  });

  test("250 children", async () => {
    const tool = makeTool();
    const controller = new AbortController();
    // Ended as soon as all of them run: how long that takes depends on the machine.
    const call = { signal: controller.signal, onOutput: () => controller.abort(), report() {} };
    const command = "i=0; while [ $i -lt 250 ]; do sleep 100 & i=$((i+1)); done; echo all; wait";
    const result = JSON.parse(await tool.execute({ command, timeout: 60_000 }, call));
    expect(result).toMatchObject({ stdout: "all\n", exit_code: -1 });
    await expectNoProcessWith(ownTag);
  });

  test("a stopped process", async () => {
    const { left } = await runMarked("stopped", { command: "kill -STOP $$; echo never", timeout: 200 });
    expect(left).toEqual([]);
  });

  test("stops at the configured longest time if the timeout is longer", async () => {
    const result = await runBash({ command: "sleep 60", timeout: 50_000 }, { limits: { timeoutMs: 150 } });
    expect(result.stderr).toContain("timed out after 150 ms");
  });

  test("leaves nothing after an abort", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 150);
    const args = { command: "setsid sleep 100 & sleep 100", env: { TEST_MARK: "abort" } };
    expect(await runBash(args, {}, controller.signal)).toMatchObject({ exit_code: -1, aborted: true });
    await expectNoProcessWith("TEST_MARK=abort\0");
  });
});

describe("other shells", () => {
  test("bash can be configured", async () => {
    const result = await runBash({ command: "a=(1 2 3); echo $((a[0] + a[2]))" }, { shell: "/bin/bash" });
    expect(result).toMatchObject({ stdout: "4\n", exit_code: 0 });
  });
});

function openDescriptors(): number {
  return process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
}

/** Keeps the event loop from doing anything. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
