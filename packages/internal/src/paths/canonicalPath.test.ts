import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { canonicalPath, canonicalPaths } from "./canonicalPath.js";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "canonical-"));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test("resolves many paths in one call as each of them alone: links, dangling links, missing and existing names", () => {
  mkdirSync(join(root, "real/inner"), { recursive: true });
  writeFileSync(join(root, "file"), "");
  symlinkSync("real", join(root, "link"));
  symlinkSync(join(root, "nowhere/else"), join(root, "dangling"));
  symlinkSync("../file", join(root, "real/up"));
  symlinkSync("link/inner", join(root, "twice"));
  const paths = [
    "link",
    "link/inner",
    "link/missing",
    "link/missing/deeper",
    "dangling",
    "dangling/x",
    "real/up",
    "real/up/x",
    "twice/y",
    "nowhere",
    "nowhere/else",
    "nowhere/../file",
    "file/x/y",
    "file",
    ".",
  ].map((path) => join(root, path));
  expect(canonicalPaths([...paths, "/", "/missing-at-the-root"])).toEqual([
    ...paths.map(canonicalPath),
    "/",
    "/missing-at-the-root",
  ]);
  expect(canonicalPaths([join(root, "link/missing"), join(root, "dangling/x")])).toEqual([
    join(canonicalPath(root), "real/missing"),
    join(canonicalPath(root), "nowhere/else/x"),
  ]);
});

test("names a loop of links among many paths", () => {
  symlinkSync("b", join(root, "a"));
  symlinkSync("a", join(root, "b"));
  expect(() => canonicalPaths([join(root, "a/x")])).toThrow("is a loop of symbolic links");
});
