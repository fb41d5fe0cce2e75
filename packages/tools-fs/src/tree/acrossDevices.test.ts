import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asOrdinaryUser, canMount, fileTools, onDiskOf, temporaryDirectory } from "../../test/support.js";

const SHARED_MEMORY = "/dev/shm";
const NOBODY = 65534;
const CHATTR = "chattr";
const otherDevice = existsSync(SHARED_MEMORY) && statSync(SHARED_MEMORY).dev !== statSync(tmpdir()).dev;
const isRoot = process.getuid?.() === 0;

/** A tree, and a directory on another device. */
function scene() {
  const [directory, other] = [temporaryDirectory(), temporaryDirectory(SHARED_MEMORY)];
  const tree = join(directory, "tree");
  mkdirSync(tree);
  return { directory, tree, other };
}

test.skipIf(!otherDevice)(
  "moves a file with two hard links in the tree with both, and removes the source (needs /dev/shm)",
  async () => {
    const { directory, tree, other } = scene();
    mkdirSync(join(tree, "sub"));
    writeFileSync(join(tree, "a"), "x");
    linkSync(join(tree, "a"), join(tree, "b"));
    linkSync(join(tree, "a"), join(tree, "sub/c"));
    linkSync(join(tree, "a"), join(directory, "outside"));
    expect(await fileTools()("move", { source: tree, destination: other })).toContain("Moved");
    expect(readdirSync(directory)).toEqual(["outside"]);
    const copies = ["a", "b", "sub/c"].map((name) => statSync(join(other, "tree", name)));
    expect(copies.map(({ nlink }) => nlink)).toEqual([3, 3, 3]);
    expect(new Set(copies.map(({ ino }) => ino)).size).toBe(1);
    expect(readFileSync(join(other, "tree/sub/c"), "utf8")).toBe("x");
  },
);

test.skipIf(!otherDevice)(
  "does not copy an entry at all that could not be removed afterwards (needs /dev/shm)",
  () => {
    const { directory, tree, other } = scene();
    const inner = join(tree, "z");
    mkdirSync(join(tree, "empty"));
    mkdirSync(inner);
    writeFileSync(join(inner, "f"), "x");
    if (isRoot) {
      for (const path of [directory, other, tree, join(tree, "empty"), inner])
        chownSync(path, NOBODY, NOBODY);
    }
    chmodSync(join(tree, "empty"), 0o555);
    const move = () =>
      asOrdinaryUser([{ tool: "move", args: { source: tree, destination: join(other, "t") } }])[0];
    chmodSync(inner, 0o555);
    expect(move()).toContain(
      `Nothing can be moved out of ${inner}: permission denied (EACCES); nothing was moved.`,
    );
    chmodSync(inner, 0o755);
    chmodSync(directory, 0o555);
    expect(move()).toContain(`Nothing can be moved out of ${directory}: permission denied (EACCES)`);
    chmodSync(directory, 0o755);
    expect(readdirSync(other)).toEqual([]);
    expect(readFileSync(join(inner, "f"), "utf8")).toBe("x");
    expect(move()).toContain("Moved");
    expect(readdirSync(join(other, "t"))).toEqual(["empty", "z"]);
  },
);

test.skipIf(!canMount)(
  "keeps the source whole and no part of a copy if a disk fills up deep in a tree (needs mount namespaces)",
  () => {
    const directory = temporaryDirectory();
    const at = (name: string): string => join(directory, name);
    for (const name of ["tree/a/b", "tree/z", "small"]) mkdirSync(at(name), { recursive: true });
    writeFileSync(at("tree/a/b/first"), Buffer.alloc(100_000, 1));
    linkSync(at("tree/a/b/first"), at("tree/a/second"));
    writeFileSync(at("tree/z/large"), Buffer.alloc(900_000, 2));
    const before = execFileSync("find", [at("tree"), "-ls"], { encoding: "utf8" });
    const { results, check } = onDiskOf(
      "256k",
      at("small"),
      [{ tool: "move", args: { source: at("tree"), destination: at("small/x/tree") } }],
      { check: "ls -A" },
    );
    expect(results[0]).toContain("no space is left on the device (ENOSPC)");
    expect(check).toBe("");
    expect(execFileSync("find", [at("tree"), "-ls"], { encoding: "utf8" })).toBe(before);
  },
);

