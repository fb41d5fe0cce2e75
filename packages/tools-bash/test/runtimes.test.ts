import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const program = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const RUNTIMES: readonly (readonly [name: string, file: string, ...args: string[]])[] = [
  ["Node", process.execPath],
  ["Bun", "bun"],
  ["Deno", "deno", "run", "--allow-all"],
];

for (const [name, file, ...args] of RUNTIMES) {
  const isMissing = spawnSync(file, ["--version"]).status !== 0;
  test.skipIf(isMissing)(
    `in ${name}, commands return all they printed, with their exit code (skipped without ${file})`,
    async () => {
      const { stdout } = await run(file, [...args, program("runtime.mjs")]);
      const result = JSON.parse(stdout);
      expect([...result.live].sort().join("")).toBe([..."out\nerr\n"].sort().join(""));
      expect(result).toMatchObject({
        failing: ["out\n", "err\n", 3],
        long: [288_894, true],
        late: ["begun\n", true],
        left: ["left\n", 1, 1],
      });
    },
  );
}

test("closes no file of the program around it when a worker thread that runs commands ends", async () => {
  const { stdout, stderr } = await run(process.execPath, [program("workerThread.mjs")]);
  expect(JSON.parse(stdout)).toEqual({ printed: 30, files: 120, open: 120 });
  expect(stderr).toBe("");
});
