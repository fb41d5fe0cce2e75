import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { leaveNoProcessBehind, runBash } from "../../test/processes.js";
import { RunBashTool } from "../tools/bash.js";
import { Sandbox } from "./sandbox.js";

leaveNoProcessBehind();
const { program, problem } = await new Sandbox("auto").status();
const required = { sandbox: "require" } as const;
const home = process.cwd();
let base: string;
let workspace: string;
let outside: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "tools-bash-escape-")));
  workspace = join(base, "workspace");
  outside = join(base, "outside");
  mkdirSync(workspace);
  mkdirSync(outside);
  process.chdir(workspace);
});
afterEach(() => {
  process.chdir(home);
  rmSync(base, { recursive: true, force: true });
});

/** A server on a unix socket outside the workspace, and whether anybody came. */
async function listen(path: string): Promise<{ readonly server: Server; visits(): number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.destroy();
  }).listen(path);
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return { server, visits: () => visits };
}

/** A command that connects to a socket and prints "connected" or the reason why not. */
function connectTo(path: string): string {
  const script = `require("net").connect(process.argv[1]).on("connect", () => { console.log("connected"); process.exit() }).on("error", (error) => console.log(error.code))`;
  return `${process.execPath} -e '${script}' '${path}'`;
}

/** Runs a command with python, which can make any system call. */
function python(script: string): string {
  writeFileSync(join(workspace, "script.py"), script);
  return "python3 script.py";
}
const hasPython = spawnSync("python3", ["-c", ""]).status === 0;

