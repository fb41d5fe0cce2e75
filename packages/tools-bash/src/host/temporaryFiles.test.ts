import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processTag } from "@agent/core/toolkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { runBashTool } from "../tools/bash.js";
import { TemporaryFiles } from "./temporaryFiles.js";

test("removes files of killed agents, but not those of a running or invisible one", async () => {
  const shared = mkdtempSync(join(tmpdir(), "shared-"));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(shared, { recursive: true, force: true });
  });
  vi.stubEnv("TMPDIR", shared);
  const [home] = processTag().split("-");
  const { pid: ended } = spawnSync("true");
  const left = (tag: string): string => {
    const path = join(shared, `agent-bash-${tag}-abcdef`);
    mkdirSync(path);
    return path;
  };
  const paths = {
    ended: left(`${home}-${ended}`),
    living: left(`${home}-${process.ppid}`),
    // The same process id, in a container that shares the directory.
    unseen: left(`zzzzzz-${ended}`),
    alien: left("notes"),
  };
  expect(new TemporaryFiles().path("out")).toContain(join(shared, `agent-bash-${processTag()}-`));
  expect(existsSync(paths.ended)).toBe(false);
  expect([paths.living, paths.unseen, paths.alien].filter((path) => !existsSync(path))).toEqual([]);
});

test("does not run a long command without room in the temporary directory, and the message names the place", async () => {
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  vi.stubEnv("TMPDIR", "/no/such/directory");
  await expect(runBashTool().execute({ command: `: ${"x".repeat(200_000)}` })).rejects.toThrow(
    /^A command of 200002 bytes has to go through a file in \/no\/such\/directory, and that failed: ENOENT.*set TMPDIR.*Nothing was run\.$/,
  );
});
