import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// Written without `console`, which loads streams itself.
const REPORT = `
  const before = new Set(process.moduleLoadList);
  await import(process.argv[1]);
  const loaded = process.moduleLoadList.filter((module) => !before.has(module));
  process.getBuiltinModule("node:fs").writeSync(1, loaded.join("\\n"));
`;

const built = (entry: string) => fileURLToPath(new URL(`../dist/${entry}.js`, import.meta.url));

// Every pack and every program that starts pays for these before it does anything.
test.each(["index", "toolkit", "openai", "replay"])(
  "importing %s loads none of Node's heavy modules",
  (entry) => {
    const loaded = execFileSync(process.execPath, ["--input-type=module", "--eval", REPORT, built(entry)], {
      encoding: "utf8",
    });
    expect(loaded).not.toMatch(
      /NativeModule (stream|crypto|child_process|net|http|url|worker_threads|readline)$/m,
    );
  },
);

test.each(["index", "toolkit", "openai", "replay"])("%s is one file, which imports nothing", (entry) => {
  expect(readFileSync(built(entry), "utf8")).not.toMatch(/^import /m);
});
