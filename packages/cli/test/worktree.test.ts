import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Sandbox } from "./agent.js";

/** A project with one commit, in a repository of the real git. */
function project(files: Readonly<Record<string, string>> = { "a.txt": "one\n" }) {
  const box = new Sandbox();
  rmSync(join(box.project, ".git"), { recursive: true });
  const git = (args: readonly string[], cwd = box.project): string =>
    execFileSync("git", args, {
      cwd,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: box.home, GIT_CONFIG_NOSYSTEM: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  git(["init", "-q", "-b", "main"]);
  git(["config", "user.email", "a@example.com"]);
  git(["config", "user.name", "A"]);
  for (const [name, content] of Object.entries(files)) box.write(name, content);
  git(["add", "-A"]);
  git(["commit", "-qm", "first"]);
  const worktrees = join(box.home, ".local/state/agent-worktrees");
  const pathOf = (name: string): string => join(worktrees, readdirSync(worktrees)[0] ?? "", name);
  return { box, git, pathOf };
}

test("works on the newest commit in its own tree, and removes the tree if nothing was changed", async () => {
  const { box, git, pathOf } = project({ "a.txt": "one\n", "src/b.sh": "#!/bin/sh\n" });
  box.write("a.txt", "changed in the project\n");
  const { code, stdout, stderr } = await box.run(["--worktree", "fix", "read a.txt"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("one")]);
  expect(stderr).toContain("on the branch agent/fix");
  expect(stderr).toContain("Not in the work tree, because it is not committed: a.txt.");
  expect(stderr).toContain("The work tree fix was removed: nothing was changed in it.");
  expect(existsSync(pathOf("fix"))).toBe(false);
  expect(git(["worktree", "list"]).trim().split("\n")).toHaveLength(1);
  expect(git(["branch", "--list", "agent/*"])).toBe("");
  expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("changed in the project\n");
});

test("works in the same directory of the tree as in the project", async () => {
  const { box, pathOf } = project({ "a.txt": "one\n", "sub/b.txt": "below\n" });
  const { code, stdout } = await box.run(["--cwd", "sub", "--worktree", "fix", "read b.txt"]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("below")]);
  await box.run(["--cwd", "sub", "--worktree", "fix", 'write "two" to c.txt']);
  expect(existsSync(join(pathOf("fix"), "sub/c.txt"))).toBe(true);
});

test("keeps and names a tree with changes, which real git understands, and opens it again", async () => {
  const { box, git, pathOf } = project();
  const { code, stderr } = await box.run(["--worktree", "fix", 'write "two" to b.txt']);
  expect(code).toBe(0);
  const path = pathOf("fix");
  expect(stderr).toContain("The work tree fix was kept: 1 changed file: b.txt (branch agent/fix, ");
  expect(git(["status", "--porcelain", "--branch"], path)).toBe("## agent/fix\n?? b.txt\n");
  expect(git(["worktree", "list"])).toContain("[agent/fix]");
  expect(existsSync(join(box.project, "b.txt"))).toBe(false);
  expect((await box.run(["--worktree", "fix", "read b.txt"])).stdout).toContain("two");
  git(["add", "-A"], path);
  git(["commit", "-qm", "second"], path);
  const again = await box.run(["--worktree", "fix", "read b.txt"]);
  expect(again.stderr).toContain("was kept: it has new commits");
  expect(git(["log", "--format=%s", "agent/fix"])).toBe("second\nfirst\n");
});

test("keeps a tree with files in the directory of a submodule, which git does not list", async () => {
  const { box, git, pathOf } = project();
  git(["update-index", "--add", "--cacheinfo", `160000,${git(["rev-parse", "HEAD"]).trim()},lib`]);
  git(["commit", "-qm", "submodule"]);
  const { stderr } = await box.run(["--worktree", "fix", 'write "two" to lib/b.txt']);
  expect(stderr).toContain("The work tree fix was kept: 1 changed file: lib (branch agent/fix, ");
  expect(readFileSync(join(pathOf("fix"), "lib/b.txt"), "utf8")).toContain("two");
});

test.skipIf(process.platform !== "linux")(
  "refuses a tree in which another agent works, and one whose beginning is not known",
  async () => {
    const { box, git, pathOf } = project();
    await box.run(["--worktree", "fix", 'write "two" to b.txt']);
    const path = pathOf("fix");
    expect(existsSync(`${path}.open`)).toBe(false);
    const startedAt = readFileSync(`/proc/${process.pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")[19];
    writeFileSync(`${path}.open`, JSON.stringify({ pid: process.pid, startedAt }));
    const second = await box.run(["--worktree", "fix", "read b.txt"]);
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining("another agent works in this")]);
    expect(existsSync(`${path}.open`)).toBe(true);
    rmSync(`${path}.open`);
    rmSync(`${path}.json`);
    const unknown = await box.run(["--worktree", "fix", "read b.txt"]);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/fix\.json is missing[\s\S]*git worktree remove/),
    ]);
    expect(readFileSync(join(path, "b.txt"), "utf8")).toContain("two");
    expect(git(["worktree", "list"])).toContain("[agent/fix]");
  },
);

test("copies what .worktreeinclude names, except for secret files", async () => {
  const { box, git, pathOf } = project({
    "a.txt": "one\n",
    ".gitignore": "*.local\n.env*\n*.pem\n",
    ".worktreeinclude": "*.local\n.env\n*.pem\n",
  });
  box.write("config/db.local", "port 1\n");
  box.write(".env", "KEY=1\n");
  box.write("tls.pem", "key\n");
  const { stderr } = await box.run(["--worktree", "fix", 'write "x" to b.txt']);
  expect(stderr).toContain("not copied, because they may hold secrets: .env, tls.pem");
  expect(readFileSync(join(pathOf("fix"), "config/db.local"), "utf8")).toBe("port 1\n");
  expect(existsSync(join(pathOf("fix"), ".env"))).toBe(false);
  const unchanged = await box.run(["--worktree", "other", "read a.txt"]);
  expect(unchanged.stderr).toContain("The work tree other was removed");
  expect(git(["branch", "--list", "agent/other"])).toBe("");
});

test("follows no link of the commit when it copies, and names what it skipped", async () => {
  const { box, git, pathOf } = project({
    ".gitignore": "cfg/\nnew.txt\nplain/\n",
    ".worktreeinclude": "cfg/\nnew.txt\nplain/\n",
  });
  const outside = join(box.home, ".config");
  mkdirSync(outside);
  symlinkSync(outside, join(box.project, "cfg"));
  // A link that leads to nothing yet.
  symlinkSync(join(outside, "made.txt"), join(box.project, "new.txt"));
  box.write("plain", "a file in the commit\n");
  git(["add", "-f", "cfg", "new.txt", "plain"]);
  git(["commit", "-qm", "links"]);
  for (const name of ["cfg", "new.txt", "plain"]) rmSync(join(box.project, name));
  for (const name of ["cfg/autostart/x.desktop", "cfg/y", "new.txt", "plain/z"]) box.write(name, "evil\n");
  const { code, stderr } = await box.run(["--worktree", "fix", 'write "x" to b.txt']);
  expect(readdirSync(outside)).toEqual([]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/not copied, .* in their place: cfg\/autostart\/x\.desktop, cfg\/y, plain\/z\n/);
  expect(readFileSync(join(pathOf("fix"), "plain"), "utf8")).toBe("a file in the commit\n");
});

test("copies no file whose name or directory is that of a secret", async () => {
  const { box, pathOf } = project({ ".gitignore": "local/\n", ".worktreeinclude": "local/\n" });
  const secret = [
    ...[".aws/config", ".dockercfg", ".env-prod", ".env_prod", ".env.local", ".envrc.local", ".htpasswd"],
    ...[".npmrc", ".vault-token", "id_ed25519.old", "key.pem.bak", "prod.env", "secret_key", "secrets/a.txt"],
    ...["secrets_prod.yml", "service-account.json", "terraform.tfvars", "tls.pem~"],
  ].map((name) => `local/${name}`);
  const plain = [".env.example", "db.json", "notes.txt", "vite-env.d.ts"].map((name) => `local/${name}`);
  for (const name of [...secret, ...plain]) box.write(name, "text\n");
  const { stderr } = await box.run(["--worktree", "fix", 'write "x" to b.txt']);
  const [, named = ""] = /because they may hold secrets: (.*)\n/.exec(stderr) ?? [];
  expect(named.split(", ").sort()).toEqual([...secret].sort());
  expect(
    readdirSync(join(pathOf("fix"), "local"))
      .map((name) => `local/${name}`)
      .sort(),
  ).toEqual(plain);
});

test("never runs git under the configuration of the project", async () => {
  const { box, git } = project({ "a.txt": "one\n", ".gitattributes": "* filter=evil\n" });
  const ran = join(box.root, "ran");
  const program = box.write("evil.sh", `#!/bin/sh\ntouch ${ran}\ncat\n`);
  execFileSync("chmod", ["+x", program]);
  for (const key of ["core.fsmonitor", "filter.evil.smudge", "filter.evil.clean"])
    git(["config", key, program]);
  mkdirSync(join(box.project, ".git/hooks"), { recursive: true });
  writeFileSync(join(box.project, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
  const { code, stderr } = await box.run(["--worktree", "fix", "read a.txt"]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("was removed")]);
  expect(existsSync(ran)).toBe(false);
});

test("reads packed references and a detached head", async () => {
  const { box, git } = project();
  git(["pack-refs", "--all"]);
  expect((await box.run(["--worktree", "one", "read a.txt"])).code).toBe(0);
  git(["checkout", "-q", "--detach"]);
  expect((await box.run(["--worktree", "read a.txt"])).code).toBe(0);
});

test.each(["fix/#12", "release+1", "größe@home"])("works on the branch %s", async (branch) => {
  const { box, git } = project();
  git(["checkout", "-q", "-b", branch]);
  const { code, stderr } = await box.run(["--worktree", "fix", "read a.txt"]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("was removed")]);
});

test("names the branch that prevents a new one", async () => {
  const { box, git } = project();
  git(["branch", "agent"]);
  git(["pack-refs", "--all"]);
  const { code, stderr } = await box.run(["--worktree", "fix", "read a.txt"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("git cannot create the branch agent/")]);
  expect(git(["worktree", "list"]).trim().split("\n")).toHaveLength(1);
});

test("names submodules and files with a filter, which are not as in a checkout", async () => {
  const { box, git } = project({
    "big.bin": "pointer\n",
    ".gitattributes": "*.bin filter=lfs\n*.txt -filter\n",
  });
  git(["update-index", "--add", "--cacheinfo", `160000,${git(["rev-parse", "HEAD"]).trim()},lib`]);
  git(["commit", "-qm", "submodule"]);
  const { stderr } = await box.run(["--worktree", "fix", 'write "x" to b.txt']);
  expect(stderr).toContain("Empty in the work tree, because they are submodules: lib.");
  expect(stderr).toContain(
    "As stored in the repository, because filters such as Git LFS do not run: big.bin.",
  );
});

test("names what is not committed with a split index too", async () => {
  const { box, git } = project({ "a.txt": "one\n", "b.txt": "one\n" });
  git(["update-index", "--split-index"]);
  box.write("a.txt", "two\n");
  const { stderr } = await box.run(["--worktree", "fix", "read b.txt"]);
  expect(stderr).toContain("Not in the work tree, because it is not committed: a.txt.");
});

test("names what git could not do: objects that a partial clone does not have", async () => {
  const { box, git } = project();
  git(["config", "uploadpack.allowFilter", "true"]);
  git(["clone", "-q", "--no-checkout", "--filter=blob:none", `file://${box.project}`, "../partial"]);
  const { code, stderr } = await box.run(["--worktree", "fix", "read a.txt"], {
    cwd: join(box.home, "partial"),
  });
  expect(code).toBe(2);
  expect(stderr).toMatch(/git checkout-index failed: .*a\.txt/);
  expect(git(["worktree", "list"], join(box.home, "partial")).trim().split("\n")).toHaveLength(1);
  expect(git(["branch", "--list", "agent/*"], join(box.home, "partial"))).toBe("");
});

test.each([
  ["made", { isUnfinished: true }, true],
  ["removed", {}, false],
])("removes what a kill left while the tree was %s, without a message", async (_name, more, isThere) => {
  const { box, git, pathOf } = project();
  await box.run(["--worktree", "fix", 'write "x" to b.txt']);
  const path = pathOf("fix");
  const beginning = JSON.parse(readFileSync(`${path}.json`, "utf8"));
  writeFileSync(`${path}.json`, JSON.stringify({ ...beginning, ...more }));
  if (!isThere) renameSync(path, join(path, "../.git-fix-0123ab"));
  writeFileSync(`${path}.open`, JSON.stringify({ pid: 999_999_999, startedAt: "1" }));
  // The next start may be in another work tree of the repository.
  git(["worktree", "add", "-q", "../other"]);
  const { stderr } = await box.run(["read a.txt"], { cwd: join(box.home, "other") });
  expect(stderr).not.toContain("work tree");
  expect(readdirSync(join(path, ".."))).toEqual([]);
  expect(git(["branch", "--list", "agent/*"])).toBe("");
  expect(git(["worktree", "list"]).trim().split("\n")).toHaveLength(2);
  expect((await box.run(["--worktree", "fix", "read a.txt"])).code).toBe(0);
});

test.each([
  [["--worktree", "../x", "read a.txt"], 'a name has letters, digits, "_" and "-"'],
  [["--worktree", "taken", "read a.txt"], "a work tree or a branch agent/taken already exists"],
])("refuses %j and changes nothing", async (args, message) => {
  const { box, git } = project();
  git(["branch", "agent/taken"]);
  const { code, stderr } = await box.run(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(git(["worktree", "list"]).trim().split("\n")).toHaveLength(1);
  expect(git(["branch", "--list", "agent/*"]).trim()).toBe("agent/taken");
});

test("refuses a directory without a repository, and one without a commit or with SHA-256", async () => {
  const box = new Sandbox();
  expect((await box.run(["--worktree", "x", "read a.txt"])).stderr).toContain("no commit yet");
  box.write(".git/HEAD", `${"a".repeat(64)}\n`);
  expect((await box.run(["--worktree", "x", "read a.txt"])).stderr).toContain("SHA-256");
  rmSync(join(box.project, ".git"), { recursive: true });
  const { code, stderr } = await box.run(["--worktree", "x", "read a.txt"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("is not in a git repository of yours")]);
});

test.each(["worktrees", "refs/heads/agent", "logs", "objects"])(
  "writes nothing through a link at .git/%s of an archive",
  async (name) => {
    const { box } = project();
    const outside = join(box.home, "outside");
    const place = join(box.project, ".git", name);
    mkdirSync(outside);
    if (existsSync(place)) renameSync(place, join(outside, "moved"));
    symlinkSync(existsSync(join(outside, "moved")) ? join(outside, "moved") : outside, place);
    const before = readdirSync(outside, { recursive: true }).length;
    const { code, stderr } = await box.run(["--worktree", "fix", "read a.txt"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("is a link or not a directory. Nothing was written"),
    ]);
    expect(readdirSync(outside, { recursive: true })).toHaveLength(before);
  },
);
