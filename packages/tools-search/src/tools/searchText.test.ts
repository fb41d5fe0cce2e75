import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@agent/core";
import { warningsDuring } from "@agent/test-support";
import { describe, expect, test } from "vitest";
import { makeTree, put, run } from "../../test/tree.js";
import { searchFilesTool, searchTextTool } from "../index.js";

const tool = searchTextTool();

describe("what is found", () => {
  test("Scenario: literal search returns path, line number and text, in path order", async () => {
    const root = makeTree({ "b.txt": "one\nfoo two\n", "a/z.txt": "foo\n", "a.txt": "x\nx\nfoo.bar" });
    const { lines, account } = await run(tool, root, { query: "foo", paths: [root] });
    expect(lines).toEqual(["a.txt:3:foo.bar", "a/z.txt:1:foo", "b.txt:2:foo two"]);
    expect(account).toBe("[3 matching lines (3 files); 3 files searched]");
  });

  test("takes every character of a literal query as it is", async () => {
    const root = makeTree({ "a.txt": "a.b\naxb\n(a|b)*\n" });
    expect((await run(tool, root, { query: "a.b", paths: [root] })).lines).toEqual(["a.txt:1:a.b"]);
    expect((await run(tool, root, { query: "(a|b)*", paths: [root] })).lines).toEqual(["a.txt:3:(a|b)*"]);
  });

  test("Scenario: regex search", async () => {
    const root = makeTree({ "a.ts": "const x1 = 1;\nlet y = 2;\nconst zz = 3;\n" });
    const { lines } = await run(tool, root, { query: "^const \\w\\d", paths: [root], regex: true });
    expect(lines).toEqual(["a.ts:1:const x1 = 1;"]);
  });

  test("covers letters beyond ASCII with ignore_case", async () => {
    const root = makeTree({ "a.txt": "STRASSE\nÄRGER\närger\n" });
    const found = async (query: string) =>
      (await run(tool, root, { query, paths: [root], ignore_case: true })).lines;
    expect(await found("strasse")).toEqual(["a.txt:1:STRASSE"]);
    expect(await found("ärger")).toEqual(["a.txt:2:ÄRGER", "a.txt:3:ärger"]);
  });

  test("counts a line once, however often it matches", async () => {
    const root = makeTree({ "a.txt": "foo foo foo\n" });
    expect((await run(tool, root, { query: "foo", paths: [root] })).account).toContain(
      "1 matching line (1 file)",
    );
  });

  test("reports the number of matches as the summary of the call", async () => {
    const root = makeTree({ "a.txt": "foo\nbar\nbar\n" });
    const summaries: unknown[] = [];
    const call = {
      signal: new AbortController().signal,
      onOutput: () => undefined,
      report: ({ summary }: { summary?: string }) => void summaries.push(summary),
    };
    for (const query of ["foo", "bar"]) await tool.execute({ query, paths: [root] }, call);
    await searchFilesTool().execute({ pattern: "*", path: root }, call);
    expect(summaries).toEqual(["1 matching line", "2 matching lines", "1 file"]);
  });

  test("shows paths the way they were given: relative stays relative", async () => {
    const root = makeTree({ "src/a.txt": "foo\n" });
    const before = process.cwd();
    process.chdir(root);
    try {
      expect(await tool.execute({ query: "foo", paths: ["./src/"] })).toMatch(/^src\/a\.txt:1:foo\n/);
      expect(await tool.execute({ query: "foo", paths: ["."] })).toMatch(/^src\/a\.txt:1:foo\n/);
      expect(await tool.execute({ query: "foo", paths: ["src/a.txt"] })).toMatch(/^src\/a\.txt:1:foo\n/);
    } finally {
      process.chdir(before);
    }
  });

  test("searches a file once, also if several paths point to it", async () => {
    const root = makeTree({ "src/a.txt": "foo\n", "src/lib/b.txt": "foo\n" });
    symlinkSync(join(root, "src"), join(root, "link"));
    const paths = ["", "/src", "/src/a.txt", "/link", "/src/lib"].map((path) => root + path);
    const { account } = await run(tool, root, { query: "foo", paths });
    expect(account).toContain("2 matching lines (2 files); 2 files searched");
  });

  test("limits the search to matching names or paths with glob, and can exclude", async () => {
    const root = makeTree({ "src/a.ts": "foo", "src/a.test.ts": "foo", "lib/b.ts": "foo", "c.md": "foo" });
    const found = async (glob: string) =>
      (await run(tool, root, { query: "foo", paths: [root], glob })).lines.map((line) => line.split(":")[0]);
    expect(await found("*.ts")).toEqual(["lib/b.ts", "src/a.test.ts", "src/a.ts"]);
    expect(await found("src/**/*.{ts,js}")).toEqual(["src/a.test.ts", "src/a.ts"]);
    expect(await found("!*.test.ts")).toEqual(["c.md", "lib/b.ts", "src/a.ts"]);
  });
});

