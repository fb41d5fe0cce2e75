import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PrivateGit } from "./privateGit.js";

let folder: string;
let worktree: string;
let repository: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-private-git-")));
  worktree = join(folder, "project");
  repository = join(folder, "state/git");
  mkdirSync(worktree);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** Puts a program called git on the PATH that runs this shell script. */
function installGit(script: string): void {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "git"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, "git"), 0o755);
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
}

describe("PrivateGit", () => {
  test("passes only the variables that git needs and those that keep it in its repository", async () => {
    const passed = ["HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SystemRoot", "TMPDIR", "TEMP", "TMP"];
    for (const name of passed) vi.stubEnv(name, `${folder}/${name}`);
    for (const name of ["GIT_DIR", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "OPENAI_API_KEY"]) {
      vi.stubEnv(name, "of the user");
    }
    installGit("env -0");
    const printed = (await PrivateGit.create(repository, worktree).run(["status"])).toString();
    const variables = Object.fromEntries(
      printed
        .split("\0")
        .filter((line) => line !== "")
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)])
        // Set by the shell that runs the script.
        .filter(([name = ""]) => !["PWD", "SHLVL", "OLDPWD", "_"].includes(name)),
    );
    expect(variables).toEqual({
      PATH: process.env.PATH,
      ...Object.fromEntries(passed.map((name) => [name, `${folder}/${name}`])),
      GIT_DIR: repository,
      GIT_WORK_TREE: worktree,
      GIT_INDEX_FILE: join(repository, "index"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_SYSTEM: devNull,
      GIT_CONFIG_GLOBAL: devNull,
      GIT_ATTR_NOSYSTEM: "1",
      GIT_ALLOW_PROTOCOL: "",
      GIT_NO_LAZY_FETCH: "1",
      GIT_NO_REPLACE_OBJECTS: "1",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_TERMINAL_PROMPT: "0",
      GIT_ALLOC_LIMIT: "536870912",
      LC_ALL: "C",
    });
  });

  test("leaves out variables that are not set", async () => {
    vi.stubEnv("XDG_CONFIG_HOME", undefined);
    installGit("printenv XDG_CONFIG_HOME || echo not set");
    const printed = await PrivateGit.create(repository, worktree).run(["status"]);
    expect(printed.toString()).toBe("not set\n");
  });

  test("switches off everything in a configuration that runs a program", async () => {
    installGit('printf "%s\\n" "$@"');
    const printed = (await PrivateGit.create(repository, worktree).run(["ls-files", "-z"])).toString();
    expect(printed.trim().split("\n")).toEqual([
      "--no-pager",
      ...[
        "core.quotePath=false",
        "core.autocrlf=false",
        `core.hooksPath=${devNull}`,
        "core.fsmonitor=false",
        "core.untrackedCache=false",
        "protocol.allow=never",
        "credential.helper=",
        "submodule.recurse=false",
        "gc.auto=0",
        "maintenance.auto=false",
      ].flatMap((setting) => ["-c", setting]),
      "ls-files",
      "-z",
    ]);
  });

  test("passes the input and returns all of the output", async () => {
    installGit("cat");
    const input = "x".repeat(300_000);
    const output = await PrivateGit.create(repository, worktree).run(["status"], { input });
    expect(output.toString()).toBe(input);
  });

  test("reports the first line of the error, or else the exit code", async () => {
    installGit('test "$#" -gt 22 && echo "fatal: first" >&2; echo second >&2; exit 3');
    const git = PrivateGit.create(repository, worktree);
    await expect(git.run(["status", "-z"])).rejects.toThrow("git status failed: fatal: first");
    writeFileSync(join(folder, "bin/git"), "#!/bin/sh\nexit 3\n");
    await expect(git.run(["status"])).rejects.toThrow("git status failed: it exited with 3");
  });

  test("stops git when it takes too long, or when the call is aborted", async () => {
    installGit("exec sleep 1000");
    const git = PrivateGit.create(repository, worktree);
    await expect(git.run(["status"], { limitMs: 50 })).rejects.toThrow(
      "git status was stopped: it took or wrote too much",
    );
    const aborted = new AbortController();
    const running = git.run(["status"], { signal: aborted.signal });
    aborted.abort();
    await expect(running).rejects.toThrow("aborted");
  });

  test("replaces what is in the directory of the repository, and reads objects of another one", () => {
    mkdirSync(repository, { recursive: true });
    writeFileSync(join(repository, "config"), "[core]\n\tfsmonitor = touch ran\n");
    writeFileSync(join(repository, "left"), "");
    PrivateGit.create(repository, worktree, "/objects");
    expect(readdirSync(repository).sort()).toEqual(["HEAD", "config", "info", "objects", "refs"]);
    expect(readFileSync(join(repository, "config"), "utf8")).not.toContain("fsmonitor");
    expect(readFileSync(join(repository, "objects/info/alternates"), "utf8")).toBe("/objects\n");
    PrivateGit.create(repository, worktree);
    expect(readdirSync(join(repository, "objects/info"))).toEqual([]);
  });

  test("reports that git is not installed", () => {
    vi.stubEnv("PATH", join(folder, "nothing"));
    expect(() => PrivateGit.create(repository, worktree)).toThrow("git is not installed");
  });
});
