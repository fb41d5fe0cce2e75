import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { findRepository, findWorktree, ownAncestors } from "./repository.js";

const ANOTHER_USER = 12_345;

let top: string;
let shared: string;
let work: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "agent-repository-")));
  shared = join(top, "shared");
  work = join(shared, "work");
  mkdirSync(join(work, "deep"), { recursive: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(top, { recursive: true, force: true });
});

describe("a worktree", () => {
  test("is the nearest directory with .git, also as a file that points to it", () => {
    mkdirSync(join(shared, ".git"));
    expect(findWorktree(join(work, "deep"))).toBe(shared);
    writeFileSync(join(work, ".git"), "gitdir: ../.git/worktrees/work\n");
    expect(findWorktree(join(work, "deep"))).toBe(work);
    expect(findRepository(join(work, "file"))?.gitDirectories).toEqual([join(shared, ".git/worktrees/work")]);
  });

  test.each([0o777, 0o1777])(
    "is not found in a directory above that everyone can write (mode %o)",
    (mode) => {
      mkdirSync(join(shared, ".git"));
      mkdirSync(join(top, ".git"));
      chmodSync(shared, mode);
      expect(findWorktree(join(work, "deep"))).toBeUndefined();
      expect(findRepository(join(work, "file"))).toBeUndefined();
      // The user who works in this directory has chosen it.
      expect(findWorktree(shared)).toBe(shared);
    },
  );

  test.runIf(process.getuid?.() === 0)("is not found by the .git of another user", () => {
    mkdirSync(join(shared, ".git"));
    chownSync(join(shared, ".git"), ANOTHER_USER, ANOTHER_USER);
    for (const start of [shared, work, join(work, "deep")])
      expect(findWorktree(start), start).toBeUndefined();
    vi.stubEnv("SUDO_UID", String(ANOTHER_USER));
    expect(findWorktree(work)).toBe(shared);
  });

  test.runIf(process.getuid?.() === 0)(
    "is not found if another user could rename a directory of ours",
    () => {
      mkdirSync(join(shared, "archive"));
      chownSync(shared, ANOTHER_USER, ANOTHER_USER);
      renameSync(join(shared, "archive"), join(shared, ".git"));
      expect(findWorktree(work)).toBeUndefined();
      expect([...ownAncestors(work)]).toEqual([work]);
    },
  );
});
