import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "./fixtures.js";

const PROGRAM = fileURLToPath(new URL("saveFailure.mjs", import.meta.url));
const BUBBLEWRAP = "bwrap";
const SYSTEM = ["--dev-bind", "/", "/"];
const hasBubblewrap = spawnSync(BUBBLEWRAP, [...SYSTEM, "true"]).status === 0;
const note = hasBubblewrap ? "" : " (skipped: it needs bubblewrap)";

/** Runs the program in bubblewrap with these mounts. It has to end by itself. */
async function saveIn(mount: (directory: string) => readonly string[]): Promise<Record<string, unknown>> {
  const directory = temporaryDirectory();
  const args = [...SYSTEM, ...mount(directory), process.execPath, PROGRAM, directory];
  const { stdout } = await promisify(execFile)(BUBBLEWRAP, args);
  return JSON.parse(stdout);
}

test.skipIf(!hasBubblewrap)(
  `on a full disk saving rejects, what was saved before is kept, and the conversation continues${note}`,
  async () => {
    expect(await saveIn((directory) => ["--size", "262144", "--tmpfs", directory])).toEqual({
      saves: ["saved", "ENOSPC", "ENOSPC"],
      rejected: 50,
      tool: expect.stringMatching(/^Error executing save_session_context: .*no space left/i),
      kept: 2,
      files: ["session.jsonl"],
      answer: "Still here.",
      messages: 6,
    });
  },
);

test.skipIf(!hasBubblewrap)(
  `in a read-only directory saving rejects immediately, and the conversation continues${note}`,
  async () => {
    expect(await saveIn((directory) => ["--ro-bind", directory, directory])).toEqual({
      saves: ["EROFS", "EROFS", "EROFS"],
      rejected: 50,
      tool: expect.stringMatching(/^Error executing save_session_context: .*read-only/i),
      kept: 0,
      files: [],
      answer: "Still here.",
      messages: 6,
    });
  },
);