describe("output", () => {
  test("marks context lines with dashes, separates groups, and merges overlapping ones", async () => {
    const root = makeTree({ "a.txt": "1\n2\nfoo\n4\nfoo\n6\n7\n8\n9\nfoo" });
    const { lines } = await run(tool, root, { query: "foo", paths: [root], context: 1 });
    expect(lines).toEqual([
      "a.txt-2-2",
      "a.txt:3:foo",
      "a.txt-4-4",
      "a.txt:5:foo",
      "a.txt-6-6",
      "--",
      "a.txt-9-9",
      "a.txt:10:foo",
    ]);
  });

  test("lists paths with files_only, and the number of matching lines with count", async () => {
    const root = makeTree({ "a.txt": "foo\nfoo\n", "b.txt": "bar\n", "c.txt": "foo\n" });
    const files = await run(tool, root, { query: "foo", paths: [root], files_only: true });
    expect(files.lines).toEqual(["a.txt", "c.txt"]);
    expect(files.account).toBe("[2 matching files; 3 files searched]");
    const counts = await run(tool, root, { query: "foo", paths: [root], count: true });
    expect(counts.lines).toEqual(["a.txt:2", "c.txt:1"]);
    expect(counts.account).toBe("[2 matching files (3 matching lines); 3 files searched]");
  });

  test("caps a result to the first ones in path order, with the number of all", async () => {
    const root = makeTree({ "a.txt": "foo\nfoo\n", "b.txt": "foo\nfoo\nfoo\n" });
    const { lines, account } = await run(tool, root, { query: "foo", paths: [root], max_results: 3 });
    expect(lines).toEqual(["a.txt:1:foo", "a.txt:2:foo", "b.txt:1:foo"]);
    expect(account).toContain("3 of 5 matching lines shown (2 files)");
    expect(account).toContain("max_results");
  });

  test("cuts a long line around the match and reports how long it is", async () => {
    const root = makeTree({ "a.txt": `${"x".repeat(5000)}foo${"y".repeat(5000)}\n` });
    const short = searchTextTool({ maxLineLength: 60 });
    const { lines } = await run(short, root, { query: "foo", paths: [root] });
    expect(lines[0]).toMatch(/^a\.txt:1:…x+fooy+… \[line of 10003 bytes cut\]$/);
    expect(lines[0]?.length).toBeLessThan(120);
  });

  test("escapes control and invisible characters, but not tabs", async () => {
    const root = makeTree({ "a.txt": "\tfoo \x1b[31m \u202e\n" });
    const { lines } = await run(tool, root, { query: "foo", paths: [root] });
    expect(lines).toEqual(["a.txt:1:\tfoo \\x1b[31m \\u202e"]);
  });

  test("adds context lines to few matches with autoContext and leaves the counts unchanged", async () => {
    const root = makeTree({ "a.txt": "1\n2\n3\nfoo\n5\n", "b.txt": "x\n" });
    const auto = searchTextTool({ autoContext: true });
    const { lines, account } = await run(auto, root, { query: "foo", paths: [root] });
    expect(lines).toEqual(["a.txt-1-1", "a.txt-2-2", "a.txt-3-3", "a.txt:4:foo", "a.txt-5-5"]);
    expect(account).toBe("[1 matching line (1 file); 2 files searched]");
    expect((await run(auto, root, { query: "foo", paths: [root], context: 0 })).lines).toEqual([
      "a.txt:4:foo",
    ]);
    put(root, "many.txt", "foo\n".repeat(4));
    expect((await run(auto, root, { query: "foo", paths: [root] })).lines).not.toContain("a.txt-3-3");
  });
});

