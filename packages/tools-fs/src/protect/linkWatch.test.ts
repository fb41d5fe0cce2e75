import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support.js";
import { LinkWatch } from "./linkWatch.js";

// Enough names that the directory is listed instead of looking at each of them.
const NAMES = Array.from({ length: 40 }, (_, index) => `rule-${index}`);

describe.each([
  ["few entries", 0],
  ["more entries than are listed", 300],
])("a directory with %s", (_, others) => {
  test("detects a link when it appears, also above a path, and forgets it when it is gone", () => {
    const base = temporaryDirectory();
    for (let index = 0; index < others; index++) writeFileSync(join(base, `other-${index}`), "");
    const below = join(base, "config", "git", "hooks");
    const watch = new LinkWatch(base, [...NAMES.map((name) => join(base, name)), below]);
    expect([...watch.current()]).toEqual([]);

    writeFileSync(join(base, "rule-7"), "a file is not a link");
    mkdirSync(join(base, "config"));
    expect([...watch.current()]).toEqual([]);

    symlinkSync("elsewhere", join(base, "rule-9"));
    expect([...watch.current()]).toEqual([join(base, "rule-9")]);

    mkdirSync(join(base, "real"));
    symlinkSync("../real", join(base, "config", "git"));
    expect([...watch.current()]).toEqual([join(base, "rule-9"), below]);

    rmSync(join(base, "rule-9"));
    rmSync(join(base, "config"), { recursive: true });
    expect([...watch.current()]).toEqual([]);
  });
});
