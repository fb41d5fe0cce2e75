import { expect, test } from "vitest";
import { matchesName, PROTECTED_FILES } from "./protectedFiles.js";

test("lists every protected file once, by relative names, with a reason", () => {
  const patterns = PROTECTED_FILES.map(({ pattern }) => pattern);
  expect(new Set(patterns).size).toBe(patterns.length);
  for (const { pattern, reason, scope } of PROTECTED_FILES) {
    expect(pattern, pattern).toMatch(/^(?:[\w.-]*\*?[\w.-]*|[\w.-]+(\/[\w.-]+)+)(#[\w-]+)?$/);
    expect(reason.length, pattern).toBeGreaterThan(15);
    expect(["always", "files", "restricted"], pattern).toContain(scope);
  }
});

test("protects what git runs by itself from every tool, and what git must write only from the file tools", () => {
  const scopes = Object.fromEntries(PROTECTED_FILES.map(({ pattern, scope }) => [pattern, scope]));
  expect(scopes).toMatchObject({
    ".git/hooks": "always",
    ".git/config": "always",
    ".git": "files",
    ".git/rebase-merge": "files",
  });
});

test("does not list files of ordinary work in the table", () => {
  const patterns = PROTECTED_FILES.map(({ pattern }) => pattern);
  for (const name of [
    "Makefile",
    "package.json",
    "CLAUDE.md",
    "AGENTS.md",
    "Dockerfile",
    "Cargo.toml",
    "build.rs",
    "setup.cfg",
    ".gitignore",
    ".gitattributes",
    ".env",
    "miser.ts",
    "jest.config.js",
    "pnpm-lock.yaml",
    "README.md",
    ".editorconfig",
    ".prettierrc",
  ]) {
    expect(
      patterns.filter((pattern) => matchesName(pattern, name)),
      name,
    ).toEqual([]);
  }
});
