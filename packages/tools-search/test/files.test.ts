import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolRegistry } from "@agent/core";
import { describe, expect, test } from "vitest";
import { register, searchFilesTool, searchTextTool } from "../src/index.js";
import { makeTree, run } from "./tree.js";

/** Odd files, and searches that are stopped early. */

const MKFIFO = "mkfifo";
const text = searchTextTool();
const files = searchFilesTool();

describe("files", () => {
  test("finds UTF-16 in both byte orders like any text", async () => {
    const little = Buffer.from("\ufeffeins\r\nzwei Grüße\r\n", "utf16le");
    const root = makeTree({ "le.txt": little, "be.txt": Buffer.from(little).swap16() });
    const { lines } = await run(text, root, { query: "Grüße", paths: [root] });
    expect(lines).toEqual(["be.txt:2:zwei Grüße", "le.txt:2:zwei Grüße"]);
    expect((await run(text, root, { query: "^zwei .*e$", paths: [root], regex: true })).lines).toHaveLength(
      2,
    );
  });

  test("finds Latin-1 text and shows it with its letters", async () => {
    const root = makeTree({ "a.txt": Buffer.from("un café noir\n", "latin1"), "b.txt": "un café noir\n" });
    for (const args of [
      { query: "café" },
      { query: "CAFÉ", ignore_case: true },
      { query: "caf.\\s", regex: true },
    ]) {
      const { lines } = await run(text, root, { ...args, paths: [root] });
      expect(lines).toEqual(["a.txt:1:un café noir", "b.txt:1:un café noir"]);
    }
  });

  test("does not treat CRLF and a byte-order mark as part of the line", async () => {
    const root = makeTree({ "a.txt": "\ufefffoo\r\nbar foo\r\n" });
    expect((await run(text, root, { query: "^foo$", paths: [root], regex: true })).lines).toEqual([
      "a.txt:1:foo",
    ]);
    expect((await run(text, root, { query: "foo$", paths: [root], regex: true })).lines).toEqual([
      "a.txt:1:foo",
      "a.txt:2:bar foo",
    ]);
    expect((await run(text, root, { query: "\\s$", paths: [root], regex: true })).lines[0]).toContain(
      "No matches",
    );
  });

  test("searches a line of 120 MB whole, and keeps the output small", async () => {
    const root = makeTree();
    const line = Buffer.alloc(120 * 1024 * 1024, "x");
    line.write("needle", line.length - 100);
    writeFileSync(
      join(root, "a.txt"),
      Buffer.concat([Buffer.from("first\n"), line, Buffer.from("\nneedle last\n")]),
    );
    for (const args of [{ query: "needle" }, { query: "ne+dle", regex: true }]) {
      const { lines, text: output } = await run(text, root, { ...args, paths: [root] });
      expect(lines[0]).toMatch(/^a\.txt:2:…x+needlex+… \[line of 125829120 bytes cut\]$/);
      expect(lines[1]).toBe("a.txt:3:needle last");
      expect(output.length).toBeLessThan(2000);
    }
    rmSync(join(root, "a.txt"));
  });

  test("reports right line numbers and context across the borders of many windows of a file", async () => {
    const lines = Array.from({ length: 300_000 }, (_, i) => `line ${i + 1} ${"x".repeat(i % 50)}`);
    const root = makeTree({ "a.txt": lines.join("\n") });
    const wanted = [1, 2, 40_000, 123_456, 299_999, 300_000];
    const query = `^line (${wanted.join("|")}) `;
    const result = await run(text, root, { query, paths: [root], regex: true, context: 2 });
    const shown = result.lines
      .filter((line) => line !== "--")
      .map((line) => /^a\.txt[:-](\d+)[:-]line (\d+) /.exec(line));
    expect(shown.every((match) => match?.[1] === match?.[2])).toBe(true);
    expect(result.lines.filter((line) => line.startsWith("a.txt:"))).toHaveLength(wanted.length);
    expect(shown.map((match) => Number(match?.[1]))).toEqual([
      ...[1, 2, 3, 4],
      ...[39_998, 39_999, 40_000, 40_001, 40_002],
      ...[123_454, 123_455, 123_456, 123_457, 123_458],
      ...[299_997, 299_998, 299_999, 300_000],
    ]);
  });

  test("divides a large file among the workers, and keeps the number of every line", async () => {
    const lines = Array.from(
      { length: 700_000 },
      (_, i) => `${i + 1}${i % 50_000 === 49_999 ? " needle" : ""} ${"y".repeat(i % 100)}`,
    );
    const root = makeTree({ "big.log": lines.join("\n"), "small.log": "needle\n" });
    const { lines: found, account } = await run(text, root, { query: "needle", paths: [root] });
    expect(found).toHaveLength(15);
    for (const line of found.slice(0, 14)) expect(line).toMatch(/^big\.log:(\d+):\1 needle/);
    expect(found[14]).toBe("small.log:1:needle");
    expect(account).toContain("15 matching lines (2 files); 2 files searched");
  });

  test("divides a large file of very long lines without losing or repeating one", async () => {
    const long = "z".repeat(9 * 1024 * 1024);
    const root = makeTree({ "big.txt": `needle 1\n${long}\nneedle 3 ${long}\n${long} needle\nneedle 5` });
    const { lines } = await run(text, root, { query: "needle", paths: [root] });
    expect(lines.map((line) => line.split(":")[1])).toEqual(["1", "3", "4", "5"]);
  });

  test("does not wait for a directory in place of an ignore file, or for a pipe", async () => {
    const root = makeTree({ "a.txt": "foo\n" });
    mkdirSync(join(root, ".gitignore"));
    execFileSync(MKFIFO, [join(root, ".ignore")]);
    expect((await run(text, root, { query: "foo", paths: [root] })).lines).toEqual(["a.txt:1:foo"]);
  });
});

