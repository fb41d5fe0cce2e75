import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readRegularFileInside } from "./readInside.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-read-")));
const root = join(folder, "root");
mkdirSync(join(root, "a"), { recursive: true });
mkdirSync(join(folder, "outside"));
writeFileSync(join(root, "a/file"), "inside");
writeFileSync(join(folder, "outside/file"), "secret");
symlinkSync(join(folder, "outside"), join(root, "link"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (path: string): string | undefined =>
  readRegularFileInside(root, join(root, path), 100)?.toString();

test("a file below the directory is read, one that a link leads to outside is not", () => {
  expect(read("a/file")).toBe("inside");
  expect(read("link/file")).toBeUndefined();
  expect(read("missing")).toBeUndefined();
});

// Exchanges a directory for a link out, and back, until it is ended.
const EXCHANGE = `const { renameSync } = require("node:fs");
process.stdout.write("ready");
for (;;) {
  renameSync("a", "b"); renameSync("link", "a");
  renameSync("a", "link"); renameSync("b", "a");
}`;

test.runIf(process.platform === "linux")(
  "a directory that is exchanged for a link while it is read never leads outside (Linux only)",
  async () => {
    const other: ChildProcess = spawn(process.execPath, ["-e", EXCHANGE], { cwd: root });
    if (other.stdout) await once(other.stdout, "data");
    const seen = new Set(Array.from({ length: 20_000 }, () => read("a/file")));
    other.kill("SIGKILL");
    await once(other, "exit");
    expect([...seen]).toContain("inside");
    expect([...seen]).not.toContain("secret");
  },
);
