import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CommandLog } from "./commandLog.js";

function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "agent-durable-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("refuses a log that is a link, and leaves its target unchanged", () => {
  const directory = temporaryDirectory();
  const target = join(temporaryDirectory(), "profile");
  writeFileSync(target, "as it was");
  symlinkSync(target, join(directory, "log.1.jsonl"));
  expect(() => new CommandLog(directory, false)).toThrow("ELOOP");
  expect(readFileSync(target, "utf8")).toBe("as it was");
});

test("keeps the log private in a directory that others can read", () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  new CommandLog(directory, false).close();
  expect(statSync(join(directory, "log.1.jsonl")).mode & 0o777).toBe(0o600);
});
