import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lockFile } from "@agent/core/toolkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { leaveNoProcessBehind, runBash } from "../../test/processes.js";
import { useWorkspace } from "../../test/workspace.js";
import { runBashTool } from "../tools/bash.js";
import { Sandbox } from "./sandbox.js";
import { resolveSandbox } from "./settings.js";

leaveNoProcessBehind();
const { program, problem } = await new Sandbox(resolveSandbox("auto")).status();
/** The user id of the account "no one". */
const NOBODY = 65534;
const required = { sandbox: "require" } as const;
const at = useWorkspace();
/** How many commands have noted what they keep free in a directory. */
function noted(root: string): number {
  const users = `${lockFile(join(root, "placeholders of bubblewrap"))}.users`;
  return existsSync(users) ? readdirSync(users).length : 0;
}
const AGENT = fileURLToPath(new URL("../../test/agent.mjs", import.meta.url));

describe.skipIf(program === undefined)(
  `escapes by files that run later${problem ? ` (skipped: ${problem})` : ""}`,
  () => {
    const inWorkspace = (path: string) => join(at.workspace, path);
    const git = () => {
      for (const directory of [".git/hooks", ".git/objects", ".git/refs"])
        mkdirSync(inWorkspace(directory), { recursive: true });
      writeFileSync(inWorkspace(".git/HEAD"), "ref: refs/heads/main\n");
      writeFileSync(inWorkspace(".git/config"), "[core]\n\trepositoryformatversion = 0\n");
    };

    test("keeps existing ones read-only, also under another way to write", async () => {
      git();
      writeFileSync(inWorkspace(".envrc"), "mine");
      const command = `echo x > .git/hooks/pre-commit; echo x >> .git/config; git config core.fsmonitor x; echo x > .envrc
rm -f .envrc; mv .envrc old; echo y > y; mv -f y .envrc; ln -f y .envrc; mv .git/hooks .git/h; mv .git old-git; rm -rf .git/hooks; mkdir .git/worktrees/x`;
      await runBash({ command }, required);
      expect(readFileSync(inWorkspace(".envrc"), "utf8")).toBe("mine");
      expect(readFileSync(inWorkspace(".git/config"), "utf8")).not.toContain("fsmonitor");
      expect(readdirSync(inWorkspace(".git/hooks"))).toEqual([]);
      expect(existsSync(inWorkspace("old-git"))).toBe(false);
    });

    test("cannot create missing ones, and leaves nothing in their place", async () => {
      git();
      const before = readdirSync(at.workspace, { recursive: true }).sort();
      const command =
        "echo x > .envrc; echo x > .git/config.worktree; mkdir .git/modules/x; mkdir -p .git/worktrees/y; echo ../evil > .git/commondir; true";
      const result = await runBash({ command }, required);
      expect(readdirSync(at.workspace, { recursive: true }).sort()).toEqual(
        [...before, ".git/commondir.refused", ".envrc.refused"].sort(),
      );
      expect(result.stderr).toContain("may not make .envrc, .git/commondir:");
    });

    test("does not let a workspace become a repository if it is not one", async () => {
      const command = "git init -q; git init -q --bare .; mkdir -p .git/hooks; echo x > HEAD; ls -d .git";
      await runBash({ command }, required);
      expect(existsSync(inWorkspace(".git"))).toBe(false);
      expect(spawnSync("git", ["rev-parse", "--git-dir"], { cwd: at.workspace }).status).not.toBe(0);
    });

    test("lets git make commits", async () => {
      git();
      const command =
        "echo x > a; git add -A && git -c user.name=x -c user.email=x@x commit -qm x && git show --stat --format=%s";
      const { stdout, stderr } = await runBash({ command }, required);
      expect(stderr).toBe("");
      expect(stdout).toMatch(/^x\n\n a \| 1 \+\n 1 file changed/);
    });

    test("renames config files that other programs execute if a command created them", async () => {
      mkdirSync(inWorkspace(".config"));
      const command =
        "mkdir .vscode .config/git; echo x > .envrc; ln -s /etc .husky; echo x > new.code-workspace";
      const { stderr } = await runBash({ command }, required);
      expect(readdirSync(at.workspace).sort()).toEqual([
        ".config",
        ".envrc.refused",
        ".husky.refused",
        ".vscode.refused",
        "new.code-workspace.refused",
      ]);
      expect(readdirSync(inWorkspace(".config"))).toEqual(["git.refused"]);
      expect(stderr).toMatch(/may not make .*\.envrc/);
    });

    test("cannot move away a directory with a protected file in it", async () => {
      mkdirSync(inWorkspace(".config/git"), { recursive: true });
      await runBash(
        { command: "mv .config old; mkdir -p .config/git; echo x > .config/git/config" },
        required,
      );
      expect(readdirSync(inWorkspace(".config/git"))).toEqual([]);
      expect(existsSync(inWorkspace("old"))).toBe(false);
    });

    test("cannot reach outside by a link in the place of a directory", async () => {
      mkdirSync(join(at.outside, "fish"));
      symlinkSync(at.outside, inWorkspace(".config"));
      symlinkSync(at.outside, inWorkspace(".git"));
      await runBash({ command: "echo x > .config/fish/a; echo x > .git/a" }, required);
      expect(readdirSync(at.outside, { recursive: true })).toEqual(["fish"]);
    });

    test("does not follow a link put in the place of a writable directory with the next command", async () => {
      mkdirSync(inWorkspace("cache"));
      const tool = runBashTool({ sandbox: { mode: "require", writable: ["cache"] } });
      await tool.execute({ command: `rmdir cache && ln -s ${at.outside} cache` });
      await tool.execute({ command: "echo x > cache/file" });
      expect(lstatSync(inWorkspace("cache")).isSymbolicLink()).toBe(true);
      expect(readdirSync(at.outside)).toEqual([]);
    });

    test("protects the host's own files, and shows its secret places as empty", async () => {
      mkdirSync(inWorkspace("state"));
      mkdirSync(inWorkspace("keys"));
      writeFileSync(inWorkspace("keys/one"), "secret");
      writeFileSync(inWorkspace("host.config.ts"), "mine");
      writeFileSync(inWorkspace("package.json"), "{}");
      const tool = runBashTool(required, {
        protectedPaths: [inWorkspace("state"), inWorkspace("trust.json")],
        protectedNames: ["host.config.ts", "host.config.json", "package.json#host"],
        access: { secret: [inWorkspace("keys")] },
      });
      const command =
        "echo x > state/a; echo x > trust.json; cat keys/*; echo x > host.config.ts; echo x > host.config.json; echo x > package.json";
      const { stdout } = JSON.parse(await tool.execute({ command }));
      expect(stdout).toBe("");
      expect(readFileSync(inWorkspace("host.config.ts"), "utf8")).toBe("mine");
      expect(readFileSync(inWorkspace("package.json"), "utf8")).toBe("x\n");
      expect(readdirSync(at.workspace, { recursive: true }).sort()).toEqual([
        "host.config.json.refused",
        "host.config.ts",
        "keys",
        "keys/one",
        "package.json",
        "state",
        "trust.json.refused",
      ]);
    });

    test("shares what keeps a name free between commands that run at the same time", async () => {
      const tool = runBashTool(required);
      const wait = (name: string) => `echo > ${name}-started; until [ -e ${name}-go ]; do sleep 0.01; done`;
      const started = (name: string) =>
        expect.poll(() => existsSync(inWorkspace(`${name}-started`)), { timeout: 60_000 }).toBe(true);
      const first = tool.execute({ command: wait("first") });
      await started("first");
      const second = tool.execute({ command: `${wait("second")}; mkdir .git/hooks` });
      await started("second");
      await tool.execute({ command: "mkdir .git/hooks" });
      writeFileSync(inWorkspace("first-go"), "");
      await first;
      writeFileSync(inWorkspace("second-go"), "");
      expect(JSON.parse(await second).stderr).toContain("Read-only file system");
      expect(existsSync(inWorkspace(".git"))).toBe(false);
    });

    test.each([
      ["ends", () => writeFileSync(inWorkspace("theirs-go"), "")],
      ["is killed", (agent: ChildProcess) => void agent.kill("SIGKILL")],
    ] satisfies [string, (agent: ChildProcess) => void][])(
      "keeps free what another agent in the same directory keeps free when that agent %s",
      async (_, end) => {
        const started = (name: string) =>
          expect.poll(() => existsSync(inWorkspace(`${name}-started`)), { timeout: 60_000 }).toBe(true);
        const wait = (name: string) => `echo > ${name}-started; until [ -e ${name}-go ]; do sleep 0.01; done`;
        const agent = spawn(process.execPath, [AGENT, wait("theirs"), "sandboxed"], {
          stdio: ["ignore", "ignore", "inherit"],
        });
        onTestFinished(() => void agent.kill("SIGKILL"));
        await started("theirs");
        const attack = "mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit";
        const running = runBashTool(required).execute({ command: `${wait("ours")}; ${attack}` });
        await started("ours");
        const ended = once(agent, "exit");
        end(agent);
        await ended;
        // The watchdog of an agent that was killed works for a moment longer.
        await expect.poll(() => noted(at.workspace), { timeout: 60_000 }).toBe(1);
        writeFileSync(inWorkspace("ours-go"), "");
        expect(JSON.parse(await running).stderr).toContain("Read-only file system");
        expect(existsSync(inWorkspace(".git"))).toBe(false);
        expect(noted(at.workspace)).toBe(0);
      },
    );

    test.each([true, false])(
      "leaves nothing in their place after an agent is killed (in a repository: %s)",
      async (isRepository) => {
        if (isRepository) git();
        const before = readdirSync(at.workspace, { recursive: true }).sort();
        const agent = spawn(process.execPath, [AGENT, "echo > started; sleep 100", "sandboxed"], {
          stdio: ["ignore", "ignore", "inherit"],
        });
        await expect.poll(() => existsSync(inWorkspace("started")), { timeout: 60_000 }).toBe(true);
        agent.kill("SIGKILL");
        await expect
          .poll(() => readdirSync(at.workspace, { recursive: true }).sort(), { timeout: 20_000 })
          .toEqual([...before, "started"].sort());
      },
      60_000,
    );

    test("keeps a file that a user replaces while a command runs", async () => {
      git();
      writeFileSync(inWorkspace(".envrc"), "old");
      const running = runBash(
        { command: "echo here > started; until [ -e go ]; do sleep 0.01; done" },
        required,
      );
      await expect.poll(() => existsSync(inWorkspace("started")), { timeout: 60_000 }).toBe(true);
      for (const path of [".envrc", ".git/config"]) {
        writeFileSync(inWorkspace("new"), "[core]\n");
        renameSync(inWorkspace("new"), inWorkspace(path));
      }
      writeFileSync(inWorkspace("go"), "");
      await running;
      expect(readFileSync(inWorkspace(".envrc"), "utf8")).toBe("[core]\n");
      expect(readFileSync(inWorkspace(".git/config"), "utf8")).toBe("[core]\n");
    });
  },
);

