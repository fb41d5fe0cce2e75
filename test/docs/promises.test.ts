import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./pages.js";

const PAGE = readFileSync(join(ROOT, "docs/security-promises.md"), "utf8");
/** Every area that a reader looks for. */
const AREAS = [
  "The sandbox",
  "Command rules",
  "Limits and the end of commands",
  "A project's config",
  "Model servers",
  "Keys",
  "What the command may touch",
  "Files",
  "Searches",
  "Sessions",
  "Floods",
  "The terminal",
  "Editors",
  "Hooks",
  "MCP servers",
  "Language servers",
  "The web",
  "Scripts and sub-agents",
  "The page of runs and the web handlers",
  "Attacks that once worked",
];

interface PromiseRow {
  readonly area: string;
  readonly promise: string;
  readonly tests: string;
}

/** The rows of all tables whose head is "promise | tested by". */
function promises(): PromiseRow[] {
  return PAGE.split(/^## /m).flatMap((section) => {
    const area = section.split("\n", 1)[0] ?? "";
    let isPromise = false;
    return section.split("\n").flatMap((line) => {
      const cells = line.startsWith("|") ? line.split(/(?<!\\)\|/).map((cell) => cell.trim()) : [];
      if (cells.length === 0) isPromise = false;
      if (cells[2] === "tested by") isPromise = true;
      const isRow = isPromise && cells[2] !== "tested by" && !/^-+$/.test(cells[1] ?? "");
      return isRow ? [{ area, promise: cells[1] ?? "", tests: cells[2] ?? "" }] : [];
    });
  });
}

test("has promises in every area on the page of promises", () => {
  const areas = new Set(promises().map(({ area }) => area));
  expect(AREAS.filter((area) => !areas.has(area))).toEqual([]);
});

test("names existing tests for every promise of the page of promises", () => {
  const problems = promises().flatMap(({ promise, tests }) => {
    const named = [...tests.matchAll(/"((?:[^"\\]|\\.)+)" in `([^`]+)`/g)];
    if (named.length === 0) return [`no test is named: ${promise}`];
    return named.flatMap(([, title = "", file = ""]) => {
      const path = join(ROOT, file);
      if (!existsSync(path)) return [`${file} does not exist: ${promise}`];
      return readFileSync(path, "utf8").includes(title) ? [] : [`${file} has no test "${title}": ${promise}`];
    });
  });
  expect(problems).toEqual([]);
});
