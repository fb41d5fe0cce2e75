import { closeSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { makeTree } from "../../test/tree.js";
import { Boundary } from "./boundary.js";

// The races that test/boundary.test.ts runs with real processes, step by step: the exchange happens between the walk and
// the open.
describe.runIf(process.platform === "linux")("a directory exchanged for a link to the outside", () => {
  let root: string;
  let outside: string;
  let boundary: Boundary;
  beforeEach(() => {
    outside = makeTree({ "f.txt": "OUTSIDE", "deep/f.txt": "OUTSIDE" });
    root = makeTree({ "d/f.txt": "inside", "d/deep/f.txt": "inside" });
    boundary = new Boundary({ root, secret: [], granted: [] });
  });
  function exchange(): void {
    boundary.close();
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync(outside, join(root, "d"));
  }
  const contentOf = (descriptor: number): string => {
    onTestFinished(() => closeSync(descriptor));
    return readFileSync(descriptor, "utf8");
  };

  test.each(["d/f.txt", "d/deep/f.txt"])("does not open %s", (name) => {
    expect(contentOf(boundary.openFound(join(root, name)))).toBe("inside");
    exchange();
    expect(() => boundary.openFound(join(root, name))).toThrow(/ELOOP|ENOTDIR|outside the root/);
    expect(() => boundary.openNamed(join(root, name))).toThrow("outside the root");
  });

  test.each(["d", "d/deep"])("does not list %s", (name) => {
    expect(boundary.readDirectory(join(root, name)).map((entry) => entry.name)).toContain("f.txt");
    exchange();
    expect(() => boundary.readDirectory(join(root, name))).toThrow(/ELOOP|ENOTDIR|outside the root/);
  });

  test("does not look at a file in it, nor read its text", () => {
    exchange();
    expect(() => boundary.lookAt(join(root, "d/deep/f.txt"))).toThrow("outside the root");
    expect(boundary.readText(join(root, "d/f.txt"), 100)).toBeUndefined();
    expect(boundary.readText(join(root, "away/f.txt"), 100)).toBe("inside");
  });

  test("reads the directory that was opened before the exchange", () => {
    boundary.readDirectory(join(root, "d"));
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync(outside, join(root, "d"));
    expect(contentOf(boundary.openFound(join(root, "d/f.txt")))).toBe("inside");
  });

  test("does not open a secret place that took the name of a directory", () => {
    mkdirSync(join(root, "secret"));
    writeFileSync(join(root, "secret/f.txt"), "KEY");
    const guarded = new Boundary({ root: undefined, secret: [join(root, "secret")], granted: [] });
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync(join(root, "secret"), join(root, "d"));
    expect(() => guarded.openNamed(join(root, "d/f.txt"))).toThrow("keys or credentials");
    expect(() => guarded.openFound(join(root, "secret/f.txt"))).toThrow("keys or credentials");
  });

  test("recognizes a file of /proc/self by what was opened, also without a root", () => {
    const open = new Boundary({ root: undefined, secret: [], granted: [] });
    const check = (path: string): void => {
      const descriptor = open.openFound(path);
      onTestFinished(() => closeSync(descriptor));
      open.checkProcessSecret(descriptor, path);
    };
    expect(() => check(join(root, "d/f.txt"))).not.toThrow();
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync("/proc/self", join(root, "d"));
    for (const name of ["maps", "environ"])
      expect(() => check(join(root, "d", name)), name).toThrow("process");
  });
});
