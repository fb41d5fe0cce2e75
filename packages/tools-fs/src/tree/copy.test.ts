import {
  type BigIntStats,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { makeFifo, temporaryDirectory } from "../../test/support.js";
import { copyTree } from "./copy.js";
import { removeCopiedSource } from "./move.js";

// What someone else does just before a file is looked at, and between that and opening it.
const others = vi.hoisted(() => {
  const nothing = (_path: string): void => undefined;
  return { nothing, before: nothing, after: nothing };
});

vi.mock("node:fs/promises", async (importOriginal) => {
  const original = await importOriginal<typeof import("node:fs/promises")>();
  const lstat = async (path: string, options: { bigint: true }): Promise<BigIntStats> => {
    others.before(path);
    const info = await original.lstat(path, options);
    others.after(path);
    return info;
  };
  return { ...original, lstat };
});

afterEach(() => {
  others.before = others.after = others.nothing;
});

test("refuses without waiting for a writer a FIFO that replaces the file after the check", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "a"), "x");
  others.after = () => {
    unlinkSync(join(directory, "a"));
    makeFifo(join(directory, "a"));
  };
  const step = { from: directory, name: "a", to: directory, newName: "b", shown: "a" };
  await expect(copyTree(step)).rejects.toThrow("a changed while it was copied; nothing was moved.");
  expect(readdirSync(directory)).toEqual(["a"]);
  expect(lstatSync(join(directory, "a")).isFIFO()).toBe(true);
});

/** A tree with a file that has two hard links, and a function that copies it. */
function twoNames() {
  const directory = temporaryDirectory();
  const at = (name: string): string => join(directory, name);
  mkdirSync(at("tree"));
  writeFileSync(at("tree/a"), "old");
  linkSync(at("tree/a"), at("tree/b"));
  const step = { from: directory, name: "tree", to: directory, newName: "copy", shown: "tree" };
  return { directory, at, copy: () => copyTree(step) };
}

test("copies twice a file with two hard links that is written between their copies, and keeps the changed source", async () => {
  const { directory, at, copy } = twoNames();
  others.before = (path) => {
    if (basename(path) === "b") writeFileSync(at("tree/a"), "newer");
  };
  const copied = await copy();
  others.before = others.nothing;
  expect(["a", "b"].map((name) => readFileSync(at(`copy/${name}`), "utf8"))).toEqual(["old", "newer"]);
  expect(await removeCopiedSource(directory, copied, "tree")).toEqual([
    "tree/a: it changed after it was copied",
  ]);
  expect(readFileSync(at("tree/a"), "utf8")).toBe("newer");
});

test("keeps a file with two hard links that is written after the copy, with both names", async () => {
  const { directory, at, copy } = twoNames();
  const copied = await copy();
  writeFileSync(at("tree/b"), "newer");
  expect(await removeCopiedSource(directory, copied, "tree")).toEqual([
    "tree/a: it changed after it was copied",
    "tree/b: it changed after it was copied",
  ]);
  expect(readdirSync(at("tree"))).toEqual(["a", "b"]);
});
