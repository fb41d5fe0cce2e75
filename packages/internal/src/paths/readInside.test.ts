import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { readRegularFileInside } from "./readInside.js";

/** A root with `a/file` in it, and a link to a directory outside. */
function makeRoot(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-read-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, "root");
  mkdirSync(join(root, "a"), { recursive: true });
  mkdirSync(join(folder, "outside"));
  writeFileSync(join(root, "a/file"), "inside");
  writeFileSync(join(folder, "outside/file"), "secret");
  symlinkSync(join(folder, "outside"), join(root, "link"));
  return root;
}

const read = (root: string, path: string): string | undefined =>
  readRegularFileInside(root, join(root, path), 100)?.toString();

test("reads a file below the directory, but not one outside that a link points to", () => {
  const root = makeRoot();
  expect(read(root, "a/file")).toBe("inside");
  expect(read(root, "link/file")).toBeUndefined();
  expect(read(root, "missing")).toBeUndefined();
});

// Exchanges a directory for a link out, and back, until it is killed.
const EXCHANGE = `const { renameSync } = require("node:fs");
process.stdout.write("ready");
for (;;) {
  renameSync("a", "b"); renameSync("link", "a");
  renameSync("a", "link"); renameSync("b", "a");
}`;

test.runIf(process.platform === "linux")(
  "never reads outside through a directory that is exchanged for a link meanwhile (Linux only)",
  async () => {
    const root = makeRoot();
    const other = spawn(process.execPath, ["-e", EXCHANGE], { cwd: root });
    await once(other.stdout, "data");
    const seen = new Set(Array.from({ length: 20_000 }, () => read(root, "a/file")));
    other.kill("SIGKILL");
    await once(other, "exit");
    expect([...seen]).toContain("inside");
    expect([...seen]).not.toContain("secret");
  },
);

test("does not read a file that was opened through a link and exchanged before its check, if the system does not name open files", () => {
  vi.stubGlobal("process", Object.create(process, { platform: { value: "darwin" } }));
  const root = makeRoot();
  expect(read(root, "a/file")).toBe("inside");
  // The link is in the place of the directory while the file is opened, and the directory is back when it is checked.
  renameSync(join(root, "a"), join(root, "b"));
  renameSync(join(root, "link"), join(root, "a"));
  const { native } = fs.realpathSync;
  const lookUp = vi.spyOn(fs.realpathSync, "native").mockImplementationOnce((path) => {
    renameSync(join(root, "a"), join(root, "link"));
    renameSync(join(root, "b"), join(root, "a"));
    return native(path);
  });
  onTestFinished(() => {
    lookUp.mockRestore();
    vi.unstubAllGlobals();
  });
  expect(read(root, "a/file")).toBeUndefined();
  expect(lookUp).toHaveBeenCalledOnce();
  expect(read(root, "a/file")).toBe("inside");
});
