import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileTools, makeFifo, temporaryDirectory } from "../../test/support.js";

/** A directory on another device than the temporary one, if this machine has one. */
const SHARED_MEMORY = "/dev/shm";
const otherDevice =
  existsSync(SHARED_MEMORY) && statSync(SHARED_MEMORY).dev !== statSync(process.env.TMPDIR ?? "/tmp").dev;

const ignoresCase = existsSync(import.meta.filename.toUpperCase());

function scene() {
  const directory = temporaryDirectory();
  const at = (name: string): string => join(directory, name);
  const run = fileTools();
  const move = (source: string, destination: string, overwrite?: boolean): Promise<string> =>
    run("move", {
      source: at(source),
      destination: at(destination),
      ...(overwrite !== undefined && { overwrite }),
    });
  return { directory, at, run, move };
}

test("renames a file, with missing parents created", async () => {
  const { at, move } = scene();
  writeFileSync(at("a"), "x");
  expect(await move("a", "new/b")).toBe(`Moved ${at("a")} to ${at("new/b")}`);
  expect(readFileSync(at("new/b"), "utf8")).toBe("x");
  expect(existsSync(at("a"))).toBe(false);
});

test("moves into an existing directory like mv, and offers the nearest name for a missing source", async () => {
  const { at, move } = scene();
  writeFileSync(at("file.txt"), "x");
  mkdirSync(at("d"));
  expect(await move("fle.txt", "d")).toContain(`Did you mean ${at("file.txt")}?`);
  expect(await move("file.txt", "d")).toBe(`Moved ${at("file.txt")} to ${at("d/file.txt")}`);
  expect(readFileSync(at("d/file.txt"), "utf8")).toBe("x");
  expect(await move("d/file.txt", "nowhere/")).toContain("is not an existing directory");
});

test("replaces an existing file only when asked", async () => {
  const { at, move } = scene();
  writeFileSync(at("a"), "new");
  writeFileSync(at("b"), "old");
  expect(await move("a", "b")).toContain('exists already; nothing was moved. Pass "overwrite": true');
  expect(readFileSync(at("b"), "utf8")).toBe("old");
  expect(await move("a", "b", true)).toContain("Moved");
  expect(readFileSync(at("b"), "utf8")).toBe("new");
});

test("lets one of fifty simultaneous moves to one name succeed, and loses no file", async () => {
  const { at, directory, move } = scene();
  const names = Array.from({ length: 50 }, (_, index) => `f${index}`);
  for (const name of names) writeFileSync(at(name), name);
  const texts = await Promise.all(names.map((name) => move(name, "target")));
  expect(texts.filter((text) => text.startsWith("Moved"))).toHaveLength(1);
  expect(readdirSync(directory)).toHaveLength(50);
});

test("does not move a directory into itself, and nothing onto itself", async () => {
  const { at, move } = scene();
  mkdirSync(at("d/sub"), { recursive: true });
  writeFileSync(at("f"), "x");
  expect(await move("d", "d/sub/e")).toContain("cannot be moved into itself");
  expect(await move("d", "d")).toContain("cannot be moved into itself");
  expect(await move("f", "f")).toContain("are the same");
  expect(await move("f", "./f", true)).toContain("are the same");
  symlinkSync("d", at("link"));
  expect(await move("d", "link/x")).toContain("cannot be moved into itself");
  expect(readdirSync(at("d"))).toEqual(["sub"]);
});

test("does not replace a directory with a file or the reverse, and never a directory that is not empty", async () => {
  const { at, move } = scene();
  mkdirSync(at("in/full"), { recursive: true });
  writeFileSync(at("in/full/x"), "x");
  mkdirSync(at("full"));
  writeFileSync(at("file"), "x");
  writeFileSync(at("in/file"), "x");
  mkdirSync(at("dir/file"), { recursive: true });
  expect(await move("full", "in", true)).toContain(
    "a directory that holds something is never replaced; nothing was moved. Move or remove what is in it first.",
  );
  expect(await move("full", "file", true)).toContain("a file cannot be replaced by a directory");
  expect(await move("file", "dir", true)).toContain("a directory cannot be replaced by a file");
  expect(readFileSync(at("in/full/x"), "utf8")).toBe("x");
});

test("moves a link, not its target, and replaces, without following, a link in the way", async () => {
  const { at, move } = scene();
  writeFileSync(at("target"), "x");
  symlinkSync("target", at("link"));
  await move("link", "moved");
  expect(readlinkSync(at("moved"))).toBe("target");
  writeFileSync(at("f"), "f");
  await move("f", "moved", true);
  expect(lstatSync(at("moved")).isFile()).toBe(true);
  expect(readFileSync(at("target"), "utf8")).toBe("x");
});

test("leaves one name after a move from one hard link of a file to another", async () => {
  const { at, directory, move } = scene();
  writeFileSync(at("a"), "x");
  linkSync(at("a"), at("b"));
  expect(await move("a", "b")).toContain("exists already");
  expect(await move("a", "b", true)).toContain("Moved");
  expect(readdirSync(directory)).toEqual(["b"]);
});

