import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { BIN, Sandbox } from "./agent.js";

const FULL_DISK = "/dev/full";
const COMMANDS = [
  ["list files"],
  ["--output", "json", "list files"],
  ["--output", "stream-json", "list files"],
  ["tool", "run", "list_dir"],
  ["tools"],
  ["tools", "--json"],
  ["config"],
  ["sessions"],
  ["completion", "bash"],
  ["--help"],
  ["--version"],
];

/** Runs the command with standard output, or standard error, on a disk without room. */
async function runOnFullDisk(
  args: readonly string[],
  stream: "stdout" | "stderr",
): Promise<{ code: number | null; other: string }> {
  const box = new Sandbox();
  const full = openSync(FULL_DISK, "w");
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: box.project,
    env: { PATH: process.env.PATH, HOME: box.home, AGENT_LOCAL_PORTS: "" },
    stdio: ["ignore", stream === "stdout" ? full : "pipe", stream === "stderr" ? full : "pipe"],
  });
  closeSync(full);
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  const pipe = child.stdout ?? child.stderr;
  return { other: pipe ? await text(pipe) : "", code: await code };
}

describe.skipIf(!existsSync(FULL_DISK))("a full disk (skipped without /dev/full)", () => {
  test.each(COMMANDS)(
    "reports an answer that cannot be written, with exit code 74: %s %s %s",
    async (...args) => {
      const { code, other } = await runOnFullDisk(args.filter(Boolean), "stdout");
      expect(other).toContain("agent: cannot write to standard output: no space left on device");
      expect(other).not.toContain("uncaught error");
      expect(code).toBe(74);
    },
  );

  test("continues the task if activity cannot be written", async () => {
    const { code, other } = await runOnFullDisk(["list files"], "stderr");
    expect(other).toContain("In the working directory:");
    expect(code).toBe(0);
  });
});

test.skipIf(spawnSync("unshare", ["-rm", "true"]).status !== 0)(
  "names the directory of a run that cannot be stored on a full disk (needs unshare)",
  () => {
    const box = new Sandbox();
    const disk = join(box.project, "disk");
    mkdirSync(disk);
    const script = `
      mount -t tmpfs -o size=256k none "$1" || exit 99
      "$2" "$3" runs start --engine "$1/runs" "list files" >"$1/id" || exit 98
      dd if=/dev/zero of="$1/fill" bs=4k 2>"$4"
      exec "$2" "$3" runs start --engine "$1/runs" --title "${"long ".repeat(2000)}" "list files"`;
    const { status, stderr } = spawnSync(
      "unshare",
      ["-rm", "sh", "-c", script, "sh", disk, process.execPath, BIN, "/dev/null"],
      { cwd: box.project, env: { PATH: process.env.PATH, HOME: box.home }, encoding: "utf8" },
    );
    expect(stderr).toContain(
      `agent: The directory of runs "${join(disk, "runs")}" cannot be used: ENOSPC: no space left on device, write\n`,
    );
    expect(status).toBe(2);
  },
);
