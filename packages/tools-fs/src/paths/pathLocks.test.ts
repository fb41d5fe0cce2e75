import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fileTools, temporaryDirectory } from "../../test/support.js";
import { writeFileTool } from "../index.js";
import { Workspace } from "../workspace.js";
import { PathLocks } from "./pathLocks.js";

/** Work that the test finishes by hand, and the names of the work that has begun so far. */
function bench() {
  const locks = new PathLocks();
  const begun: string[] = [];
  const finish = new Map<string, () => void>();
  const start = (name: string, ...paths: string[]): Promise<void> => {
    return locks.run(paths, () => {
      begun.push(name);
      return new Promise((resolve) => finish.set(name, resolve));
    });
  };
  const settle = (): Promise<void> => new Promise(setImmediate);
  return { begun, start, settle, finish: (name: string) => finish.get(name)?.() };
}

test("waits for work inside a directory before work on it, and for both before later work", async () => {
  const { begun, start, settle, finish } = bench();
  const all = [start("file", "/a/b/f"), start("tree", "/a", "/x"), start("later", "/a/b/g")];
  await settle();
  expect(begun).toEqual(["file"]);
  finish("file");
  await settle();
  expect(begun).toEqual(["file", "tree"]);
  finish("tree");
  await settle();
  expect(begun).toEqual(["file", "tree", "later"]);
  finish("later");
  await Promise.all(all);
});

test("runs work on entries of one directory, and on names with a common prefix, in parallel", async () => {
  const { begun, start, settle, finish } = bench();
  const names = ["/a/f", "/a/g", "/a/g2", "/ab", "/b"];
  const all = names.map((path) => start(path, path));
  await settle();
  expect(begun).toEqual(names);
  for (const name of names) finish(name);
  await Promise.all(all);
});

test("leaves no temporary file in a directory that is moved while a file in it is written", async () => {
  const directory = temporaryDirectory();
  const at = (name: string): string => join(directory, name);
  mkdirSync(at("d"));
  const run = fileTools();
  const [written, moved] = await Promise.all([
    run("write_file", { path: at("d/f"), content: "x".repeat(8_000_000) }),
    run("move", { source: at("d"), destination: at("e") }),
  ]);
  expect(written).toContain("Created");
  expect(moved).toContain("Moved");
  expect(readdirSync(at("e"))).toEqual(["f"]);
});

test("does nothing for a call that was aborted while it waited for another one", async () => {
  const path = join(temporaryDirectory(), "f");
  const tool = writeFileTool(new Workspace());
  const stop = new AbortController();
  const first = tool.execute({ path, content: "first" });
  const second = tool.execute(
    { path, content: "second" },
    { signal: stop.signal, onOutput: () => undefined },
  );
  stop.abort();
  await expect(second).rejects.toBe(stop.signal.reason);
  expect(await first).toContain("Created");
  expect(await fileTools()("read_file", { path })).toBe("first");
});
