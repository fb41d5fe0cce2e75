import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GitConfigs } from "@agent/core/toolkit";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { leaveNoProcessBehind, makeTool, runBash, runWith } from "../../test/processes.js";
import { useWorkspace } from "../../test/workspace.js";
import { namedByGit, nestedRepositories } from "./gitFiles.js";
import { Sandbox } from "./sandbox.js";
import { resolveSandbox } from "./settings.js";

leaveNoProcessBehind();
const { program, problem } = await new Sandbox(resolveSandbox("auto")).status();
const required = { sandbox: "require" } as const;
const at = useWorkspace();

function git(directory: string, ...args: string[]): void {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
  execFileSync("git", [...identity, ...args], { cwd: directory, stdio: "pipe" });
}
const inWorkspace = (path: string) => join(at.workspace, path);
const writeHook = (path: string) =>
  `mkdir -p ${path}; printf '#!/bin/sh\\ntouch "${at.outside}/ran"\\n' > ${path}/pre-commit; chmod +x ${path}/pre-commit`;
const hookRan = () => existsSync(join(at.outside, "ran"));
const commit = (directory = at.workspace) => git(directory, "commit", "-q", "--allow-empty", "-m", "x");

describe.skipIf(program === undefined)(
  `what git's configuration names${problem ? ` (skipped: ${problem})` : ""}`,
  () => {
    beforeEach(() => git(at.workspace, "init", "-q"));

    test("does not let commands change the hooks of core.hooksPath, which really would run", async () => {
      mkdirSync(inWorkspace("tools/hooks"), { recursive: true });
      git(at.workspace, "config", "core.hooksPath", "tools/hooks");
      await runBash(
        { command: `${writeHook("tools/hooks")}; mv tools old; ${writeHook("tools/hooks")}` },
        required,
      );
      commit();
      expect(hookRan()).toBe(false);
      execFileSync("sh", ["-c", writeHook("tools/hooks")]);
      commit();
      expect(hookRan()).toBe(true);
    });

    test("reports a rebase that is left unfinished, with the commands that it would run outside", async () => {
      for (const _ of [1, 2]) commit();
      const start = "git -c user.name=t -c user.email=t@example.org rebase -q";
      const command = `${start} -x 'touch ${at.outside}/ran; false' HEAD~1; true`;
      const { stderr } = await runBash({ command }, required);
      expect(stderr).toContain(`the command left an unfinished rebase in ${at.workspace}.`);
      // It is named once, by the command that left it.
      expect((await runBash({ command: "echo" }, required)).stderr).toBe("");
      const todo = ".git/rebase-merge/git-rebase-todo";
      const changed = await runBash({ command: `echo 'exec ./evil.sh' >> ${todo}` }, required);
      expect(changed.stderr).toContain("would run, outside the sandbox: ./evil.sh.");
      git(at.workspace, "rebase", "--abort");
      expect((await runBash({ command: "git status --short" }, required)).stderr).toBe("");
    });

    test.each(["sequencer/todo", "rebase-apply/next", "BISECT_START"])(
      "reports an operation that is left unfinished in a repository below: %s",
      async (state) => {
        mkdirSync(inWorkspace("below"));
        git(inWorkspace("below"), "init", "-q");
        const command = `mkdir -p below/.git/$(dirname ${state}); echo x > below/.git/${state}`;
        const { stderr } = await runBash({ command }, required);
        expect(stderr).toContain("the command left an unfinished ");
        expect(stderr).toContain(`in ${at.workspace}/below.`);
      },
    );

    test("does not let commands create hooks if there are none yet, also by a user's own configuration", async () => {
      writeFileSync(join(at.outside, "gitconfig"), "[core]\n\thooksPath = .my-hooks\n");
      vi.stubEnv("GIT_CONFIG_GLOBAL", join(at.outside, "gitconfig"));
      const { stderr } = await runBash({ command: writeHook(".my-hooks") }, required);
      commit();
      vi.unstubAllEnvs();
      expect(hookRan()).toBe(false);
      expect(stderr).toContain("may not make .my-hooks:");
    });

    test("makes included configuration and programs of filters read-only, but not a directory of that name", async () => {
      git(at.workspace, "config", "include.path", "../shared.gitconfig");
      git(at.workspace, "config", "filter.x.clean", "sh ./clean.sh test");
      git(at.workspace, "config", "alias.later", "!./later.sh dist/report");
      for (const name of ["shared.gitconfig", "clean.sh"]) writeFileSync(inWorkspace(name), "");
      mkdirSync(inWorkspace("test"));
      const names = ["shared.gitconfig", "clean.sh", "later.sh", "test/a", "dist/report"];
      const command = `mkdir dist; for name in ${names.join(" ")}; do (echo x > $name) && echo $name; done 2>/dev/null`;
      const { stdout } = await runBash({ command }, required);
      expect(stdout.split("\n")).toEqual(["later.sh", "test/a", "dist/report", ""]);
      expect(existsSync(inWorkspace("later.sh"))).toBe(false);
      expect(existsSync(inWorkspace("dist/report"))).toBe(true);
    });

    test("keeps the hooks of repositories directly below the workspace; one that a command made is its own", async () => {
      mkdirSync(inWorkspace("mine"));
      git(inWorkspace("mine"), "init", "-q");
      const tool = makeTool(required);
      const { stderr } = await runWith(tool, {
        command: `${writeHook("mine/.git/hooks")}; git -C mine config core.fsmonitor x; mv mine/.git mine/old`,
      });
      expect(stderr).toContain("Read-only file system");
      commit(inWorkspace("mine"));
      expect(hookRan()).toBe(false);
      await runWith(tool, { command: "git init -q theirs" });
      const own = "git -C theirs config user.name x && rm -r theirs && echo removed";
      expect((await runWith(tool, { command: own })).stdout).toBe("removed\n");
    });
  },
);

test("protects what a configuration names below the directory, and nothing elsewhere", () => {
  git(at.workspace, "init", "-q");
  git(at.workspace, "config", "core.hooksPath", join(at.outside, "hooks"));
  git(at.workspace, "config", "core.fsmonitor", "./watch.sh");
  const paths = namedByGit(new GitConfigs(), at.workspace).map(({ path }) => path);
  expect(paths).toContain("watch.sh");
  expect(paths.filter((path) => path === "" || path.startsWith(".."))).toEqual([]);
});

test("finds at most fifty repositories directly below a directory", () => {
  mkdirSync(inWorkspace("plain"));
  writeFileSync(inWorkspace("file"), "");
  expect(nestedRepositories(at.workspace)).toEqual([]);
  for (let count = 0; count < 51; count++) mkdirSync(inWorkspace(`r${count}/.git`), { recursive: true });
  expect(nestedRepositories(at.workspace)).toHaveLength(50);
});
