import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { fileTools, temporaryDirectory } from "../../test/support.js";

function git(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
  return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8", stdio: "pipe" });
}

/** A real repository with one commit. */
function repository(): string {
  const directory = temporaryDirectory();
  git(directory, "init", "-q", "-b", "main");
  writeFileSync(join(directory, "a.txt"), "a\n");
  git(directory, "add", ".");
  git(directory, "commit", "-qm", "first");
  return directory;
}

test.each([
  ".git/rebase-merge/git-rebase-todo",
  ".git/rebase-merge/done",
  ".git/rebase-apply/final-commit",
  ".git/sequencer/todo",
  ".git/info/attributes",
  ".git/remotes/origin",
  ".git/branches/origin",
  ".git/refs/heads/evil",
  ".git/HEAD",
  ".git/packed-refs",
  ".git/objects/info/alternates",
  ".git/included-config",
  ".git/MERGE_MSG",
  ".git/index",
])("lets only git write %s", async (name) => {
  const directory = repository();
  const run = fileTools();
  const path = join(directory, name);
  const before = existsSync(path) ? readFileSync(path) : undefined;
  expect(await run("write_file", { path, content: "x" })).toMatch(/is protected by the rule "\.git/);
  writeFileSync(join(directory, "made"), "exec touch owned\n");
  const move = { source: join(directory, "made"), destination: path, overwrite: true };
  expect(await run("move", move)).toMatch(/is protected by the rule "\.git/);
  expect(existsSync(path) ? readFileSync(path) : undefined).toEqual(before);
});

test("cannot add an exec line to a rebase that is under way", async () => {
  const directory = repository();
  writeFileSync(join(directory, "a.txt"), "b\n");
  git(directory, "commit", "-qam", "second");
  vi.stubEnv("GIT_SEQUENCE_EDITOR", "sed -i s/^pick/edit/");
  onTestFinished(() => vi.unstubAllEnvs() && undefined);
  git(directory, "rebase", "-q", "-i", "HEAD~1");
  const path = join(directory, ".git/rebase-merge/git-rebase-todo");
  const content = "exec touch owned\n";
  expect(await fileTools()("write_file", { path, content })).toContain(
    'the rule ".git/rebase-merge" (git runs',
  );
  git(directory, "rebase", "--continue");
  expect(existsSync(join(directory, "owned"))).toBe(false);
});

test("can write files of a git directory that git never executes", async () => {
  const directory = repository();
  const run = fileTools();
  for (const name of ["info/exclude", "info/sparse-checkout", "description", "COMMIT_EDITMSG"]) {
    const path = join(directory, ".git", name);
    expect(await run("write_file", { path, content: "x\n" }), name).toMatch(/Created|Replaced/);
  }
  writeFileSync(join(directory, ".git/index.lock"), "");
  expect(await run("remove", { path: join(directory, ".git/index.lock") })).toContain("Removed");
  const nested = join(directory, ".git/refs/.git/info/exclude");
  expect(await run("write_file", { path: nested, content: "x" })).toContain("is protected by");
  // A directory or a link in their place is refused: it would contain, or point to, other files.
  symlinkSync("/etc", join(directory, "link"));
  const move = { source: join(directory, "link"), destination: join(directory, ".git/description2") };
  expect(await run("move", move)).toContain("is protected by");
});

test("protects the git directories of submodules and worktrees, wherever they are", async () => {
  const directory = repository();
  git(directory, "worktree", "add", "-q", "tree");
  const library = repository();
  git(directory, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "lib");
  const run = fileTools();
  for (const name of [
    "tree/.git",
    "lib/.git",
    ".git/worktrees/tree/HEAD",
    ".git/worktrees/tree/gitdir",
    ".git/worktrees/tree/commondir",
    ".git/modules/lib/config",
    ".git/modules/lib/hooks/post-checkout",
  ]) {
    const path = join(directory, name);
    expect(await run("write_file", { path, content: "x" }), name).toContain("is protected by the rule");
  }
  expect(await run("write_file", { path: join(directory, "tree/b.txt"), content: "x" })).toContain("Created");
});

test("protects a bare repository by its content, not by its name", async () => {
  const directory = temporaryDirectory();
  git(directory, "init", "-q", "--bare", "store.git");
  const run = fileTools();
  for (const name of ["config", "hooks/update", "HEAD", "refs/heads/main", "info/attributes", "new"]) {
    const path = join(directory, "store.git", name);
    expect(await run("write_file", { path, content: "x" }), name).toContain("is protected by the rule");
  }
  expect(await run("mkdir", { path: join(directory, "store.git/hooks/sub") })).toContain("is protected by");
});

test("cannot assemble a repository around a HEAD that is a dangling link", async () => {
  const directory = temporaryDirectory();
  symlinkSync("refs/heads/main", join(directory, "link"));
  const run = fileTools();
  const at = (name: string): string => join(directory, "bare", name);
  await run("write_file", { path: at("config"), content: "[core]\n\tbare = true\n[alias]\n\tx = !true\n" });
  await run("write_file", { path: at("refs/x"), content: "" });
  expect(await run("move", { source: join(directory, "link"), destination: at("HEAD") })).toContain("Moved");
  expect(await run("write_file", { path: at("objects/x"), content: "" })).toContain(
    "is protected by the rule",
  );
  expect(() => git(at("."), "rev-parse", "--is-bare-repository")).toThrow();
});

test("protects hooks that core.hooksPath names, which really would run", async () => {
  const directory = repository();
  git(directory, "config", "core.hooksPath", "tools/hooks");
  mkdirSync(join(directory, "tools/hooks"), { recursive: true });
  writeFileSync(join(directory, "tools/hooks/pre-commit"), "#!/bin/sh\ntrue\n");
  chmodSync(join(directory, "tools/hooks/pre-commit"), 0o755);
  const run = fileTools();
  const refused = "git's configuration names it in core.hookspath";
  const at = (name: string): string => join(directory, name);
  const calls: [string, Record<string, unknown>][] = [
    ["write_file", { path: at("tools/hooks/pre-commit"), content: "#!/bin/sh\ntouch owned\n" }],
    ["edit_file", { path: at("tools/hooks/pre-commit"), old_text: "true", new_text: "touch owned" }],
    ["write_file", { path: at("tools/hooks/post-commit"), content: "#!/bin/sh\ntouch owned\n" }],
    ["move", { source: at("tools/hooks"), destination: at("away") }],
    ["move", { source: at("tools"), destination: at("away") }],
  ];
  for (const [name, args] of calls) {
    expect(await run(name, args), `${name} ${JSON.stringify(args)}`).toContain(refused);
  }
  git(directory, "commit", "-q", "--allow-empty", "-m", "second");
  expect(existsSync(at("owned"))).toBe(false);
  expect(await run("write_file", { path: at("tools/other"), content: "x" })).toContain("Created");
});

test("protects configuration that is included, and programs that it names", async () => {
  const directory = repository();
  git(directory, "config", "include.path", "../shared.gitconfig");
  writeFileSync(join(directory, "shared.gitconfig"), '[filter "x"]\n\tclean = sh ./scripts/clean.sh %f\n');
  git(directory, "config", "alias.st", "!./scripts/status.sh --short");
  git(directory, "config", "core.fsmonitor", "scripts/monitor.sh");
  // Files that include each other, many times, are read once.
  const circle = "[include]\npath = ../shared.gitconfig\npath = shared.gitconfig\n".repeat(1000);
  writeFileSync(join(directory, "shared.gitconfig"), circle, { flag: "a" });
  const run = fileTools();
  for (const [name, key] of [
    ["shared.gitconfig", "include.path"],
    ["scripts/clean.sh", "filter.x.clean"],
    ["scripts/status.sh", "alias.st"],
    ["scripts/monitor.sh", "core.fsmonitor"],
  ] as const) {
    const text = await run("write_file", { path: join(directory, name), content: "x" });
    expect(text, name).toContain(`git's configuration names it in ${key}`);
  }
  for (const name of ["scripts/other.sh", "main", "origin", "sh", "true"]) {
    const text = await run("write_file", { path: join(directory, "sub", name), content: "x" });
    expect(text, name).toContain("Created");
  }
});

test("protects also paths that a user's own git configuration names", async () => {
  const home = temporaryDirectory();
  vi.stubEnv("HOME", home);
  onTestFinished(() => vi.unstubAllEnvs() && undefined);
  writeFileSync(join(home, ".gitconfig"), "[core]\n\thooksPath = ~/my-hooks\n");
  const path = join(home, "my-hooks/pre-push");
  expect(await fileTools()("write_file", { path, content: "x" })).toContain("core.hookspath");
});
