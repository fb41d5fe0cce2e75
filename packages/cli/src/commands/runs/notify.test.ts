import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { isAlive } from "../../../test/processes.js";
import { execute } from "./notify.js";

test.skipIf(process.platform === "win32")("ends a late command with what it started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-notify-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "pid");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const ended = execute(`sleep 600 & echo $! > '${file}.new' && mv '${file}.new' '${file}'; wait`, "{}");
  const failed = expect(ended).rejects.toThrow("it took longer than 10 seconds and was killed.");
  await expect.poll(() => existsSync(file), { timeout: 60_000 }).toBe(true);
  const pid = Number(readFileSync(file, "utf8"));
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
  });
  expect(isAlive(pid)).toBe(true);
  vi.advanceTimersByTime(10_000);
  await failed;
  await expect.poll(() => isAlive(pid), { timeout: 60_000 }).toBe(false);
});
