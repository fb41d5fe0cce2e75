import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkPack } from "../src/checkPack.js";
import { describePack } from "../src/index.js";

/** Creates the files that the samples use: one for each, and one that is larger than any cap. */
async function setup(workspace: string): Promise<void> {
  for (const name of ["read.txt", "edit.txt", "move.txt", "remove.txt"]) {
    await writeFile(join(workspace, name), "hello\nworld\n");
  }
  await writeFile(join(workspace, "large.txt"), "a line of a large file\n".repeat(100_000));
}

const SAMPLES = {
  read_file: [{ path: "read.txt" }, { path: "large.txt" }],
  write_file: { path: "new.txt", content: "hello\n" },
  edit_file: { path: "edit.txt", old_text: "hello", new_text: "bye" },
  list_dir: { path: "." },
  mkdir: { path: "new" },
  move: { source: "move.txt", destination: "moved.txt" },
  remove: { path: "remove.txt" },
  search_text: [
    { query: "hello", paths: ["."] },
    { query: "l+", paths: ["large.txt"], regex: true },
  ],
  search_files: { pattern: "**/*.txt" },
  run_bash: [{ command: "echo hello" }, { command: "cat large.txt; sleep 30 & echo started" }],
};
const SLOW = { run_bash: { command: "sleep 60 | cat" } };

describe.each(["tools-fs", "tools-search", "tools-bash"])("@agent/%s", (name) => {
  const options = { setup, samples: SAMPLES, slowSamples: SLOW };
  const location = import.meta.resolve(`@agent/${name}`);

  describePack(location, { describe, test, ...options });

  test("has a sample for every tool", async () => {
    const { tools } = await checkPack(location);
    expect(tools.filter((tool) => !Object.hasOwn(SAMPLES, tool.name))).toEqual([]);
  });
});

describe("@agent/preset-default", () => {
  const options = { setup, samples: SAMPLES, slowSamples: SLOW };
  describePack(import.meta.resolve("@agent/preset-default"), { describe, test, ...options });
});
