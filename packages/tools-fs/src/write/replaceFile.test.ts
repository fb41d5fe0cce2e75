import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support.js";
import { readWhole } from "../read/readWhole.js";
import { Workspace } from "../workspace.js";
import { type Basis, replaceFile } from "./replaceFile.js";

const onChanged = (): Error => new Error("changed on disk");
let directory: string;
let path: string;
let workspace: Workspace;

beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, "file.txt");
  workspace = new Workspace();
});

async function read(): Promise<NonNullable<Basis["expected"]>> {
  const expected = await readWhole(workspace, path, path, undefined);
  if (expected === undefined) throw new Error("missing");
  return expected;
}

describe("a file that another program changed after it was read", () => {
  test("is not replaced, even if size and time are the same", async () => {
    writeFileSync(path, "one\n");
    const expected = await read();
    const { atime, mtime } = statSync(path);
    writeFileSync(path, "uno\n");
    utimesSync(path, atime, mtime);
    await expect(
      replaceFile(workspace, path, Buffer.from("two\n"), { basis: { expected, onChanged } }),
    ).rejects.toThrow("changed on disk");
    expect(readFileSync(path, "utf8")).toBe("uno\n");
    expect(readdirSync(dirname(path))).toEqual(["file.txt"]);
  });

  test("is not created again if it was removed", async () => {
    writeFileSync(path, "one\n");
    const expected = await read();
    unlinkSync(path);
    await expect(
      replaceFile(workspace, path, Buffer.from("two\n"), { basis: { expected, onChanged } }),
    ).rejects.toThrow("changed on disk");
    expect(readdirSync(directory)).toEqual([]);
  });

  test("is not replaced if it was created meanwhile", async () => {
    writeFileSync(path, "by someone else");
    await expect(
      replaceFile(workspace, path, Buffer.from("two\n"), { basis: { expected: undefined, onChanged } }),
    ).rejects.toThrow("changed on disk");
    expect(readFileSync(path, "utf8")).toBe("by someone else");
  });
});

test("replaces a file that is as it was read, and creates one that is still missing", async () => {
  writeFileSync(path, "one\n");
  const basis = { expected: await read(), onChanged };
  expect(await replaceFile(workspace, path, Buffer.from("two\n"), { basis })).toEqual({
    created: false,
    lines: 1,
  });
  expect(readFileSync(path, "utf8")).toBe("two\n");
  const other = join(directory, "a/b/other.txt");
  expect(
    await replaceFile(workspace, other, Buffer.from("x"), { basis: { expected: undefined, onChanged } }),
  ).toEqual({ created: true, lines: 1 });
});

test.each([
  ["", 0],
  ["\n", 1],
  ["a", 1],
  ["a\nb", 2],
  ["a\nb\n", 2],
  [`${"0123456789abcde\n".repeat(40_000)}end`, 40_001],
])("counts the lines of %j", async (content, lines) => {
  expect((await replaceFile(workspace, path, Buffer.from(content))).lines).toBe(lines);
  expect(readFileSync(path, "utf8")).toBe(content);
});

test.each([
  ["the file", join("old/new/deeper", "n".repeat(300))],
  ["a directory", join("old/new/deeper", "n".repeat(300), "file")],
])("removes the directories it created, and no other, if %s cannot be created", async (_, name) => {
  mkdirSync(join(directory, "old"));
  const target = join(directory, name);
  await expect(replaceFile(workspace, target, Buffer.from("x"))).rejects.toThrow("ENAMETOOLONG");
  expect(existsSync(join(directory, "old"))).toBe(true);
  expect(readdirSync(join(directory, "old"))).toEqual([]);
});

test("replaces a link at the path itself, and never follows it", async () => {
  const other = join(directory, "other");
  writeFileSync(other, "kept");
  symlinkSync(other, path);
  await replaceFile(workspace, path, Buffer.from("new"));
  expect(readFileSync(other, "utf8")).toBe("kept");
  expect(lstatSync(path).isSymbolicLink()).toBe(false);
});