test.skipIf(ignoresCase)("keeps two hard links whose names differ only in case as two names", async () => {
  const { at, directory, move } = scene();
  writeFileSync(at("a"), "x");
  linkSync(at("a"), at("A"));
  expect(await move("a", "A")).toContain("exists already");
  expect(await move("a", "A", true)).toContain("Moved");
  expect(readdirSync(directory)).toEqual(["A"]);
});

test("changes the case of a name if the disk ignores case; elsewhere treats names that differ in it as two files", async () => {
  const { at, directory, move } = scene();
  writeFileSync(at("a"), "a");
  if (ignoresCase) {
    mkdirSync(at("d"));
    expect(await move("a", "A")).toContain("Moved");
    expect(await move("d", "D")).toContain("Moved");
    expect(readdirSync(directory)).toEqual(["A", "D"]);
    return;
  }
  writeFileSync(at("A"), "A");
  expect(await move("a", "A")).toContain("exists already");
  await move("a", "B");
  expect(readdirSync(directory).sort()).toEqual(["A", "B"]);
});

test("never moves the working directory, its ancestors and home", async () => {
  const { at, run } = scene();
  for (const source of [process.cwd(), join(process.cwd(), ".."), "/", process.env.HOME ?? "/"]) {
    expect(await run("move", { source, destination: at("x") })).toMatch(/is never moved/);
  }
});

test.skipIf(!otherDevice)(
  "moves files, directories and links to another device as they are (needs /dev/shm on its own device)",
  async () => {
    const { at, run } = scene();
    const other = temporaryDirectory(SHARED_MEMORY);
    mkdirSync(at("tree/sub"), { recursive: true });
    writeFileSync(at("tree/run.sh"), "#!/bin/sh\n");
    chmodSync(at("tree/run.sh"), 0o755);
    utimesSync(at("tree/run.sh"), 1e9, 1e9);
    writeFileSync(at("tree/readonly"), "r");
    chmodSync(at("tree/readonly"), 0o444);
    writeFileSync(at("tree/sub/big"), Buffer.alloc(3_000_000, 7));
    symlinkSync("../gone", at("tree/sub/dangling"));
    chmodSync(at("tree/sub"), 0o700);
    expect(await run("move", { source: at("tree"), destination: other })).toBe(
      `Moved ${at("tree")} to ${other}/tree`,
    );
    expect(existsSync(at("tree"))).toBe(false);
    const copy = join(other, "tree");
    expect(statSync(join(copy, "run.sh")).mode & 0o777).toBe(0o755);
    expect(statSync(join(copy, "run.sh")).mtimeMs).toBe(1e12);
    expect(statSync(join(copy, "readonly")).mode & 0o777).toBe(0o444);
    expect(statSync(join(copy, "sub")).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(copy, "sub/big")).equals(Buffer.alloc(3_000_000, 7))).toBe(true);
    expect(readlinkSync(join(copy, "sub/dangling"))).toBe("../gone");
    expect(readdirSync(other)).toEqual(["tree"]);
  },
);

test.skipIf(!otherDevice)(
  "replaces an existing file across devices only with overwrite, and then whole (needs /dev/shm)",
  async () => {
    const { at, run } = scene();
    const other = temporaryDirectory(SHARED_MEMORY);
    writeFileSync(at("a"), "new");
    writeFileSync(join(other, "a"), "old");
    expect(await run("move", { source: at("a"), destination: other })).toContain("exists already");
    expect(await run("move", { source: at("a"), destination: other, overwrite: true })).toContain("Moved");
    expect(readFileSync(join(other, "a"), "utf8")).toBe("new");
    expect(readdirSync(other)).toEqual(["a"]);
  },
);

test.skipIf(!otherDevice)(
  "stops the move before anything is removed if an entry cannot be copied (needs /dev/shm)",
  async () => {
    const { at, run } = scene();
    const other = temporaryDirectory(SHARED_MEMORY);
    mkdirSync(at("tree"));
    writeFileSync(at("tree/a"), "a");
    makeFifo(at("tree/pipe"));
    expect(await run("move", { source: at("tree"), destination: other })).toContain(
      "pipe is a fifo, which cannot be moved to another device; nothing was moved",
    );
    expect(readdirSync(at("tree"))).toEqual(["a", "pipe"]);
    expect(readdirSync(other)).toEqual([]);
  },
);

test("never replaces an entry that is neither file, link nor directory", async () => {
  const { at, move } = scene();
  writeFileSync(at("a"), "x");
  makeFifo(at("pipe"));
  expect(await move("a", "pipe", true)).toContain("is a fifo, which is never replaced; nothing was moved");
  expect(lstatSync(at("pipe")).isFIFO()).toBe(true);
  expect(readFileSync(at("a"), "utf8")).toBe("x");
});