describe.skipIf(program === undefined)(`escapes${problem ? ` (skipped: ${problem})` : ""}`, () => {
  describe("by variables of the call", () => {
    test("none reaches a program that runs outside: the dynamic linker of bubblewrap writes no file", async () => {
      const env = { LD_DEBUG: "all", LD_DEBUG_OUTPUT: join(outside, "log") };
      await runBash({ command: "ls", env }, required);
      expect(readdirSync(outside)).toEqual([]);
    });

    test("all reach the command, whatever their name, and none is on a command line", async () => {
      const env = {
        LD_PRELOAD: "/no/such.so",
        __proto__x: "2",
        EMPTY: "",
        LINES: "a\nb",
        SECRET_ONE: "s3cr3t",
      };
      const command =
        "cat /proc/self/environ | tr '\\0' '\\n'; cat /proc/1/cmdline /proc/$$/cmdline | tr '\\0' ' '";
      const { stdout } = await runBash({ command, env }, required);
      for (const [name, value] of Object.entries(env)) expect(stdout).toContain(`${name}=${value}\n`);
      expect(stdout.split("s3cr3t")).toHaveLength(2);
    });

    test("no variable of the agent beside its own is added, and none is lost", async () => {
      const inside = await runBash({ command: "env -0 | sort -z | tr '\\0' '\\n'" }, required);
      const direct = await runBash({ command: "env -0 | sort -z | tr '\\0' '\\n'" });
      const names = (text: string) => text.match(/^[A-Za-z_]+(?==)/gm)?.filter((name) => name !== "PWD");
      expect(names(inside.stdout)).toEqual(names(direct.stdout));
    });

    test("limits are set before the call's variables count", async () => {
      const env = { "BASH_FUNC_ulimit%%": "() { :; }", BASH_ENV: join(workspace, "hook") };
      const options = { ...required, shell: "/bin/bash", limits: { fileMb: 1 } };
      const result = await runBash({ command: "builtin ulimit -f", env }, options);
      expect(result.stdout).toBe("1024\n");
    });
  });

  describe("by programs of the project", () => {
    test("bwrap and mkfifo in PATH are not used", async () => {
      const bin = join(workspace, "node_modules/.bin");
      mkdirSync(bin, { recursive: true });
      for (const name of ["bwrap", "mkfifo", "sh", "grep"]) {
        writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> ${join(outside, "ran")}\n`);
        chmodSync(join(bin, name), 0o755);
      }
      vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
      onTestFinished(() => void vi.unstubAllEnvs());
      vi.resetModules();
      const fresh = await import("../tools/bash.js");
      await new fresh.RunBashTool(required).execute({ command: "echo x\necho y" });
      expect(existsSync(join(outside, "ran"))).toBe(false);
    });
  });

  describe("by the rights of the user", () => {
    test("no capability is left, and mounts cannot be changed", async () => {
      const command =
        "grep -E '^Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status; mount -o remount,rw,bind /; mount -t tmpfs none /mnt; umount /proc";
      const { stdout, stderr } = await runBash({ command }, required);
      expect(stdout.match(/0{16}/g)).toHaveLength(4);
      expect(stdout).toMatch(/NoNewPrivs:\t1\nSeccomp:\t2/);
      expect(
        stderr.match(/mount: .*(permission denied|must be superuser|not permitted|not mounted)/gi)?.length,
      ).toBeGreaterThanOrEqual(3);
    });

    test("settings of the kernel cannot be written, not by root either", async () => {
      const files = ["sys/kernel/core_pattern", "sys/kernel/modprobe", "sys/vm/drop_caches", "sysrq-trigger"];
      // Opening is the test: nothing is written if it should succeed.
      const command = files.map((file) => `(: >> /proc/${file}) && echo open`).join("; ");
      expect((await runBash({ command }, required)).stdout).toBe("");
    });

    test("no namespace can be made", async () => {
      const { stdout } = await runBash(
        { command: "unshare -U true && echo user; unshare -Ur true && echo mapped" },
        required,
      );
      expect(stdout).toBe("");
    });

    test("there is no terminal", async () => {
      const { stderr } = await runBash({ command: ": < /dev/tty" }, required);
      expect(stderr).toContain("/dev/tty");
    });
  });

  describe("by sockets of programs outside", () => {
    test.each([true, false])("one beside the workspace is out of reach (network: %s)", async (network) => {
      const { visits } = await listen(join(outside, "agent.sock"));
      const options = { sandbox: { mode: "require", network } } as const;
      const result = await runBash(
        { command: connectTo(join(outside, "agent.sock")), cwd: outside },
        options,
      );
      expect(result.stdout).not.toContain("connected");
      expect(visits()).toBe(0);
    });

    test("one in the workspace itself is out of reach", async () => {
      const { visits } = await listen(join(workspace, "agent.sock"));
      const { stdout } = await runBash({ command: connectTo("agent.sock") }, required);
      expect(stdout).toBe("EPERM\n");
      expect(visits()).toBe(0);
    });

    test("with unixSockets, commands have their own, and those outside are hidden", async () => {
      const place = mkdtempSync(join(home, "node_modules/.socket-"));
      onTestFinished(() => rmSync(place, { recursive: true, force: true }));
      const { visits } = await listen(join(place, "agent.sock"));
      const options = { sandbox: { mode: "require", unixSockets: true } } as const;
      const own = `${process.execPath} -e 'require("net").createServer((s) => process.exit()).listen("own", () => require("net").connect("own"))' && echo own`;
      const { stdout } = await runBash(
        { command: `${own}; ${connectTo(join(place, "agent.sock"))}` },
        options,
      );
      expect(stdout).toMatch(/^own\n(?!connected)/);
      expect(visits()).toBe(0);
    });

    test("a pair of sockets works: programs talk to their children", async () => {
      const command = `${process.execPath} -e 'require("child_process").spawn(process.execPath, ["-e", "process.send(1)"], { stdio: ["ignore", "inherit", "inherit", "ipc"] }).on("message", () => console.log("heard"))'`;
      expect((await runBash({ command }, required)).stdout).toBe("heard\n");
    });

    test.skipIf(!hasPython)(
      "a datagram pair cannot be turned into a socket, nor another family or io_uring",
      async () => {
        const command = python(`
import socket, ctypes
def attempt(name, make):
    try:
        make(); print(name)
    except OSError as error:
        pass
attempt("stream pair", lambda: socket.socketpair())
attempt("datagram pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("inet", lambda: socket.socket(socket.AF_INET))
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {"io_uring": 425, "keyctl": 250, "bpf": 321, "mount": 165, "x32 socket": 0x40000000 + 41}.items():
    if libc.syscall(number, 1, 0, 0, 0, 0) == 0 or ctypes.get_errno() not in (1, 38): print(name, ctypes.get_errno())
`);
        const { stdout, stderr } = await runBash({ command }, required);
        expect(stderr).toBe("");
        expect(stdout).toBe("stream pair\ninet\n");
      },
    );
  });

  test("by a directory that whoever started the agent left open", (context) => {
    const entry = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
    if (!existsSync(entry)) return context.skip("the package is not built");
    const code = `
      const { RunBashTool } = await import(${JSON.stringify(entry)});
      const command = "for fd in /proc/self/fd/*; do echo x > $fd/file; done 2>/dev/null; ls -l /proc/self/fd >&2";
      console.log(await new RunBashTool({ sandbox: "require" }).execute({ command }));`;
    const directory = openSync(outside, "r");
    onTestFinished(() => closeSync(directory));
    const stdio = [
      "ignore",
      "pipe",
      "inherit",
      directory,
      directory,
      directory,
      "ignore",
      "ignore",
      directory,
    ] as const;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      stdio: [...stdio],
    });
    const { stderr } = JSON.parse(stdout.toString());
    expect(stderr).not.toContain(outside);
    expect(readdirSync(outside)).toEqual([]);
  });

  describe("by temporary directories", () => {
    test("cwd /tmp is an empty one of the command's own", async () => {
      const name = `tools-bash-${process.pid}`;
      const { stdout } = await runBash(
        { command: `ls -A | grep -v '^tools-bash-escape'; touch ${name}; pwd`, cwd: "/tmp" },
        required,
      );
      expect(stdout.split("\n").filter((line) => !line.startsWith("agent-bash-"))).toEqual(["/tmp", ""]);
      expect(existsSync(join("/tmp", name))).toBe(false);
    });

    test("/run is empty but for name servers", async () => {
      const { stdout } = await runBash(
        { command: "find /run ! -type d ! -type l; ls -A /run/user" },
        required,
      );
      expect(
        stdout.split("\n").filter((line) => line !== "" && line !== realpathSync("/etc/resolv.conf")),
      ).toEqual([]);
    });

    test("an agent that works in /tmp itself is told why not", async () => {
      process.chdir("/tmp");
      await expect(runBash({ command: "ls" }, required)).rejects.toThrow(
        /"\/tmp" cannot be written from a sandbox.*Nothing was run/,
      );
    });

    test("pipes of other commands cannot be found", async () => {
      const { stdout } = await runBash({ command: "find /tmp -type p" }, required);
      expect(stdout).toBe("");
    });
  });

  describe("by files that run later", () => {
    const inWorkspace = (path: string) => join(workspace, path);
    const git = () => {
      for (const directory of [".git/hooks", ".git/objects", ".git/refs"])
        mkdirSync(inWorkspace(directory), { recursive: true });
      writeFileSync(inWorkspace(".git/HEAD"), "ref: refs/heads/main\n");
      writeFileSync(inWorkspace(".git/config"), "[core]\n\trepositoryformatversion = 0\n");
    };

    test("existing ones are read-only, also under another way to write", async () => {
      git();
      writeFileSync(inWorkspace("agent.config.ts"), "mine");
      const command = `echo x > .git/hooks/pre-commit; echo x >> .git/config; git config core.fsmonitor x; echo x > agent.config.ts
rm -f agent.config.ts; mv agent.config.ts old; echo y > y; mv -f y agent.config.ts; ln -f y agent.config.ts; mv .git/hooks .git/h; mv .git old-git; rm -rf .git/hooks; mkdir .git/worktrees/x`;
      await runBash({ command }, required);
      expect(readFileSync(inWorkspace("agent.config.ts"), "utf8")).toBe("mine");
      expect(readFileSync(inWorkspace(".git/config"), "utf8")).not.toContain("fsmonitor");
      expect(readdirSync(inWorkspace(".git/hooks"))).toEqual([]);
      expect(existsSync(inWorkspace("old-git"))).toBe(false);
    });

    test("missing ones cannot be made, and nothing is left in their place", async () => {
      git();
      const before = readdirSync(workspace, { recursive: true }).sort();
      const command =
        "echo x > agent.config.ts; echo x > .git/config.worktree; mkdir .git/modules/x; mkdir -p .git/worktrees/y; echo ../evil > .git/commondir; true";
      const result = await runBash({ command }, required);
      expect(readdirSync(workspace, { recursive: true }).sort()).toEqual(
        [...before, ".git/commondir.refused", "agent.config.ts.refused"].sort(),
      );
      expect(result.stderr).toContain("may not make agent.config.ts, .git/commondir:");
    });

    test("a workspace that is no repository does not become one", async () => {
      const command = "git init -q; git init -q --bare .; mkdir -p .git/hooks; echo x > HEAD; ls -d .git";
      await runBash({ command }, required);
      expect(existsSync(inWorkspace(".git"))).toBe(false);
      expect(spawnSync("git", ["rev-parse", "--git-dir"], { cwd: workspace }).status).not.toBe(0);
    });

    test("git works: commits are made", async () => {
      git();
      const command =
        "echo x > a; git add -A && git -c user.name=x -c user.email=x@x commit -qm x && git show --stat --format=%s";
      const { stdout, stderr } = await runBash({ command }, required);
      expect(stderr).toBe("");
      expect(stdout).toMatch(/^x\n\n a \| 1 \+\n 1 file changed/);
    });

    test("files that other programs obey are renamed when a command made them", async () => {
      mkdirSync(inWorkspace(".config"));
      const command =
        "mkdir .vscode .config/git; echo x > .envrc; ln -s /etc .husky; echo x > new.code-workspace";
      const { stderr } = await runBash({ command }, required);
      expect(readdirSync(workspace).sort()).toEqual([
        ".config",
        ".envrc.refused",
        ".husky.refused",
        ".vscode.refused",
        "new.code-workspace.refused",
      ]);
      expect(readdirSync(inWorkspace(".config"))).toEqual(["git.refused"]);
      expect(stderr).toMatch(/may not make .*\.envrc/);
    });

    test("a directory that was moved away with a protected file in it is noticed", async () => {
      mkdirSync(inWorkspace(".config/git"), { recursive: true });
      await runBash(
        { command: "mv .config old; mkdir -p .config/git; echo x > .config/git/config" },
        required,
      );
      expect(readdirSync(inWorkspace(".config"))).toEqual(["git.refused"]);
    });

    test("a link in the place of a directory leads nothing outside", async () => {
      mkdirSync(join(outside, "fish"));
      symlinkSync(outside, inWorkspace(".config"));
      symlinkSync(outside, inWorkspace(".git"));
      await runBash({ command: "echo x > .config/fish/a; echo x > .git/a" }, required);
      expect(readdirSync(outside, { recursive: true })).toEqual(["fish"]);
    });

    test("a link put in the place of a writable directory is not followed by the next command", async () => {
      mkdirSync(inWorkspace("cache"));
      const tool = new RunBashTool({ sandbox: { mode: "require", writable: ["cache"] } });
      await tool.execute({ command: `rmdir cache && ln -s ${outside} cache` });
      await tool.execute({ command: "echo x > cache/file" });
      expect(lstatSync(inWorkspace("cache")).isSymbolicLink()).toBe(true);
      expect(readdirSync(outside)).toEqual([]);
    });

    test("the host's own files are protected, and its secret places are empty", async () => {
      mkdirSync(inWorkspace("state"));
      mkdirSync(inWorkspace("keys"));
      writeFileSync(inWorkspace("keys/one"), "secret");
      const tool = new RunBashTool(required, {
        protectedPaths: [inWorkspace("state"), inWorkspace("trust.json")],
        access: { secret: [inWorkspace("keys")] },
      });
      const { stdout } = JSON.parse(
        await tool.execute({ command: "echo x > state/a; echo x > trust.json; cat keys/*" }),
      );
      expect(stdout).toBe("");
      expect(readdirSync(workspace, { recursive: true }).sort()).toEqual([
        "keys",
        "keys/one",
        "state",
        "trust.json.refused",
      ]);
    });

    test("commands that run at the same time share what keeps a name free", async () => {
      const tool = new RunBashTool(required);
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

    test("a file that a person replaces while a command runs stays", async () => {
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
  });
});
