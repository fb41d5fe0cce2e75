import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileTools, temporaryDirectory } from "../../test/support.js";
import { mkdirTool } from "./mkdir.js";

test("creates a directory with its parents, and accepts one that exists", async () => {
  const path = join(temporaryDirectory(), "a/b/c");
  const tool = mkdirTool();
  expect(await tool.execute({ path })).toBe(`Created ${path}`);
  expect(statSync(path).isDirectory()).toBe(true);
  expect(await tool.execute({ path })).toBe(`Already exists: ${path}`);
});

test("fails on a file and on a dangling link, and succeeds on a link to a directory", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "file"), "");
  mkdirSync(join(directory, "real"));
  symlinkSync("real", join(directory, "link"));
  symlinkSync("gone", join(directory, "dangling"));
  const run = fileTools();
  expect(await run("mkdir", { path: join(directory, "file") })).toContain("exists already and is a file");
  expect(await run("mkdir", { path: join(directory, "file/sub") })).toContain("not a directory (ENOTDIR)");
  expect(await run("mkdir", { path: join(directory, "link") })).toContain("Already exists");
  expect(await run("mkdir", { path: join(directory, "dangling") })).toContain(
    "a symbolic link to something that does not exist",
  );
  expect(existsSync(join(directory, "gone"))).toBe(false);
});

test("succeeds for fifty simultaneous calls for overlapping paths, confined or not", async () => {
  for (const options of [{}, { root: temporaryDirectory() }]) {
    const directory = options.root ?? temporaryDirectory();
    const run = fileTools(options);
    const paths = Array.from({ length: 50 }, (_, index) => join(directory, `a/b/c/${index % 10}`));
    const texts = await Promise.all(paths.map((path) => run("mkdir", { path })));
    expect(texts.filter((text) => text.includes("Error"))).toEqual([]);
    expect(paths.every((path) => existsSync(path))).toBe(true);
  }
});
