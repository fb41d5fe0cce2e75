import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { commandsLike } from "../../test/processes.js";
import { Sandbox } from "../sandbox/sandbox.js";
import { resolveSandbox } from "../sandbox/settings.js";
import type { RunBashResult } from "./result.js";

const run = promisify(execFile);
const program = fileURLToPath(new URL("../../test/agent.mjs", import.meta.url));
const { program: bwrap, problem } = await new Sandbox(resolveSandbox("auto")).status();
const FLOOD = "head -c 5000000 /dev/zero; exit 3";

/** What a command returns to an agent that runs in its own world, made by bubblewrap with `world`. */
async function runIn(world: readonly string[], command: string, env = {}): Promise<RunBashResult> {
  const [file = "", ...args] = [...world, process.execPath, program, command];
  const { stdout } = await run(file, args, { env: { ...process.env, ...env }, maxBuffer: 10e6 });
  return JSON.parse(stdout);
}

test("cuts output if no file can be written, and reports that the rest is lost", async () => {
  const result = await runIn(["/usr/bin/env"], FLOOD, { TMPDIR: "/no/such/directory" });
  expect(result).toMatchObject({ exit_code: 3, truncated: { stdout: { total_bytes: 5_000_000 } } });
  expect(result.truncated?.stdout).not.toHaveProperty("file");
  expect(result.stdout).toContain("of 5000000 bytes are shown. The rest could not be written to a file.]");
});

describe.skipIf(bwrap === undefined)(`with bubblewrap${problem ? ` (skipped: ${problem})` : ""}`, () => {
  const all = ["bwrap", "--dev-bind", "/", "/"];

  test("stops the file, not the command, on a disk that fills up, and reports it", async () => {
    const world = [...all, "--size", "1048576", "--tmpfs", "/mnt", "--setenv", "TMPDIR", "/mnt"];
    const result = await runIn(world, FLOOD);
    expect(result).toMatchObject({ exit_code: 3, truncated: { stdout: { total_bytes: 5_000_000 } } });
    expect(result.stdout).toContain("Its beginning, as far as there was room: /mnt/");
  });

  test("runs a command without /proc, and kills what ignores TERM with its group", async () => {
    const world = [...all, "--tmpfs", "/proc"];
    expect(await runIn(world, "echo fine; exit 4")).toMatchObject({ stdout: "fine\n", exit_code: 4 });
    const stubborn = "trap '' TERM; (trap '' TERM; sleep 97.135) & sleep 97.135; sleep 97.135";
    expect(await runIn(world, stubborn, { TEST_TIMEOUT: "1000" })).toMatchObject({ timed_out: true });
    expect(commandsLike("97.135")).toEqual([]);
  });
});
