import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const BENCH = join(fileURLToPath(new URL("../..", import.meta.url)), "bench", "embedding.mjs");

test("takes at most 9 KB for an idle agent with file, search and shell tools, buffers included", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", BENCH, "memory-agent"]);
  expect(Number(stdout)).toBeGreaterThan(0);
  expect(Number(stdout)).toBeLessThanOrEqual(9);
});
