import { expect, test } from "vitest";
import type { PackPolicy } from "../../src/isolation/policy.js";
import { packProfile } from "../../src/isolation/profile.js";

const POLICY: PackPolicy = {
  readable: ["/Users/a/project/node_modules/pack", "/Users/a/project"],
  links: [{ path: "/Users/a/project/node_modules/dep", target: "/Users/a/store/dep" }],
  hidden: ["/Users/a/project/.env"],
  cwd: "/Users/a/project",
  env: {},
  programs: false,
  memoryMb: 512,
  temporaryMb: 64,
};

test("denies everything that the policy does not name", () => {
  const lines = packProfile(POLICY, "/usr/local/bin/node", "/private/var/folders/x/agent-pack-1").split("\n");
  expect(lines.slice(0, 3)).toEqual(["(version 1)", "(deny default)", '(import "system.sb")']);
  expect(lines).toContain('(allow process-exec* (literal "/usr/local/bin/node"))');
  expect(lines).toContain("(deny process-fork)");
  expect(lines).toContain("(deny network*)");
  const written = lines.filter((line) => line.startsWith("(allow file-write"));
  expect(written).toEqual([
    '(allow file-write-data (literal "/dev/null"))',
    '(allow file-write* (subpath "/private/var/folders/x/agent-pack-1"))',
  ]);
  const read = lines.filter((line) => line.startsWith("(allow file-read*"));
  expect(read.join("\n")).toContain('(subpath "/Users/a/project")');
  expect(read.join("\n")).not.toContain('(subpath "/")');
  expect(read.join("\n")).not.toContain('(subpath "/Users/a")');
  // The last rule that matches decides, so what is hidden comes after what is shown.
  const hides = lines.indexOf('(deny file-read* file-write* (subpath "/Users/a/project/.env"))');
  expect(hides).toBeGreaterThan(lines.lastIndexOf(read.at(-1) ?? ""));
});

test("lets a pack start programs only if that was granted, and escapes paths", () => {
  const granted = packProfile({ ...POLICY, programs: true }, "/node", '/tmp/a"b');
  expect(granted).toContain("(allow process-fork)");
  expect(granted).toContain('(subpath "/tmp/a\\"b")');
  expect(() => packProfile(POLICY, "/node", "/tmp/a\nb")).toThrow("control characters");
});
