import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { closeLeftovers, openWorktree } from "./worktree.js";

function project(): string {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "agent-worktree-")));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const root = join(top, "project");
  mkdirSync(root);
  vi.stubEnv("XDG_STATE_HOME", join(top, "state"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: root });
  git("init", "-q");
  writeFileSync(join(root, "a.txt"), "one\n");
  git("add", "a.txt");
  git("commit", "-qm", "first");
  return root;
}

test("leaves a tree alone that another agent of this process has open", async () => {
  const root = project();
  const tree = await openWorktree(root, "fix");
  expect(await closeLeftovers(root)).toEqual([]);
  await expect(openWorktree(root, "fix")).rejects.toThrow("another agent works in this work tree");
  expect(existsSync(join(tree.path, "a.txt"))).toBe(true);
  expect((await tree.close()).isKept).toBe(false);
  const again = await openWorktree(root, "fix");
  expect((await again.close()).isKept).toBe(false);
});

test("creates nothing if it is stopped", async () => {
  const root = project();
  await expect(openWorktree(root, "fix", AbortSignal.abort())).rejects.toThrow(/abort/i);
  expect(existsSync(join(root, ".git/worktrees/fix"))).toBe(false);
  const tree = await openWorktree(root, "fix");
  await tree.close();
});
