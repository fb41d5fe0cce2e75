import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readRegularFile } from "./readRegularFile.js";

const directory = mkdtempSync(join(tmpdir(), "agent-regular-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const at = (name: string): string => join(directory, name);
writeFileSync(at("file"), "0123456789");
symlinkSync(at("file"), at("link"));
mkdirSync(at("folder"));

test("reads at most the given number of bytes, also through a link", () => {
  expect(readRegularFile(at("link"), 4)?.toString()).toBe("0123");
  expect(readRegularFile(at("file"), 100)?.toString()).toBe("0123456789");
});

test("refuses a directory and a missing file", () => {
  expect(readRegularFile(at("folder"), 4)).toBeUndefined();
  expect(readRegularFile(at("missing"), 4)).toBeUndefined();
});

test.skipIf(process.platform === "win32")("refuses a FIFO without a writer immediately", () => {
  execFileSync("mkfifo", [at("fifo")]);
  expect(readRegularFile(at("fifo"), 4)).toBeUndefined();
});