describe("ending a search", () => {
  test("stops it immediately on an abort, also inside an expression, and the next search works", async () => {
    const root = makeTree({ "a.txt": `${"a".repeat(40)}!\n`, "b.txt": "foo\n" });
    const registry = new ToolRegistry();
    register(registry);
    const controller = new AbortController();
    const args = { query: "^(?=(a+)+$)x(a+)+$", paths: [root], regex: true };
    const running = registry.execute("search_text", args, { signal: controller.signal });
    setTimeout(() => controller.abort(), 200);
    expect(await running).toContain("aborted");
    expect((await run(text, root, { query: "foo", paths: [root] })).lines).toEqual(["b.txt:1:foo"]);
  });

  test("honours an abort that came before the call", async () => {
    const call = { signal: AbortSignal.abort(), onOutput: () => undefined, report: () => undefined };
    await expect(text.execute({ query: "x", paths: ["."] }, call)).rejects.toThrow(/abort/i);
    await expect(files.execute({ pattern: "**" }, call)).rejects.toThrow(/abort/i);
  });

  test("lets a program that only searches exit by itself", () => {
    const script = `
      const { searchTextTool } = await import(${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)});
      console.log(await searchTextTool().execute({ query: "token", paths: ["a.txt"] }));`;
    const cwd = makeTree({ "a.txt": "one token\n" });
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd,
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(output).toContain("a.txt:1:one token");
  });

  test("gives each of many simultaneous searches its own answer", async () => {
    const root = makeTree(
      Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}.txt`, `token${i}.\n`])),
    );
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, i) => run(text, root, { query: `token${i}.`, paths: [root] })),
    );
    for (const [i, { lines }] of all.entries()) expect(lines).toEqual([`f${i}.txt:1:token${i}.`]);
  });
});

test("bounds the size of a result, whatever the cap and the context", async () => {
  const line = `${"x".repeat(600)}\n`;
  const root = makeTree(
    Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}.txt`, line.repeat(500)])),
  );
  const {
    lines,
    account,
    text: output,
  } = await run(text, root, {
    ...{ query: "x", paths: [root] },
    ...{ max_results: 100_000, context: 50 },
  });
  expect(output.length).toBeLessThan(210_000);
  expect(lines[0]).toContain("f0.txt:1:x");
  expect(account).toMatch(/^\[\d+ of 15000 matching lines shown \(30 files\)/);
});
