import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeNow } from "@agent/test-support";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { lines } from "../../test/verdicts.js";
import { runBashTool } from "../tools/bash.js";

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "agent-readers-")));
  vi.spyOn(process, "cwd").mockReturnValue(cwd);
  vi.stubEnv("GIT_CONFIG_GLOBAL", undefined);
  mkdirSync(join(cwd, "src"));
  writeFileSync(join(cwd, "src/a.ts"), "a");
  symlinkSync("/etc", join(cwd, "out"));
  execFileSync("git", ["init", "-q", cwd]);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(cwd, { recursive: true, force: true });
});

/** Whether every command of a script is one that only reads. */
function onlyReads(command: string, args: object = {}, secret: string[] = []): boolean {
  const { targets = [] } = describeNow(runBashTool({}, { access: { secret } }), { command, ...args });
  return targets.length > 0 && targets.every((target) => target.type === "command" && target.reads === true);
}

describe("a command that only reads", () => {
  test.each(
    lines(`
    ls
    ls -la src
    cat src/a.ts
    cat -
    cat -- -x src/a.ts
    find
    find src
    find src -name '*.ts'
    head -n 40 src/a.ts
    wc -l src/a.ts
    rg -n foo src
    rg --files -g '!*.lock'
    grep -rn "foo bar" src
    find . -name '*.ts' -type f
    pwd && ls | head -5
    git status
    git status --short
    git log --oneline -5
    git diff --stat HEAD
    git show HEAD:src/a.ts
    git branch -a
    make --version
    echo done
    ls 2>&1
    `),
  )("needs no rule: %s", (command) => expect(onlyReads(command)).toBe(true));

  test.each(
    lines(`
    cat /etc/passwd
    cat ../x
    cat out/passwd
    cat ~/.ssh/id_rsa
    cat src/*
    echo /etc/*
    cat $X
    cat -- -x /etc/passwd
    cat -x src/a.ts
    cat -x -- src/a.ts
    find /etc
    ls > x
    ls -la $(touch x)
    X=1 ls
    /bin/ls
    ./ls
    rg --pre ./x foo
    rg -f /etc/passwd
    rg -L foo
    grep -f /etc/passwd src
    grep -R foo .
    sort -o x src/a.ts
    uniq a b
    find . -delete
    find . -exec cat {} +
    find / -name x
    find out
    find src out
    find src out -name x
    find . -fprint x
    git push
    git -c core.pager=x log
    git -C src log
    git diff --no-index a b
    git diff /etc/passwd src/a.ts
    git log --output=x
    git branch new
    git remote add x y
    git tag v1
    npm test
    yarn --version
    cargo --version
    pnpm --version
    node --version
    python3 --version
    node x.js
    tee x
    env
    cd src && ls
    `),
  )("needs a rule if it may do more: %s", (command) => expect(onlyReads(command)).toBe(false));

  test("needs a rule in another directory, with an environment, and where secrets are kept", () => {
    expect(onlyReads("ls", { cwd: "/tmp" })).toBe(false);
    expect(onlyReads("ls", { env: { A: "b" } })).toBe(false);
    expect(onlyReads("cat src/a.ts", {}, [join(cwd, "src")])).toBe(false);
    expect(onlyReads("rg foo", {}, [join(cwd, "src/a.ts")])).toBe(false);
  });

  test("needs a rule for a link out of the directory that is called --", () => {
    symlinkSync("/etc/passwd", join(cwd, "--"));
    expect(onlyReads("cat -- --")).toBe(false);
    expect(onlyReads("cat -- src/a.ts")).toBe(true);
  });
});

describe("git in a repository that chooses what it runs", () => {
  const git = (...args: string[]) => execFileSync("git", ["-C", cwd, ...args]);

  test.each([
    ["core.fsmonitor", "./evil"],
    ["core.pager", "./evil"],
    ["core.hooksPath", "hooks"],
    ["diff.external", "./evil"],
    ["diff.x.textconv", "./evil"],
    ["filter.x.clean", "./evil"],
    ["include.path", "../x"],
    ["remote.origin.promisor", "true"],
    ["remote.origin.uploadpack", "./evil"],
    ["gpg.program", "./evil"],
    ["extensions.worktreeConfig", "true"],
  ])("needs a rule: %s", (key, value) => {
    expect(onlyReads("git status")).toBe(true);
    git("config", key, value);
    expect(onlyReads("git status")).toBe(false);
    expect(onlyReads("git log")).toBe(false);
    expect(onlyReads("ls")).toBe(true);
  });

  test.each<[string, () => void]>([
    ["a hook for the index", () => writeFileSync(join(cwd, ".git/hooks/post-index-change"), "")],
    ["a repository elsewhere", () => writeFileSync(join(cwd, ".git/commondir"), "../x")],
    [
      "an odd line of the configuration",
      () => writeFileSync(join(cwd, ".git/config"), "[core] fsmonitor = x\n"),
    ],
    ["a key without a value", () => writeFileSync(join(cwd, ".git/config"), "[core]\n\tfsmonitor\n")],
    ["a continued line", () => writeFileSync(join(cwd, ".git/config"), "[user]\n\tname = a\\\n")],
    [
      "another repository inside",
      () => git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},vendor`),
    ],
  ])("needs a rule: %s", (_, change) => {
    expect(onlyReads("git status")).toBe(true);
    change();
    expect(onlyReads("git status")).toBe(false);
  });

  test.each([
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_CONFIG_COUNT",
    "GIT_EXTERNAL_DIFF",
  ])("needs a rule where the environment sets %s", (name) => {
    vi.stubEnv(name, "x");
    expect(onlyReads("git status")).toBe(false);
    expect(onlyReads("ls")).toBe(true);
  });

  test("needs a rule below a bare repository, in a linked work tree, and without one", () => {
    rmSync(join(cwd, ".git"), { recursive: true });
    expect(onlyReads("git status")).toBe(false);
    writeFileSync(join(cwd, ".git"), "gitdir: /elsewhere\n");
    expect(onlyReads("git status")).toBe(false);
    const bare = join(cwd, "bare");
    execFileSync("git", ["init", "-q", "--bare", bare]);
    vi.spyOn(process, "cwd").mockReturnValue(bare);
    expect(onlyReads("git log")).toBe(false);
  });
});
