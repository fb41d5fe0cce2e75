import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { lockHolder, tryAcquireLock } from "./processLock.js";
import { processTag } from "./processTag.js";

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "agent-lock-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** As on the other kind of system: only the form of the lock differs. */
function onPlatform(platform: string): void {
  const { platform: own } = process;
  Object.defineProperty(process, "platform", { value: platform });
  onTestFinished(() => void Object.defineProperty(process, "platform", { value: own }));
}

describe.each(["linux", "win32"])("a lock on %s", (platform) => {
  test("is held by one at a time, and free after its release", () => {
    onPlatform(platform);
    const lock = join(directory(), "lock");
    const held = tryAcquireLock(lock);
    expect(tryAcquireLock(lock)).toBeUndefined();
    expect(lockHolder(lock)).toBe(processTag());
    held?.release();
    expect(tryAcquireLock(lock)).toBeDefined();
  });

  test("is taken over from a process that has ended, and its release by another changes nothing", () => {
    onPlatform(platform);
    const place = directory();
    const lock = join(place, "lock");
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    const dead = `${processTag().split("-")[0]}-${pid} - 12345678-dead`;
    if (platform === "win32") writeFileSync(lock, dead);
    else symlinkSync(dead, lock);
    const held = tryAcquireLock(lock);
    expect(held).toBeDefined();
    expect(tryAcquireLock(lock)).toBeUndefined();
    held?.release();
    held?.release();
    expect(readdirSync(place)).toEqual([]);
  });
});
