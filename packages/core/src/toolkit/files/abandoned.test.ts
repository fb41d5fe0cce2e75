import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  watch,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeAbandoned, temporaryName } from "@agent/internal";
import { expect, onTestFinished, test, vi } from "vitest";
import { writeFileAtomic } from "./writeFileAtomic.js";

const MODULE = new URL("../../../dist/toolkit.js", import.meta.url);

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "abandoned-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A process that is in the middle of a write: its temporary file is there, and stays there until it is killed. */
async function writerIn(directory: string): Promise<{ child: ChildProcess; temporary: string }> {
  if (!existsSync(MODULE)) throw new Error("Build the package first: this runs it in its own process.");
  const script = `
    import { watch } from "node:fs";
    import { writeFileAtomic } from ${JSON.stringify(MODULE.href)};
    // It stops in its tracks as soon as the temporary file is there.
    watch(${JSON.stringify(directory)}).once("change", () => { process.kill(process.pid, "SIGSTOP"); });
    await writeFileAtomic(${JSON.stringify(join(directory, "a"))}, Buffer.alloc(300_000_000));`;
  const isTemporary = (name: string): boolean => name.endsWith(".tmp");
  const appeared = new Promise<void>((resolve) => {
    const watcher = watch(directory, () => {
      if (!readdirSync(directory).some(isTemporary)) return;
      watcher.close();
      resolve();
    });
  });
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await appeared;
  child.kill("SIGSTOP");
  return { child, temporary: readdirSync(directory).find(isTemporary) ?? "none" };
}

async function killed(child: ChildProcess): Promise<void> {
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exit;
}

test("removes on the next write in a directory what a killed writer left there, but not on a write elsewhere", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "a"), "old");
  const { child, temporary } = await writerIn(directory);
  await killed(child);
  expect(readdirSync(directory).sort()).toEqual([temporary, "a"]);
  expect(readFileSync(join(directory, "a"), "utf8")).toBe("old");
  mkdirSync(join(directory, "other"));
  await writeFileAtomic(join(directory, "other/b"), "x");
  expect(readdirSync(directory)).toContain(temporary);
  await writeFileAtomic(join(directory, "c"), "x");
  expect(readdirSync(directory).sort()).toEqual(["a", "c", "other"]);
});

test("keeps what a living process is writing", async () => {
  const directory = temporaryDirectory();
  const { temporary } = await writerIn(directory);
  await writeFileAtomic(join(directory, "b"), "x");
  expect(readdirSync(directory).sort()).toEqual([temporary, "b"]);
});

test("removes what was begun elsewhere only after a day, and never what merely looks alike", async () => {
  const directory = temporaryDirectory();
  const gone = spawnSync(process.execPath, ["-e", ""]).pid;
  const own = temporaryName().split("-")[1];
  const keep = [
    `.agent-elsewhe-${gone}-abc.tmp`,
    `.agent-${own}-${gone}-abc.tmp.bak`,
    `.agent-${own}-0-abc.tmp`,
    `.agent-${own}--1-abc.tmp`,
    `.agent-${gone}-abc.tmp`,
    `agent-${own}-${gone}-abc.tmp`,
    temporaryName(),
  ];
  for (const name of keep) writeFileSync(join(directory, name), "precious");
  const old = `.agent-elsewhe-${gone}-old.tmp`;
  writeFileSync(join(directory, old), "");
  utimesSync(join(directory, old), new Date(0), new Date(0));
  const directoryName = `.agent-${own}-${gone}-dir.tmp`;
  mkdirSync(join(directory, directoryName));
  writeFileSync(join(directory, `.agent-${own}-${gone}-abc.tmp`), "");
  removeAbandoned(directory);
  expect(readdirSync(directory).sort()).toEqual([...keep, directoryName].sort());
});

test("removes the others if one cannot be removed", () => {
  const directory = temporaryDirectory();
  const gone = spawnSync(process.execPath, ["-e", ""]).pid;
  const own = temporaryName().split("-")[1];
  for (const end of ["a", "b", "c"]) writeFileSync(join(directory, `.agent-${own}-${gone}-${end}.tmp`), "");
  const unlink = vi.spyOn(fs, "unlinkSync").mockImplementationOnce(() => {
    throw new Error("EPERM");
  });
  onTestFinished(() => unlink.mockRestore());
  removeAbandoned(directory);
  expect(readdirSync(directory)).toHaveLength(1);
});

test("leaves alone a directory that cannot be read", () => {
  expect(() => removeAbandoned("/nowhere/at/all")).not.toThrow();
});
