import { symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@agent/core";
import { describe, expect, test } from "vitest";
import { makeTree, run } from "../../test/tree.js";
import { searchFilesTool } from "../index.js";

const tool = searchFilesTool();

describe("search_files", () => {
  test("Scenario: find files by glob, one path a line, sorted", async () => {
    const root = makeTree({ "b.ts": "", "a/z.ts": "", "a.ts": "", "a/x.js": "" });
    const { lines, account } = await run(tool, root, { pattern: "**/*.ts", path: root });
    expect(lines).toEqual(["a.ts", "a/z.ts", "b.ts"]);
    expect(account).toBe("[3 files]");
  });

  test("finds dotfiles but no ignored files, and says so", async () => {
    const root = makeTree({
      ".env": "",
      ".git/config": "",
      ".gitignore": "dist\n",
      "dist/a.js": "",
      "b.js": "",
    });
    const { lines, account } = await run(tool, root, { pattern: "**", path: root });
    expect(lines).toEqual([".env", ".gitignore", "b.js"]);
    expect(account).toBe("[3 files; skipped 2 directories ignored (include_ignored: true searches them)]");
    const all = await run(tool, root, { pattern: "**", path: root, include_ignored: true });
    expect(all.lines).toEqual([".env", ".git/config", ".gitignore", "b.js", "dist/a.js"]);
  });

  test("searches a directory named by the fixed part of a pattern even if it is ignored", async () => {
    const root = makeTree({ ".git/HEAD": "", ".gitignore": "dist/\n", "dist/a.js": "", "dist/sub/b.js": "" });
    const found = async (pattern: string) => (await run(tool, root, { pattern, path: root })).lines;
    expect(await found("dist/**/*.js")).toEqual(["dist/a.js", "dist/sub/b.js"]);
    expect(await found("dist/a.js")).toEqual(["dist/a.js"]);
    expect(await found("**/*.js")).not.toContain("dist/a.js");
  });

  test("lists the newest first, if asked", async () => {
    const root = makeTree({ "a.txt": "", "b.txt": "", "c.txt": "" });
    for (const [name, time] of Object.entries({ "a.txt": 100, "b.txt": 300, "c.txt": 200 })) {
      utimesSync(join(root, name), time, time);
    }
    const { lines } = await run(tool, root, { pattern: "*.txt", path: root, sort: "newest" });
    expect(lines).toEqual(["b.txt", "c.txt", "a.txt"]);
  });

  test("reports in a capped list how many there are", async () => {
    const root = makeTree(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}.txt`, ""])));
    const { lines, account } = await run(tool, root, { pattern: "*", path: root, max_results: 3 });
    expect(lines).toHaveLength(3);
    expect(account).toContain("3 of 20 files shown; for the rest raise max_results");
  });

  test("reports a list too long for one answer, in both orders", async () => {
    const name = "n".repeat(200);
    const root = makeTree(
      Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`${name}${i}.txt`, ""])),
    );
    for (const sort of ["path", "newest"]) {
      const found = await tool.execute({ pattern: "*", path: root, max_results: 5000, sort });
      expect(found.length).toBeLessThan(200_200);
      expect(found).toMatch(
        /\n\[\d{3} of 1100 files shown; no more fits 200000 characters, so for the rest narrow path or pattern\]$/,
      );
    }
  });

  test("answers a pattern that is a directory with the pattern that was meant", async () => {
    const root = makeTree({ "src/a.ts": "" });
    const find = (pattern: string) => tool.execute({ pattern, path: root });
    const hint = '"src" is a directory; "src/**" finds the files in it.';
    expect(await find("src")).toBe(`No files match "src".\n${hint}\n[0 files]`);
    expect(await find("{src,src/a.ts}")).toBe(`${join(root, "src/a.ts")}\n[1 file]`);
    expect(await find("src/**")).toContain("src/a.ts");
  });

  test.each(["app/(group)/page.tsx", "copy (1).ts", `app/[...slug]/${"long".repeat(20)}.tsx`])(
    "explains how to write %s, which means something else as a pattern",
    async (name) => {
      const root = makeTree({ [name]: "" });
      const find = (pattern: string) => tool.execute({ pattern, path: root });
      const found = await find(name);
      expect(found).toMatch(/^No files match "/);
      expect(found).toContain(`\nA file has exactly this name; as a pattern it is `);
      const [, escaped = '""'] = /as a pattern it is (".*")\./.exec(found) ?? [];
      expect(await find(JSON.parse(escaped))).toBe(`${join(root, name)}\n[1 file]`);
    },
  );

  test("reports plainly that nothing was found", async () => {
    const root = makeTree({ "a.txt": "" });
    expect((await run(tool, root, { pattern: "*.ts", path: root })).text).toBe(
      'No files match "*.ts".\n[0 files]',
    );
  });

  test("shows paths relative to the working directory", async () => {
    const root = makeTree({ "src/a.ts": "", "b.ts": "" });
    const before = process.cwd();
    process.chdir(join(root, "src"));
    try {
      expect(await tool.execute({ pattern: "*.ts" })).toMatch(/^a\.ts\n/);
      expect(await tool.execute({ pattern: "*.ts", path: ".." })).toMatch(/^\.\.\/b\.ts\n/);
      expect(await tool.execute({ pattern: "../*.ts" })).toMatch(/^\.\.\/b\.ts\n/);
    } finally {
      process.chdir(before);
    }
  });

  test("links are not followed and are counted", async () => {
    const root = makeTree({ "a.ts": "" });
    symlinkSync(join(root, "a.ts"), join(root, "link.ts"));
    const { lines, account } = await run(tool, root, { pattern: "*.ts", path: root });
    expect(lines).toEqual(["a.ts"]);
    expect(account).toContain("1 link not followed");
  });

  test.each([
    [{ pattern: "" }, '"pattern"'],
    [{ pattern: "!*.ts" }, "names nothing to find"],
    [{ pattern: "*", path: "no/such/place" }, "no/such/place"],
    [{ pattern: "*", sort: "size" }, '"sort"'],
    [{ pattern: "*", max_results: 0 }, '"max_results"'],
    [{ pattern: "a\0b" }, "NUL"],
  ])("refuses %j with the reason", async (args, reason) => {
    const registry = new ToolRegistry();
    registry.register(tool);
    const result = await registry.execute(tool.name, args);
    expect(result).toMatch(`Error executing ${tool.name}: `);
    expect(result).toContain(reason);
  });
});
