import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { pages, ROOT } from "./pages.js";

const PAGES = [
  ...pages(),
  "AGENTS.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs/contributing/README.md",
  "docs/contributing/recipes.md",
  "docs/contributing/shell-policy.md",
  "docs/contributing/search-engine.md",
  "docs/contributing/mutation-testing.md",
];
/** Links in code are not links, neither in a block nor in a span. */
const CODE = /^( *)```[\s\S]*?^\1```$|`[^`\n]*`/gm;
const LINK = /\]\(([^)\s]+)\)/g;

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(file: string): Set<string> {
  const text = readFileSync(file, "utf8").replaceAll(/^( *)```[\s\S]*?^\1```$/gm, "");
  return new Set(
    Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

const REPOSITORY = /^https:\/\/github\.com\/agent\/agent\/(?:blob|tree)\/main\//;

/** Why a link is broken; `undefined` if it works, or points out of the repository. */
function problemOf(page: string, target: string): string | undefined {
  const isOwn = REPOSITORY.test(target);
  if (/^\w+:/.test(target) && !isOwn) return undefined;
  const [path = "", anchor] = target.replace(REPOSITORY, "").split("#");
  const base = isOwn ? ROOT : join(ROOT, dirname(page));
  const file = path === "" ? join(ROOT, page) : join(base, path);
  // Where the README of a package is read, there is no folder above it.
  if (path !== "" && !isOwn && page.startsWith("packages/")) {
    return `${page}: ${target} is a file that the package does not have; use its address at GitHub`;
  }
  if (!existsSync(file)) return `${page}: ${target} does not exist`;
  if (anchor === undefined) return undefined;
  const shown = statSync(file).isDirectory() ? join(file, "README.md") : file;
  return anchorsOf(shown).has(anchor)
    ? undefined
    : `${page}: ${relative(ROOT, shown)} has no heading #${anchor}`;
}

test("resolves every link of the documentation to a file and a heading that exist", () => {
  const links = PAGES.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), "utf8").replaceAll(CODE, "");
    return Array.from(text.matchAll(LINK), ([, target = ""]) => ({ page, target }));
  });
  expect(links.length).toBeGreaterThan(100);
  expect(links.flatMap(({ page, target }) => problemOf(page, target) ?? [])).toEqual([]);
});
