import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./pages.js";

const PAGE = join(ROOT, "test/scenarios.md");
/** In the name of a test, up to its explanation, the next scenario or its end. */
const SCENARIO = /Scenario: (\w[^:;"]*)/g;

test("lists in test/scenarios.md exactly the scenarios that tests name, each with the file of its test", () => {
  const found = execFileSync("git", ["grep", "-l", "Scenario: ", "--", "*.test.ts"], {
    cwd: ROOT,
    encoding: "utf8",
  })
    .trim()
    .split("\n")
    .flatMap((file) => {
      const text = readFileSync(join(ROOT, file), "utf8");
      return Array.from(text.matchAll(SCENARIO), ([, name]) => `${name} | ${file}`);
    });
  const listed = [...readFileSync(PAGE, "utf8").matchAll(/^\| (.+? \| \S+?\.test\.ts) \|$/gm)].map(
    ([, row]) => row,
  );
  expect(listed).toEqual([...new Set(found)].sort());
});
