import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { canonicalPath, isInside } from "@agent/internal";
import { expect, onTestFinished, test } from "vitest";
import { createPathGuard } from "./createPathGuard.js";

/** A root next to a file that must not be reached. */
function scene(): { root: string; outside: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "confine-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [root, outside] = [join(base, "ws"), join(base, "outside")];
  for (const directory of [root, outside, join(base, "ws-evil")]) mkdirSync(directory);
  writeFileSync(join(outside, "secret"), "s");
  return { root, outside };
}

test("allows what is inside, whether it exists or not, and returns it canonical", () => {
  const { root } = scene();
  const guard = createPathGuard(root);
  mkdirSync(join(root, "real"));
  symlinkSync("real", join(root, "link"));
  expect(guard.resolve(join(root, "link/new/file"))).toBe(join(root, "real/new/file"));
  expect(guard.resolve(root)).toBe(root);
  expect(guard.resolve(join(root, "..name"))).toBe(join(root, "..name"));
});

test("refuses to escape by a prefix, .., /proc/self/cwd and file:", () => {
  const { root } = scene();
  const guard = createPathGuard(root);
  for (const path of [
    `${root}-evil`,
    `${root}-evil/x`,
    join(root, ".."),
    `${root}/a/../../outside/secret`,
    relative(process.cwd(), join(root, "../outside")),
    "/proc/self/cwd",
    "/proc/self/cwd/x",
    `/proc/self/root${tmpdir()}`,
    "/",
  ]) {
    expect(() => guard.resolve(path), path).toThrow(`is outside "${root}"`);
  }
  for (const path of [`file://${root}/x`, `FILE://${root}`, "file:/etc/passwd"]) {
    expect(() => guard.resolve(path), path).toThrow("is a URL, not a path");
  }
});

test("links that leave the root are refused, also dangling, chained, relative and on the way", () => {
  const { root, outside } = scene();
  const guard = createPathGuard(root);
  symlinkSync(outside, join(root, "dir"));
  symlinkSync("../outside/secret", join(root, "file"));
  symlinkSync(join(outside, "new"), join(root, "dangling"));
  symlinkSync("dangling", join(root, "chained"));
  symlinkSync("missing/../../outside/new", join(root, "sneaky"));
  for (const name of [
    "dir",
    "dir/secret",
    "dir/new/deeper",
    "file",
    "dangling",
    "dangling/x",
    "chained",
    "sneaky",
  ]) {
    expect(() => guard.resolve(join(root, name)), name).toThrow("is outside");
  }
});

test("allows a link itself in the last place, but not one on the way", () => {
  const { root, outside } = scene();
  const guard = createPathGuard(root);
  symlinkSync(outside, join(root, "dir"));
  expect(guard.resolve(join(root, "dir"), { follow: false })).toBe(join(root, "dir"));
  expect(guard.resolve(`${join(root, "dir")}/`, { follow: false })).toBe(join(root, "dir"));
  expect(() => guard.resolve(join(root, "dir/secret"), { follow: false })).toThrow("is outside");
  expect(() => guard.resolve(join(root, ".."), { follow: false })).toThrow("is outside");
});

test("resolves to its target a root that is itself reached by a link", () => {
  const { root, outside } = scene();
  symlinkSync(root, join(outside, "way"));
  const guard = createPathGuard(join(outside, "way"));
  expect(guard.root).toBe(root);
  expect(guard.resolve(join(outside, "way/x"))).toBe(join(root, "x"));
});

test("refuses a NUL with or without a root, and a missing root immediately", () => {
  const { root } = scene();
  expect(() => createPathGuard().resolve("a\0b")).toThrow("NUL");
  expect(() => createPathGuard(root).resolve("a\0b")).toThrow("NUL");
  expect(() => createPathGuard(join(root, "nowhere"))).toThrow("cannot be used");
});

test("names the target of a call by its entry and by what a link there leads to", () => {
  const { root, outside } = scene();
  mkdirSync(join(root, "real"));
  symlinkSync("real", join(root, "directory"));
  symlinkSync("real/file", join(root, "link"));
  symlinkSync(outside, join(root, "away"));
  symlinkSync(join(root, "real"), join(outside, "back"));
  const [file, real] = [join(root, "real/file"), join(root, "real")];
  for (const guard of [createPathGuard(), createPathGuard(root)]) {
    expect(guard.target(join(root, "directory/file"), "write")).toEqual({
      type: "file",
      path: file,
      access: "write",
    });
    const link = { type: "file", path: join(root, "link"), realPath: file };
    expect(guard.target(join(root, "link"), "read")).toEqual({ ...link, access: "read" });
    expect(guard.target(join(root, "link"), "delete")).toEqual({
      type: "file",
      path: join(root, "link"),
      access: "delete",
    });
    // A link from outside to the root.
    expect(guard.target(join(outside, "back"), "read")).toMatchObject({
      path: join(outside, "back"),
      realPath: real,
    });
  }
  const confined = createPathGuard(root);
  expect(() => confined.target(join(root, "away/secret"), "write")).toThrow("is outside");
  expect(() => confined.target(join(root, "away"), "read")).toThrow("is outside");
  expect(confined.target(join(root, "away"), "delete").path).toBe(join(root, "away"));
  expect(() => confined.target("a", "execute" as never)).toThrow(
    'access must be "read", "write" or "delete"',
  );
});

test("makes every path absolute without a root", () => {
  const guard = createPathGuard();
  expect(guard.resolve("x")).toBe(join(process.cwd(), "x"));
  expect(guard.contains("/anything")).toBe(true);
});

test("reports a loop of links with an error, not a hang", () => {
  const { root } = scene();
  symlinkSync("b", join(root, "a"));
  symlinkSync("a", join(root, "b"));
  expect(() => canonicalPath(join(root, "a"))).toThrow("loop of symbolic links");
});

test("compares whole names for inside", () => {
  expect(isInside("/a", "/a")).toBe(true);
  expect(isInside("/a", "/a/b")).toBe(true);
  expect(isInside("/", "/a")).toBe(true);
  expect(isInside("/a", "/ab")).toBe(false);
  expect(isInside("/a/b", "/a")).toBe(false);
  expect(isInside("/a", "/a/..b")).toBe(true);
});

test("refuses a path with half a character, since the system would be given another name", () => {
  expect(() => createPathGuard().resolve("a\ud83d")).toThrow("half a character");
  expect(createPathGuard().resolve("/a\u{1f600}")).toBe("/a\u{1f600}");
});

test("starts in the directory of the host, and refuses a root that has nothing to do with it", () => {
  const { root, outside } = scene();
  mkdirSync(join(root, "src"));
  expect(createPathGuard(undefined, root).resolve("src/a.ts")).toBe(join(root, "src/a.ts"));
  const relativeRoot = createPathGuard("src", root);
  expect([relativeRoot.root, relativeRoot.base]).toEqual([join(root, "src"), join(root, "src")]);
  expect(createPathGuard(root, join(root, "src")).base).toBe(join(root, "src"));
  expect(() => createPathGuard(outside, root)).toThrow(
    /has nothing to do with the directory .*Use a relative/,
  );
});
