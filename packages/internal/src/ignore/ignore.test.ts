import { describe, expect, test } from "vitest";
import { compileIgnoreRules } from "./compile.js";
import { parseIgnoreFile } from "./parse.js";

/** Whether the rules ignore a path; a slash at the end marks a directory. */
function ignores(rules: string, path: string): boolean {
  const isDirectory = path.endsWith("/");
  const clean = isDirectory ? path.slice(0, -1) : path;
  const split = clean.lastIndexOf("/") + 1;
  const matcher = compileIgnoreRules(parseIgnoreFile(rules));
  return matcher.match(clean.slice(split), clean.slice(0, split), 0, isDirectory) === "ignore";
}

describe("a line of an ignore file", () => {
  test.each([
    ["foo", "foo", true],
    ["foo", "a/foo", true],
    ["foo", "foobar", false],
    ["/foo", "a/foo", false],
    ["a/foo", "a/foo", true],
    ["a/foo", "b/a/foo", false],
    ["foo/", "foo", false],
    ["foo/", "foo/", true],
    ["*.o", "x/y.o", true],
    ["*.tar.gz", "a.tar.gz", true],
    ["*.tar.gz", "a.gz", false],
    ["a/*", "a/b", true],
    ["a/*", "a/b/c", false],
    ["a/**", "a/b/c", true],
    ["a/**", "a/", false],
    ["**/foo", "x/y/foo", true],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["f?o", "fxo", true],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[]x]y", "]y", true],
    ["[[:digit:]]", "7", true],
    ["[x", "[x", false],
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["\\#a", "#a", true],
    ["#a", "#a", false],
    ["a  ", "a", true],
    ["a\\ ", "a ", true],
    ["*.log\n!keep.log", "keep.log", false],
    ["!keep.log\n*.log", "keep.log", true],
    ["a.b", "axb", false],
    ["x\r", "x", true],
    ["\ufeffx", "x", true],
    ["*\n!*.js", "a.js", false],
    ["{a,b}", "a", false],
    ["?", "é", false],
    ["??", "é", true],
    ["[!a]", "é", false],
    ["*é", "né", true],
    ["[z-ab]", "b", true],
    ["[\\d:]", "d", true],
    ["[\\d:]", "7", false],
    ["[a-c-e]", "-", true],
    ["[[:punct:]]", "_", true],
    ["[[:nothing:]]", "n", false],
  ])("%j on %s: %s", (rules, path, expected) => {
    expect(ignores(rules, path)).toBe(expected);
  });

  test("matches many stars without becoming slow", () => {
    expect(ignores(`${"*a".repeat(30)}b`, "a".repeat(60))).toBe(false);
  });
});

test("matches many directories and globstars without becoming slow", () => {
  expect(ignores(`${"**/a/".repeat(25)}b`, `${"a/".repeat(60)}c`)).toBe(false);
  expect(ignores(`${"**/a/".repeat(25)}b`, `${"a/".repeat(60)}b`)).toBe(true);
});

test("matches the last rule of a file whose rules need more groups than one expression can hold", () => {
  expect(ignores(`${`${"*a".repeat(100)}\n`.repeat(350)}x*z`, "xyz")).toBe(true);
});