describe.skipIf(program === undefined)("tricks of a command to keep a file that it must not create", () => {
  const inWorkspace = (path: string) => join(at.workspace, path);

  test("do not prevent a rename if the name leaves no room for the suffix", async () => {
    const name = `${"a".repeat(240)}.code-workspace`;
    await runBash({ command: `echo x > ${name}` }, required);
    expect(readdirSync(at.workspace)).toEqual(["file.refused"]);
  });

  test("cannot move a secret place below the workspace for the next command", async () => {
    mkdirSync(inWorkspace(".config/cloud"), { recursive: true });
    writeFileSync(inWorkspace(".config/cloud/token"), "s3cr3t");
    const tool = runBashTool(required, { access: { secret: [inWorkspace(".config/cloud")] } });
    await tool.execute({ command: "mv .config moved" });
    expect(await tool.execute({ command: "cat moved/cloud/token .config/cloud/token" })).not.toContain(
      "s3cr3t",
    );
    expect(JSON.parse(await tool.execute({ command: "echo x > .config/other && ls .config" })).stdout).toBe(
      "cloud\nother\n",
    );
  });

  test("do not work with a directory that the command made read-only", (context) => {
    const entry = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
    // Root is stopped by no mode.
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    if (spawnSync(process.execPath, ["-e", `import(${JSON.stringify(entry)})`], user).status !== 0) {
      return context.skip("the package is not built, or not readable for the user no one");
    }
    if ("uid" in user) {
      chownSync(at.workspace, NOBODY, NOBODY);
      chmodSync(dirname(at.workspace), 0o755);
    }
    const code = `
      const { runBashTool } = await import(${JSON.stringify(entry)});
      const command = "mkdir -p .config/git; echo x > .config/git/config; chmod 0 .config; echo x > .envrc; chmod 0 .";
      console.log(await runBashTool({ sandbox: "require" }).execute({ command }));`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], user);
    expect(stdout.toString()).toMatch(/may not make .*\.envrc/);
    for (const name of [".envrc", ".config/git"]) expect(existsSync(inWorkspace(name))).toBe(false);
    expect(existsSync(inWorkspace(".config/git.refused/config"))).toBe(true);
  });
});
