import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { leaveNoProcessBehind, makeTool, runBash, runWith } from "../../test/processes.js";
import { Sandbox } from "../sandbox/sandbox.js";
import { resolveSandbox } from "../sandbox/settings.js";
import { ControlGroup } from "./controlGroup.js";
import { limitPrelude, resolveLimits } from "./limits.js";

leaveNoProcessBehind();
const directory = mkdtempSync(join(tmpdir(), "tools-bash-limits-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const hasPython = spawnSync("python3", ["-c", ""]).status === 0;
const hasSandbox = (await new Sandbox(resolveSandbox("auto")).status()).program !== undefined;
const group = ControlGroup.create({ memoryMb: 1024, processes: 100 });
group?.remove();
const canGroup = group !== undefined;
const onLinux = process.platform === "linux";
const HOG = `${process.execPath} -e 'const kept = []; setInterval(() => kept.push(Buffer.alloc(16e6, 1)), 40)'`;
const HOLD = `${process.execPath} -e 'globalThis.kept = Buffer.alloc(150e6, 1); setInterval(() => {}, 1e6)'`;

test("does not ask for a longer timeout if it is at the limit", async () => {
  const { stderr } = await runBash({ command: "sleep 100", timeout: 1e12 }, { limits: { timeoutMs: 300 } });
  expect(stderr).toMatch(
    /timed out after 300 ms;.*stopped\. No command may take longer \(limits\.timeoutMs\); append " &"/,
  );
});

describe.skipIf(!onLinux)("limits for the whole tree (needs /proc)", () => {
  test("Scenario: Command execution limits: a memory hog is killed and reported with its figures", async () => {
    const result = await runBash({ command: HOG }, { limits: { memoryMb: 256 } });
    expect(result).toMatchObject({ exit_code: 137, signal: "SIGKILL", timed_out: false });
    expect(result.limit_exceeded).toMatchObject({ limit: "memoryMb", allowed: 256 });
    expect(result.limit_exceeded?.used).toBeGreaterThan(256);
    expect(result.stderr).toMatch(/memory limit exceeded: \d+ MB used, 256 allowed \(limits\.memoryMb\)/);
  });

  test("allow a node that uses little memory", async () => {
    const command = `${process.execPath} -e 'setTimeout(() => console.log("fine"), 600)'`;
    expect(await runBash({ command }, { limits: { memoryMb: 256 } })).toMatchObject({
      stdout: "fine\n",
      stderr: "",
      exit_code: 0,
    });
  });

  test("make the kernel refuse a process that asks for far more, every time", async () => {
    const tool = makeTool({ limits: { memoryMb: 256 } });
    const hog = `${process.execPath} -e 'Buffer.alloc(690e6, 1)'`;
    for (let run = 0; run < 10; run++) {
      expect(await runWith(tool, { command: hog })).toMatchObject({
        exit_code: 1,
        limit_suspected: { limit: "memoryMb" },
      });
    }
  });

  test("apply to three children of 150 MB each that exceed 200 MB together", async () => {
    const result = await runBash(
      { command: `${HOLD} & ${HOLD} & ${HOLD} & wait` },
      { limits: { memoryMb: 200 } },
    );
    expect(result.limit_exceeded).toMatchObject({ limit: "memoryMb", allowed: 200 });
  });

  describe("memory that no process has mapped counts against the limit", () => {
    const sandbox = { mode: "require" } as const;
    const MEMFD = `import os, time
fd = os.memfd_create("x")
for _ in range(400): os.write(fd, b"x" * 1000000)
time.sleep(100)`;

    test.skipIf(!hasPython)("a file in memory (memfd)", async () => {
      const result = await runBash(
        { command: 'exec python3 -c "$1"', arguments: [MEMFD] },
        { limits: { memoryMb: 200 } },
      );
      expect(result.limit_exceeded).toMatchObject({ limit: "memoryMb", allowed: 200 });
    });

    test.skipIf(!hasPython)("a shared mapping", async () => {
      const code = `import mmap, time
m = mmap.mmap(-1, 400000000)
for _ in range(400): m.write(b"x" * 1000000)
time.sleep(100)`;
      const result = await runBash(
        { command: 'exec python3 -c "$1"', arguments: [code] },
        { limits: { memoryMb: 200 } },
      );
      expect(result.limit_exceeded).toMatchObject({ limit: "memoryMb", allowed: 200 });
    });

    test("a file in the system's own /dev/shm, while it is open", async () => {
      const file = `/dev/shm/tools-bash-${process.pid}`;
      onTestFinished(() => rmSync(file, { force: true }));
      const command = `exec 5> ${file}; head -c 400000000 /dev/zero >&5; sleep 100`;
      const result = await runBash({ command }, { limits: { memoryMb: 200 } });
      expect(result.limit_exceeded).toMatchObject({ limit: "memoryMb", allowed: 200 });
    });

    test.skipIf(!hasPython)("but the same commands succeed under a limit that allows them", async () => {
      const short = MEMFD.replace("time.sleep(100)", "time.sleep(0.6)");
      const result = await runBash(
        { command: 'exec python3 -c "$1"', arguments: [short] },
        { limits: { memoryMb: 600 } },
      );
      expect(result).toMatchObject({ exit_code: 0 });
    });

    test.skipIf(!hasSandbox).each(["/tmp", "/dev/shm"])("a file in the sandbox's own %s", async (place) => {
      const command = `head -c 150000000 /dev/zero > ${place}/one; sleep 100`;
      const fine = await runBash(
        { command: command.replace("100", "0.6"), cwd: "/usr" },
        { sandbox, limits: { memoryMb: 256 } },
      );
      expect(fine).toMatchObject({ exit_code: 0 });
      const hold = `${process.execPath} -e 'globalThis.kept = Buffer.alloc(100e6, 1); setInterval(() => {}, 1e6)' &`;
      const result = await runBash(
        { command: `${hold} ${command}`, cwd: "/usr" },
        { sandbox, limits: { memoryMb: 200 } },
      );
      expect(result.limit_exceeded).toMatchObject({ limit: "memoryMb", allowed: 200 });
    });

    test.skipIf(!hasSandbox || !hasPython)("and System V objects of a sandbox stay small", async () => {
      // No memory of a process: the kernel keeps them until they are removed.
      const code = `import ctypes
libc = ctypes.CDLL(None, use_errno=True)
held = 0
for _ in range(2000):
    queue = libc.msgget(0, 0o1600)
    if queue < 0: break
    while libc.msgsnd(queue, b"\\1" + bytes(7) + bytes(8000), 8000, 0o4000) == 0: held += 8000
for size, get, each in ((32000, libc.semget, 64), (65536, libc.shmget, 1)):
    for _ in range(200):
        if get(0, ctypes.c_size_t(size), 0o1600) < 0: break
        held += size * each
print(held)`;
      const result = await runBash({ command: 'exec python3 -c "$1"', arguments: [code] }, { sandbox });
      expect(result).toMatchObject({ stdout: "0\n", stderr: "" });
    });

    test.skipIf(!hasSandbox)(
      "and the sandbox's own file systems cannot hold more than the limit",
      async () => {
        const command =
          "for place in /tmp /dev/shm /run; do head -c 90000000 /dev/zero > $place/x; done; du -sm /tmp /dev/shm /run";
        const result = await runBash({ command, cwd: "/usr" }, { sandbox, limits: { memoryMb: 64 } });
        // The first one may be full, or the memory it takes may be seen before that: neither holds more than the limit.
        const isFull = result.stderr.includes("No space left on device");
        expect(isFull || result.limit_exceeded?.limit === "memoryMb").toBe(true);
      },
    );
  });

  test.skipIf(!canGroup && !hasSandbox)("count CPU seconds of detached short processes", async () => {
    // Each burns a few hundredths of a second, has no parent, no session and no environment in common, and is gone.
    const burner = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    const command = `n=0; while [ $n -lt 300 ]; do n=$((n+1)); (env -i setsid sh -c '${burner}' &) ; sleep 0.02; done`;
    for (const sandbox of [
      ...(hasSandbox ? (["require"] as const) : []),
      ...(canGroup ? (["off"] as const) : []),
    ]) {
      const result = await runBash({ command, timeout: 60_000 }, { sandbox, limits: { cpuSeconds: 2 } });
      expect(result.limit_exceeded, sandbox).toMatchObject({ limit: "cpuSeconds", allowed: 2 });
    }
  });

  test("count CPU seconds of many children together", async () => {
    const burn = "(while :; do :; done) &";
    const result = await runBash({ command: `${burn} ${burn} ${burn} wait` }, { limits: { cpuSeconds: 1 } });
    expect(result.limit_exceeded).toMatchObject({ limit: "cpuSeconds", allowed: 1 });
    expect(result.exit_code).toBe(137);
  });

  test("stop a fork bomb, and the agent can still run commands", async () => {
    // It doubles like a real one, but stops at about a thousand: a failing test must not take the machine along.
    const bomb = "b() { if [ $1 -gt 0 ]; then b $(($1-1)) | b $(($1-1)) & wait; else sleep 100; fi; }; b 9";
    const result = await runBash({ command: bomb }, { limits: { processes: 60 } });
    expect(result.limit_exceeded).toMatchObject({ limit: "processes", allowed: 60 });
    expect(result.limit_exceeded?.used).toBeGreaterThan(60);
    expect(await runBash({ command: "echo alive" })).toMatchObject({ stdout: "alive\n" });
  });
});

describe("limits the kernel enforces per process", () => {
  test.skipIf(!onLinux)(
    "name the limit that is probably the reason for a refused allocation, with the facts",
    async () => {
      const command = `${process.execPath} -e 'Buffer.alloc(3e9, 1)'`;
      const result = await runBash({ command }, { limits: { memoryMb: 256 } });
      expect(result.exit_code).not.toBe(0);
      expect(result.limit_suspected).toMatchObject({ limit: "memoryMb", per_process: 512 });
      expect(result.stderr).toMatch(/\[probably the memory limit: one process may have 512 MB of data here/);
      expect(result).not.toHaveProperty("limit_exceeded");
    },
  );

  test("are not mentioned on other failures or success", async () => {
    for (const command of ["echo 'no such file' >&2; exit 1", "echo 'out of memory' >&2"]) {
      expect(await runBash({ command })).not.toHaveProperty("limit_suspected");
    }
  });

  test("kill the command for a file beyond the limit, and name the signal", async () => {
    const result = await runBash(
      { command: "exec dd if=/dev/zero of=big bs=65536 count=1000000", cwd: directory },
      { limits: { fileMb: 5 } },
    );
    expect(result).toMatchObject({ exit_code: 153, signal: "SIGXFSZ" });
    expect(result.limit_exceeded).toMatchObject({ limit: "fileMb", allowed: 5 });
    expect(statSync(join(directory, "big")).size).toBe(5 * 1024 * 1024);
  });

  test("are the same in bash, which counts file blocks differently", async () => {
    const options = { limits: { fileMb: 5 }, shell: "/bin/bash" };
    const command = "dd if=/dev/zero of=big-bash bs=65536 count=1000000";
    expect(await runBash({ command, cwd: directory }, options)).toMatchObject({ exit_code: 153 });
    expect(statSync(join(directory, "big-bash")).size).toBe(5 * 1024 * 1024);
  });

  test("are not set if they are off, and with all off there is no prelude", async () => {
    const off = { cpuSeconds: false, memoryMb: false, processes: false, fileMb: false } as const;
    expect(limitPrelude(resolveLimits(off), "/bin/sh", 100)).toBe("");
    const result = await runBash({ command: "ulimit -f; ulimit -t; ulimit -d" }, { limits: off });
    const inherited = await runBash({ command: "ulimit -f" }, { limits: { ...off, fileMb: 1 } });
    expect(inherited.stdout).toBe("2048\n");
    expect(result.stdout).not.toContain("2048");
  });

  test("start without a prelude a shell whose ulimit is not known", () => {
    expect(limitPrelude(resolveLimits(), "/usr/bin/fish", 100)).toBe("");
  });
});

test.each(["git --version", "npm --version", "java -version"])(
  "runs %s under the default limits",
  async (command) => {
    const present = (await runBash({ command: `command -v ${command.split(" ")[0]}` })).exit_code === 0;
    if (!present) return;
    expect(await runBash({ command })).toMatchObject({ exit_code: 0 });
  },
);