test.skipIf(!canMount)(
  "refuses every change on a read-only disk with the reason, and moves nothing off it (needs mount namespaces)",
  () => {
    const directory = temporaryDirectory();
    const at = (name: string): string => join(directory, "disk", name);
    mkdirSync(join(directory, "disk"));
    const calls = [
      { tool: "write_file", args: { path: at("f"), content: "y" } },
      { tool: "write_file", args: { path: at("new/g"), content: "y" } },
      { tool: "edit_file", args: { path: at("f"), old_text: "x", new_text: "y" } },
      { tool: "mkdir", args: { path: at("m") } },
      { tool: "move", args: { source: at("f"), destination: at("g") } },
      { tool: "move", args: { source: at("d"), destination: join(directory, "out") } },
      { tool: "remove", args: { path: at("d") } },
    ];
    const { results } = onDiskOf("256k", join(directory, "disk"), calls, {
      prepare: "mkdir d && echo x > f && echo x > d/f && mount -o remount,bind,ro .",
    });
    for (const result of results) expect(result).toContain("the file system is read-only (EROFS)");
    expect(results).toHaveLength(calls.length);
    expect(readdirSync(directory)).toEqual(["disk"]);
  },
);

test.skipIf(!canMount)(
  "cannot move a mount inside a directory, or a mounted file, and does not copy it (needs mount namespaces)",
  () => {
    const directory = temporaryDirectory();
    const disk = join(directory, "disk");
    mkdirSync(disk);
    const { results, check } = onDiskOf(
      "256k",
      disk,
      ["tree", "file"].map((name) => ({
        tool: "move",
        args: { source: join(disk, name), destination: join(directory, name) },
      })),
      {
        prepare:
          "mkdir precious tree tree/inner; echo x > precious/f; mount --bind precious tree/inner; touch file; mount --bind precious/f file",
        check: "cat precious/f tree/inner/f file",
      },
    );
    expect(results[0]).toContain(
      "tree/inner cannot be moved, since something is mounted there; nothing was moved.",
    );
    expect(results[1]).toContain(
      "file cannot be moved, since something is mounted there; nothing was moved.",
    );
    expect(check).toBe("x\nx\nx\n");
    expect(readdirSync(directory)).toEqual(["disk"]);
  },
);

test.skipIf(!otherDevice || !isRoot)(
  "does not move a file of another user out of a sticky directory such as /tmp, and drops the set-user-id bit of a copy (needs root and /dev/shm)",
  () => {
    const [here, there] = [temporaryDirectory(), temporaryDirectory(SHARED_MEMORY)];
    for (const name of ["open", "sticky"]) {
      mkdirSync(join(here, name));
      writeFileSync(join(here, name, "program"), "#!/bin/sh\n");
      chmodSync(join(here, name, "program"), 0o6755);
    }
    for (const directory of [here, there, join(here, "open")]) chmodSync(directory, 0o777);
    chmodSync(join(here, "sticky"), 0o1777);
    const [moved, refused] = asOrdinaryUser(
      ["open", "sticky"].map((name) => ({
        tool: "move",
        args: { source: join(here, name, "program"), destination: join(there, name) },
      })),
    );
    expect(moved).toContain("Moved");
    expect(statSync(join(there, "open")).mode & 0o7777).toBe(0o755);
    expect(refused).toContain("belongs to another user, and only that user can take it out of its directory");
    expect(readdirSync(there)).toEqual(["open"]);
  },
);

/** An append-only directory (names can be added, not removed), if this user and file system can make one. */
function appendOnlyDirectory(): string | undefined {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "f"), "old");
  if (spawnSync(CHATTR, ["+a", directory]).status !== 0) return undefined;
  onTestFinished(() => execFileSync(CHATTR, ["-a", directory]) && undefined);
  return directory;
}

test("names what is left in the error if nothing can be removed", async ({ skip }) => {
  const directory = appendOnlyDirectory();
  if (directory === undefined) return skip("needs chattr +a: root, and a disk that knows it");
  const run = fileTools();
  const written = await run("write_file", { path: join(directory, "f"), content: "new" });
  expect(written).toMatch(
    /the operation is not permitted \(EPERM\); the temporary \.agent-\S+\.tmp next to it could not be removed\.$/,
  );
  const [temporary] = readdirSync(directory);
  expect(written).toContain(temporary);
  expect(readFileSync(join(directory, "f"), "utf8")).toBe("old");
  expect(await run("move", { source: join(directory, "f"), destination: join(directory, "g") })).toContain(
    "The new name was created, but the old one could not be removed: the operation is not permitted (EPERM).",
  );
});