describe("what is left out", () => {
  test("counts ignored files, and finds them when asked for or named", async () => {
    const root = makeTree({
      ".gitignore": "dist/\n*.log\n!keep.log\n",
      "a.txt": "foo\n",
      "b.log": "foo\n",
      "keep.log": "foo\n",
      "dist/c.txt": "foo\n",
      "sub/.gitignore": "/d.txt\n",
      "sub/d.txt": "foo\n",
      "sub/deep/d.txt": "foo\n",
      "sub/.ignore": "e.txt\n",
      "sub/e.txt": "foo\n",
    });
    const { lines, account } = await run(tool, root, { query: "foo", paths: [root] });
    expect(lines.map((line) => line.split(":")[0])).toEqual(["a.txt", "keep.log", "sub/deep/d.txt"]);
    expect(account).toContain(
      "skipped 1 directory and 3 files ignored (include_ignored: true searches them)",
    );
    const all = await run(tool, root, { query: "foo", paths: [root], include_ignored: true });
    expect(all.lines).toHaveLength(7);
    const named = await run(tool, root, { query: "foo", paths: [`${root}/dist`, `${root}/b.log`] });
    expect(named.lines).toEqual(["b.log:1:foo", "dist/c.txt:1:foo"]);
  });

  test("follows in a directory inside a repository the ignore files above it and the exclude file", async () => {
    const root = makeTree({
      ".git/info/exclude": "secret.txt\n",
      ".git/config": "foo\n",
      ".gitignore": "/pkg/gen\nout/*\n",
      "pkg/a.txt": "foo\n",
      "pkg/gen/b.txt": "foo\n",
      "pkg/secret.txt": "foo\n",
      "out/c.txt": "foo\n",
    });
    const found = async (path: string) =>
      (await run(tool, root, { query: "foo", paths: [root + path] })).lines;
    expect(await found("/pkg")).toEqual(["pkg/a.txt:1:foo"]);
    expect(await found("")).toEqual(["pkg/a.txt:1:foo"]);
    expect(await found("/pkg/gen")).toEqual(["pkg/gen/b.txt:1:foo"]);
    expect(await found("/out")).toEqual(["out/c.txt:1:foo"]);
    expect(await found("/.git")).toEqual([".git/config:1:foo"]);
  });

  test("applies rules that leave out all but some kinds of files in a directory below, too", async () => {
    const root = makeTree({
      ".git/HEAD": "",
      ".gitignore": "*\n!*/\n!*.ts\n",
      "src/a.ts": "foo\n",
      "src/b.log": "foo\n",
    });
    const { lines, account } = await run(tool, root, { query: "foo", paths: [join(root, "src")] });
    expect(lines).toEqual(["src/a.ts:1:foo"]);
    expect(account).toContain("1 file ignored");
  });

  test("uses the rules of a nested repository", async () => {
    const root = makeTree({
      ".git/HEAD": "",
      ".gitignore": "*.txt\n",
      "module/.git": "gitdir: ../.git/modules/module\n",
      ".git/modules/module/info/exclude": "b.txt\n",
      "module/a.txt": "foo\n",
      "module/b.txt": "foo\n",
    });
    expect((await run(tool, root, { query: "foo", paths: [root] })).lines).toEqual(["module/a.txt:1:foo"]);
  });

  test("counts binary files as binary, and searches them when named", async () => {
    const root = makeTree({ "a.bin": Buffer.from("foo\0bar\n"), "late.bin": `${"x\n".repeat(9000)}foo\0\n` });
    const { lines, account } = await run(tool, root, { query: "foo", paths: [root] });
    expect(lines).toEqual(["No file was searched."]);
    expect(account).toContain("2 binary");
    const named = await run(tool, root, { query: "foo", paths: [`${root}/a.bin`] });
    expect(named.lines).toEqual(["a.bin:1:foo\\x00bar"]);
  });

  test('reports "No matches" only if nothing was left out', async () => {
    const root = makeTree({ "a.txt": "x\n" });
    const args = { query: "nowhere", paths: [root] };
    expect((await run(tool, root, args)).lines).toEqual(['No matches for "nowhere".']);
    put(root, ".gitignore", "*.log\n");
    put(root, "b.log", "nowhere\n");
    const { text } = await run(tool, root, args);
    expect(text).not.toContain("No matches");
    expect(text).toContain("1 file ignored");
  });

  test("names a glob that matches no file as the reason", async () => {
    const root = makeTree({ "src/a.ts": "foo\n" });
    const find = (glob: string) => run(tool, root, { query: "foo", glob, paths: [root] });
    expect((await find("src/")).lines).toEqual(['No file was searched: no file matches glob "src/".']);
    expect((await find("src/*")).lines).toEqual(["src/a.ts:1:foo"]);
  });

  test("does not call an empty directory a search without matches", async () => {
    const root = makeTree();
    mkdirSync(join(root, "empty"));
    expect((await run(tool, root, { query: "x", paths: [root] })).lines).toEqual(["No file was searched."]);
  });
});

describe("arguments", () => {
  test.each([
    [{ query: "", paths: ["."] }, '"query"'],
    [{ query: "a\nb", paths: ["."] }, "line break"],
    [{ query: "a", paths: [] }, '"paths"'],
    [{ query: "a" }, '"paths"'],
    [{ query: "a", paths: [""] }, "empty string"],
    [{ query: "a", paths: [3] }, "paths[0]"],
    [{ query: "a", paths: ["."], context: 51 }, '"context"'],
    [{ query: "a", paths: ["."], max_results: 0 }, '"max_results"'],
    [{ query: "a", paths: ["."], files_only: true, count: true }, '"count"'],
    [{ query: "a", paths: ["."], glob: "{a,b}".repeat(26) }, '"glob"'],
  ])("are refused with the argument's name: %j", async (args, name) => {
    const registry = new ToolRegistry();
    registry.register(tool);
    const result = await registry.execute(tool.name, args);
    expect(result).toMatch(`Error executing ${tool.name}: `);
    expect(result).toContain(name);
  });
});

test("causes no Node warning for fifty simultaneous searches that share one signal", async () => {
  const root = makeTree({ "a.txt": "foo\n" });
  const call = { signal: new AbortController().signal, onOutput() {}, report() {} };
  const warnings = await warningsDuring(async () => {
    for (const [shared, args] of [
      [tool, { query: "foo", paths: [root] }],
      [searchFilesTool(), { pattern: "*.txt", path: root }],
    ] as const) {
      const results = await Promise.all(Array.from({ length: 50 }, () => shared.execute(args, call)));
      expect(results.every((text) => text.includes("a.txt"))).toBe(true);
    }
  });
  expect(warnings).toEqual([]);
});
