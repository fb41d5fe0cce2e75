import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { probeProgram } from "./probe.js";

const sh = (script: string, stream: "stdout" | "stderr", signal?: AbortSignal) =>
  probeProgram("/bin/sh", ["-c", script], stream, { signal });

test("captures one stream, with the exit code", async () => {
  expect(await sh("echo out; echo err >&2; exit 3", "stdout")).toEqual({ code: 3, output: "out\n" });
  expect(await sh("echo out; echo err >&2; exit 3", "stderr")).toEqual({ code: 3, output: "err\n" });
});

test("keeps only the start of a long output", async () => {
  const { code, output } = await sh(
    "i=0; while [ $i -lt 5000 ]; do echo 0123456789; i=$((i + 1)); done",
    "stdout",
  );
  expect(code).toBe(0);
  expect(output).toHaveLength(4096);
});

test("reports an error for a program that cannot be started", async () => {
  await expect(probeProgram("/no/such/program", [], "stdout")).rejects.toMatchObject({ code: "ENOENT" });
});

test("does not wait on an abort for what the program started, which keeps the stream open", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tools-bash-short-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "pid");
  const controller = new AbortController();
  const running = sh(`sleep 600 & echo $! > ${file}; wait`, "stderr", controller.signal);
  const childPid = () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
  await expect.poll(childPid, { timeout: 60_000 }).toBeGreaterThan(0);
  onTestFinished(() => void process.kill(childPid(), "SIGKILL"));
  controller.abort();
  expect(await running).toEqual({ code: null, output: "" });
});
