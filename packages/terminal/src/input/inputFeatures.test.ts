import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FileIndex } from "./fileIndex.js";
import { bestMatches, toCandidate } from "./fuzzy.js";
import { attach, findMentions } from "./mentions.js";
import { Pastes } from "./pastes.js";

const folder = mkdtempSync(join(tmpdir(), "agent-input-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("fuzzy matching of paths", () => {
  const paths = [
    "src/chat/input/editor.ts",
    "src/editor/index.ts",
    "docs/editing.md",
    "src/chat/",
    "a/b/creditors.txt",
    "README.md",
  ];
  test.each([
    ["editor", ["src/chat/input/editor.ts", "a/b/creditors.txt", "src/editor/index.ts"]],
    ["edts", ["src/chat/input/editor.ts"]],
    ["readme", ["README.md"]],
    ["chat/ed", ["src/chat/input/editor.ts"]],
    ["zzz", []],
  ])("%s", (query, expected) => {
    expect(bestMatches(paths.map(toCandidate), query, 3).best.slice(0, expected.length || 1)).toEqual(
      expected,
    );
  });
});

describe("the index of a project's files", () => {
  test("knows what git knows, without what it ignores, and directories", async () => {
    const project = join(folder, "repo");
    mkdirSync(join(project, "src/deep"), { recursive: true });
    writeFileSync(join(project, "src/deep/file.ts"), "");
    writeFileSync(join(project, "ignored.log"), "");
    writeFileSync(join(project, ".gitignore"), "*.log\n");
    execFileSync("git", ["init"], { cwd: project, stdio: "ignore" });
    const index = new FileIndex(project);
    await index.refresh();
    expect(index.find("", 10).sort()).toEqual([".gitignore", "src/", "src/deep/", "src/deep/file.ts"]);
    expect(index.find("fil", 10)).toEqual(["src/deep/file.ts"]);
    expect(index.find("file", 10)).toEqual(["src/deep/file.ts"]);
    expect(index.find("src", 1)).toEqual(["src/"]);
  });

  test("walks a directory without git, and leaves out what no one means", async () => {
    const project = join(folder, "plain");
    mkdirSync(join(project, "node_modules/x"), { recursive: true });
    writeFileSync(join(project, "node_modules/x/index.js"), "");
    writeFileSync(join(project, "a\nb"), "");
    writeFileSync(join(project, "main.c"), "");
    const index = new FileIndex(project);
    await index.refresh();
    expect(index.find("", 10)).toEqual(["main.c"]);
  });
});

describe("files that a message mentions", () => {
  test("are found with their lines, also in quotes; addresses are not files", () => {
    expect(findMentions('see @a.ts and @src/b.ts:10-40, or @"c d.md":3. me@example.org @x.')).toEqual([
      { whole: "a.ts", path: "a.ts" },
      { whole: "src/b.ts:10-40", path: "src/b.ts", first: 10, last: 40 },
      { whole: "c d.md", path: "c d.md", first: 3, last: 3 },
      { whole: "x", path: "x" },
    ]);
    expect(findMentions("read @docs:file:///a.md:8080, please").map(({ whole }) => whole)).toEqual([
      "docs:file:///a.md:8080",
    ]);
  });

  const text = Array.from({ length: 3000 }, (_, index) => `line ${index + 1}`).join("\n");
  writeFileSync(join(folder, "long.txt"), text);
  writeFileSync(join(folder, "dot.png"), Buffer.from([137, 80, 78, 71, 0]));
  writeFileSync(join(folder, "data.bin"), Buffer.from([1, 0, 2]));

  test("are attached by lines, and a long one explains how to read on", async () => {
    expect(await attach({ path: "long.txt", first: 2, last: 3 }, { cwd: folder })).toEqual({
      part: { type: "text", text: '<file path="long.txt" lines="2-3">\nline 2\nline 3\n</file>' },
      note: "long.txt (lines 2-3)",
    });
    const whole = await attach({ path: "long.txt" }, { cwd: folder });
    expect(whole?.part.type === "text" && whole.part.text).toMatch(
      /line 2000\n\[cut: lines 1-2000 of 3000\. Read on with offset 2001\.\]\n<\/file>$/,
    );
  });

  test("are attached as images or directory lists, and other binaries are refused with a message", async () => {
    expect((await attach({ path: "dot.png" }, { cwd: folder }))?.part).toMatchObject({
      type: "image",
      mediaType: "image/png",
    });
    expect((await attach({ path: "." }, { cwd: folder }))?.note).toMatch(/entries/);
    await expect(attach({ path: "data.bin" }, { cwd: folder })).rejects.toThrow(
      "@data.bin is a binary file (3 bytes)",
    );
    await expect(attach({ path: "long.txt", first: 9999, last: 9999 }, { cwd: folder })).rejects.toThrow(
      "which has 3000",
    );
    expect(await attach({ path: "no one" }, { cwd: folder })).toBeUndefined();
  });
});

describe("large pastes", () => {
  test("stand on the line as a few words and are sent whole", () => {
    const pastes = new Pastes();
    const text = "x\n".repeat(5000);
    const other = "y\n".repeat(5000);
    const tokens = [pastes.collapse(text), pastes.collapse(other), pastes.collapse(text)];
    expect(tokens).toEqual(["[pasted 5000 lines]", "[pasted 5000 lines #2]", "[pasted 5000 lines]"]);
    expect(pastes.expand(`a ${tokens[0]} b ${tokens[1]}`)).toBe(`a ${text} b ${other}`);
    expect(pastes.collapse("short\npaste")).toBe("short\npaste");
    expect(pastes.collapse("z".repeat(3000))).toBe("[pasted 3000 characters]");
  });

  test("are not confused with text that only looks like one", () => {
    const pastes = new Pastes();
    expect(pastes.expand("[pasted 7 lines]")).toBe("[pasted 7 lines]");
    expect(pastes.endingAt("[pasted 7 lines]", 16)).toBeUndefined();
    const token = pastes.collapse("x\n".repeat(50));
    expect(pastes.endingAt(`a ${token}`, 2 + token.length)).toBe(token);
    expect(pastes.endingAt(`a ${token}`, 3)).toBeUndefined();
  });
});
