import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { leaveNoProcessBehind, runBash } from "../../test/processes.js";
import { useWorkspace } from "../../test/workspace.js";
import { withPrivateCaches } from "./policy.js";
import { Sandbox } from "./sandbox.js";
import { resolveSandbox } from "./settings.js";

leaveNoProcessBehind();
const { program, problem } = await new Sandbox(resolveSandbox("auto")).status();
const required = { sandbox: "require" } as const;
const home = process.cwd();
const at = useWorkspace();

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
  writeFileSync(join(at.workspace, "script.py"), script);
  return "python3 script.py";
}
const hasPython = spawnSync("python3", ["-c", ""]).status === 0;

describe.skipIf(program === undefined)(`escapes${problem ? ` (skipped: ${problem})` : ""}`, () => {
  describe("by variables of the call", () => {
    test("reaches no program outside the sandbox: the dynamic linker of bubblewrap writes no file", async () => {
      const env = { LD_DEBUG: "all", LD_DEBUG_OUTPUT: join(at.outside, "log") };
      await runBash({ command: "ls", env }, required);
      expect(readdirSync(at.outside)).toEqual([]);
    });

    test("passes all to the command, whatever their name, and puts none on a command line", async () => {
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

    test("hides variables that look like secrets, and copies of their values", async () => {
      const hidden = {
        AWS_SECRET_ACCESS_KEY: "aws-secret",
        GITHUB_TOKEN: "ghp_0123456789abcdef",
        NPM_TOKEN: "npm-token",
        PGPASSWORD: "pg-secret",
        DATABASE_URL: "postgres://me:hunter2@db/app",
        ANY_NAME: "glpat-0123456789abcdef",
        COPY: "x-access:ghp_0123456789abcdef",
      };
      const shown = {
        GIT_AUTHOR_NAME: "Ada",
        TOKENIZERS_PARALLELISM: "false",
        SHORT_KEY: "a",
        OTHER: "banana",
      };
      for (const [name, value] of Object.entries({ ...hidden, ...shown })) vi.stubEnv(name, value);
      onTestFinished(() => void vi.unstubAllEnvs());
      const inside = (await runBash({ command: "env" }, required)).stdout;
      for (const [name, value] of Object.entries(hidden)) {
        expect(inside).not.toContain(`${name}=`);
        expect(inside).not.toContain(value);
      }
      for (const name of ["GIT_AUTHOR_NAME", "TOKENIZERS_PARALLELISM", "OTHER"])
        expect(inside).toContain(`${name}=`);
      const sandbox = { mode: "require", passEnv: ["GITHUB_*", "COPY"] } as const;
      const passed = (await runBash({ command: "env" }, { sandbox })).stdout;
      expect(passed).toContain("GITHUB_TOKEN=ghp_0123456789abcdef\n");
      expect(passed).not.toContain("npm-token");
      const given = { command: 'echo "$NPM_TOKEN"', env: { NPM_TOKEN: "of the call" } };
      expect((await runBash(given, required)).stdout).toBe("of the call\n");
    });

    test("adds no variable of the agent next to its own, and loses none", async () => {
      const sandbox = { mode: "require", passEnv: ["*"] } as const;
      const inside = await runBash({ command: "env -0 | sort -z | tr '\\0' '\\n'" }, { sandbox });
      const direct = await runBash({ command: "env -0 | sort -z | tr '\\0' '\\n'" });
      const names = (text: string) =>
        text.match(/^[A-Za-z_]+(?==)/gm)?.filter((name) => name !== "PWD") ?? [];
      const caches = Object.keys(withPrivateCaches({}, "/caches", []));
      const others = (text: string) => names(text).filter((name) => !caches.includes(name));
      expect(others(inside.stdout)).toEqual(others(direct.stdout));
    });

    test("limits are set before the call's variables count", async () => {
      const env = { "BASH_FUNC_ulimit%%": "() { :; }", BASH_ENV: join(at.workspace, "hook") };
      const options = { ...required, shell: "/bin/bash", limits: { fileMb: 1 } };
      const result = await runBash({ command: "builtin ulimit -f", env }, options);
      expect(result.stdout).toBe("1024\n");
    });
  });

  describe("by programs of the project", () => {
    test("does not use bwrap and mkfifo in PATH", async () => {
      const bin = join(at.workspace, "node_modules/.bin");
      mkdirSync(bin, { recursive: true });
      for (const name of ["bwrap", "mkfifo", "sh", "grep"]) {
        writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> ${join(at.outside, "ran")}\n`);
        chmodSync(join(bin, name), 0o755);
      }
      vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
      onTestFinished(() => void vi.unstubAllEnvs());
      vi.resetModules();
      const fresh = await import("../tools/bash.js");
      await fresh.runBashTool(required).execute({ command: "echo x\necho y" });
      expect(existsSync(join(at.outside, "ran"))).toBe(false);
    });
  });

  describe("by the rights of the user", () => {
    test("leaves no capability, and mounts cannot be changed", async () => {
      const command =
        "grep -E '^Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status; mount -o remount,rw,bind /; mount -t tmpfs none /mnt; umount /proc";
      const { stdout, stderr } = await runBash({ command }, required);
      expect(stdout.match(/0{16}/g)).toHaveLength(4);
      expect(stdout).toMatch(/NoNewPrivs:\t1\nSeccomp:\t2/);
      expect(
        stderr.match(/mount: .*(permission denied|must be superuser|not permitted|not mounted)/gi)?.length,
      ).toBeGreaterThanOrEqual(3);
    });

    test("cannot write settings of the kernel, not as root either", async () => {
      const files = ["sys/kernel/core_pattern", "sys/kernel/modprobe", "sys/vm/drop_caches", "sysrq-trigger"];
      // Opening is the test: nothing is written if it should succeed.
      const command = files.map((file) => `(: >> /proc/${file}) && echo open`).join("; ");
      expect((await runBash({ command }, required)).stdout).toBe("");
    });

    test("cannot create a namespace", async () => {
      const { stdout } = await runBash(
        { command: "unshare -U true && echo user; unshare -Ur true && echo mapped" },
        required,
      );
      expect(stdout).toBe("");
    });

    test.skipIf(!hasPython)("sets the set-user-id bit of no file, by whichever call", async () => {
      const script = python(`
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
open("plain", "w").close()
def attempt(make):
    try: make()
    except OSError as error: print(error.errno)
attempt(lambda: os.chmod("plain", 0o4755))
attempt(lambda: os.fchmod(os.open("plain", os.O_RDONLY), 0o4755))
attempt(lambda: os.chmod("plain", 0o4755, dir_fd=os.open(".", os.O_RDONLY)))
attempt(lambda: os.open("opened", os.O_CREAT | os.O_WRONLY, 0o4755))
attempt(lambda: os.mknod("node", 0o104755))
libc.syscall(452, -100, b"plain", 0o4755, 0)
libc.syscall(437, -100, b"second", (ctypes.c_uint64 * 3)(0o101, 0o4755, 0), 24)
os.chmod("plain", 0o755)
os.close(os.open("plain", os.O_RDONLY, 0o4755))
`);
      const { stdout, stderr } = await runBash({ command: `${script}; find . -perm /4000` }, required);
      expect(stderr).toBe("");
      expect(stdout).toBe("1\n".repeat(5));
    });

    test("has no terminal", async () => {
      const { stderr } = await runBash({ command: ": < /dev/tty" }, required);
      expect(stderr).toContain("/dev/tty");
    });
  });

  describe("by sockets of programs outside", () => {
    test.each([true, false])("cannot reach one next to the workspace (network: %s)", async (network) => {
      const { visits } = await listen(join(at.outside, "agent.sock"));
      const options = { sandbox: { mode: "require", network } } as const;
      const result = await runBash({ command: connectTo(join(at.outside, "agent.sock")) }, options);
      expect(result.stdout).not.toContain("connected");
      expect(visits()).toBe(0);
    });

    test("cannot reach one in the workspace itself", async () => {
      const { visits } = await listen(join(at.workspace, "agent.sock"));
      const { stdout } = await runBash({ command: connectTo("agent.sock") }, required);
      expect(stdout).toBe("EPERM\n");
      expect(visits()).toBe(0);
    });

    test("gives commands their own with unixSockets, and hides those outside", async () => {
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

    test("allows a pair of sockets: programs talk to their children", async () => {
      const command = `${process.execPath} -e 'require("child_process").spawn(process.execPath, ["-e", "process.send(1)"], { stdio: ["ignore", "inherit", "inherit", "ipc"] }).on("message", () => console.log("heard"))'`;
      expect((await runBash({ command }, required)).stdout).toBe("heard\n");
    });

    test.skipIf(!hasPython)(
      "cannot turn a datagram pair into a socket, nor use another family or io_uring",
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

  test("by a directory that the program which started the agent left open", (context) => {
    const entry = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
    if (!existsSync(entry)) return context.skip("the package is not built");
    const code = `
      const { runBashTool } = await import(${JSON.stringify(entry)});
      const command = "for fd in /proc/self/fd/*; do echo x > $fd/file; done 2>/dev/null; ls -l /proc/self/fd >&2";
      console.log(await runBashTool({ sandbox: "require" }).execute({ command }));`;
    const directory = openSync(at.outside, "r");
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
      // Node closes low ones by itself.
      ...Array<"ignore">(40).fill("ignore"),
      directory,
    ] as const;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
      stdio: [...stdio],
    });
    const { stderr } = JSON.parse(stdout.toString());
    expect(stderr).not.toContain(at.outside);
    expect(readdirSync(at.outside)).toEqual([]);
  });

  describe("by temporary directories", () => {
    test("uses for cwd /tmp an empty directory that is the command's own", async () => {
      const name = `tools-bash-${process.pid}`;
      const { stdout } = await runBash(
        { command: `ls -A | grep -v '^tools-bash-escape'; touch ${name}; pwd`, cwd: "/tmp" },
        required,
      );
      expect(stdout.split("\n").filter((line) => !line.startsWith("agent-bash-"))).toEqual(["/tmp", ""]);
      expect(existsSync(join("/tmp", name))).toBe(false);
    });

    test("shows nothing of the host for a cwd in one of them, which the model names", async () => {
      writeFileSync(join(at.outside, "token"), "s3cr3t");
      await expect(runBash({ command: "cat token", cwd: at.outside }, required)).rejects.toThrow(
        /"cwd" .* is not in the sandbox: every sandbox has "\/tmp" empty.*Nothing was run/,
      );
      const options = { sandbox: { mode: "require", writable: [at.outside] } } as const;
      expect((await runBash({ command: "cat token", cwd: at.outside }, options)).stdout).toBe("s3cr3t");
    });

    test("shows an empty /run except for name servers", async () => {
      const { stdout } = await runBash(
        { command: "find /run ! -type d ! -type l; ls -A /run/user" },
        required,
      );
      expect(
        stdout.split("\n").filter((line) => line !== "" && line !== realpathSync("/etc/resolv.conf")),
      ).toEqual([]);
    });

    test("explains to an agent that works in /tmp itself why it cannot", async () => {
      process.chdir("/tmp");
      await expect(runBash({ command: "ls" }, required)).rejects.toThrow(
        /"\/tmp" cannot be written from a sandbox.*Nothing was run/,
      );
    });

    test("cannot find pipes of other commands", async () => {
      const { stdout } = await runBash({ command: "find /tmp -type p" }, required);
      expect(stdout).toBe("");
    });
  });
});
