import { expect, test } from "vitest";
import { parseGitConfig } from "./gitConfigs.js";

test("reads git's configuration format with quotes, comments, continued lines and sections on one line", () => {
  const text = [
    "[Core] hooksPath = a # comment",
    '[filter "My.Filter"]',
    '\tClean = "x ; y" \\',
    " z",
    "; [alias]",
    "[include]\npath=~/c",
    "[broken",
    "flag",
  ].join("\n");
  expect(parseGitConfig(text).map(({ key, value }) => [key, value])).toEqual([
    ["core.hookspath", "a"],
    ["filter.My.Filter.clean", "x ; y  z"],
    ["include.path", "~/c"],
  ]);
});
