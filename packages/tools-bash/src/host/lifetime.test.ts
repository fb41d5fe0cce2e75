import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { expectNoProcessWith, leaveNoProcessBehind, processesWith } from "../../test/processes.js";

leaveNoProcessBehind();
const program = fileURLToPath(new URL("../../test/agent.mjs", import.meta.url));
// A tree that a process group alone does not cover.
const COMMAND = "setsid sleep 100 & (setsid sh -c 'sleep 100 >/dev/null 2>&1 &' &); trap '' TERM; sleep 100";

/** Starts an agent whose command carries `mark`, and waits until the command's whole tree is running. */
async function startAgent(mark: string, mode = ""): Promise<ChildProcess> {
  const env = { ...process.env, TEST_MARK: mark };
  const agent = spawn(process.execPath, [program, COMMAND, mode], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  while (processesWith(`TEST_MARK=${mark}\0`).filter((pid) => pid !== agent.pid).length < 4) await delay(10);
  return agent;
}

describe("nothing survives the agent", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("when it gets %s", async (signal) => {
    const agent = await startAgent(`life-${signal}`);
    agent.kill(signal);
    expect(await once(agent, "exit")).toEqual([null, signal]);
    await expectNoProcessWith(`TEST_MARK=life-${signal}\0`);
  });

  test("when it is killed with SIGKILL", async () => {
    const agent = await startAgent("life-kill");
    agent.kill("SIGKILL");
    await once(agent, "exit");
    await expectNoProcessWith("TEST_MARK=life-kill\0");
  });

  test("when it is killed while its command starts", async () => {
    const env = { ...process.env, TEST_MARK: "life-start" };
    const agent = spawn(process.execPath, [program, COMMAND, "killed-at-start"], { env, stdio: "inherit" });
    expect(await once(agent, "exit")).toEqual([null, "SIGKILL"]);
    await expectNoProcessWith("TEST_MARK=life-start\0");
  });

  test("lets a host that handles the signal itself decide", async () => {
    const agent = await startAgent("life-host", "host-listens");
    agent.kill("SIGINT");
    const lines = createInterface({ input: agent.stdout as NodeJS.ReadableStream });
    expect(await once(lines, "line")).toEqual(["host heard SIGINT"]);
    expect(processesWith("TEST_MARK=life-host\0").length).toBeGreaterThanOrEqual(4);
    agent.kill("SIGTERM");
    await once(agent, "exit");
    await expectNoProcessWith("TEST_MARK=life-host\0");
  });

  test("when it ends normally with work in the background, and its temporary files are gone", async () => {
    const env = { ...process.env, TEST_MARK: "life-normal" };
    const agent = spawn(
      process.execPath,
      [program, "sleep 100 & setsid sleep 100 & head -c 60000 /dev/zero"],
      {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const output: string[] = [];
    agent.stdout.setEncoding("utf8").on("data", (chunk) => output.push(chunk));
    expect(await once(agent, "close")).toEqual([0, null]);
    const result = JSON.parse(output.join(""));
    expect(result.background_pids).toHaveLength(2);
    expect(existsSync(result.truncated.stdout.file)).toBe(false);
    expect(existsSync(result.background_log)).toBe(false);
    await expectNoProcessWith("TEST_MARK=life-normal\0");
  });
});
