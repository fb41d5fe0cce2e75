import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { errorMessage, escapeInvisible, killWindowsTree, startableProgram } from "@agent/core/toolkit";

const MEMORY_CHECK_MS = 500;
/** The longest pause between two checks. A check reads all processes of the machine, which takes a while if there are many. */
const MAX_MEMORY_CHECK_MS = 2000;
/** How many times longer the pause after a check is than the check. */
const MEMORY_CHECK_PAUSE = 100;
const END_GRACE_MS = 1000;
const MAX_ERROR_CHARACTERS = 4000;
/** Lines without the reason: blank ones, and the frames of a stack. */
const STACK_LINE = /^\s*(?:$|at |\d+: |[Ss]tack backtrace)/;
/** The maximum unread input of a server. A server that does not read its input would fill the memory of the agent. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

export interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly memoryBytes: number;
}

/**
 * The process of a language server, in its own process group. It is killed with the agent: a small shell, whose input
 * closes when the agent exits, kills the group then.
 */
export class ServerProcess {
  /** Resolves to the reason once the process has ended. Never rejects. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #memory: NodeJS.Timeout | undefined;
  #watchdog: ChildProcess | undefined;
  #errors = "";
  #reason: string | undefined;
  #isRunning = true;

  constructor({ program, args, cwd, env, memoryBytes }: ServerCommand, onOutput: (chunk: Buffer) => void) {
    // `detached` makes it the leader of a group, so that everything it started is killed with it.
    const isWindows = process.platform === "win32";
    const start = startableProgram(program, args, { env, cwd });
    this.#child = spawn(start.file, start.args, {
      ...start.options,
      ...{ cwd, env, detached: !isWindows, stdio: "pipe" },
    });
    this.ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.#reason ??= reason;
        this.#release();
        resolve(this.#explain(this.#reason));
      };
      this.#child.once("error", (error) => end(`it could not be started: ${errorMessage(error)}`));
      this.#child.once("exit", (code, signal) =>
        end(signal ? `it was killed by ${signal}` : `it exited with code ${String(code)}`),
      );
    });
    this.#child.stdout?.on("data", onOutput);
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-MAX_ERROR_CHARACTERS);
    });
    // A write to an exited server; `ended` has the reason.
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr])
      stream?.on("error", () => undefined);
    this.#checkMemoryLater(memoryBytes);
    this.#watch();
    this.#unref();
  }

  get pid(): number | undefined {
    return this.#isRunning ? this.#child.pid : undefined;
  }

  write(bytes: Buffer): void {
    const { stdin } = this.#child;
    if (!this.#isRunning || !stdin?.writable) return;
    if (stdin.writableLength + bytes.length > MAX_UNREAD_BYTES) this.kill("it does not read its input");
    else stdin.write(bytes);
  }

  /** Waits for the process to exit by itself, then kills it. */
  async end(reason: string): Promise<void> {
    this.#reason ??= reason;
    // Now the event loop has to wait for the process to exit.
    this.#child.ref();
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.kill(reason), END_GRACE_MS);
    await this.ended;
    clearTimeout(timer);
    this.kill(reason);
  }

  /** Kills the whole group without waiting. */
  kill(reason = "the agent ended"): void {
    this.#reason ??= reason;
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (process.platform === "win32") {
        if (this.#isRunning) void killWindowsTree(pid, true);
      } else process.kill(-pid, "SIGKILL");
    } catch {
      // No process of the group is left.
    }
  }

  /** Lets an agent with nothing else to do exit: the watchdog kills the server. */
  #unref(): void {
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr])
      (stream as { unref?: () => void } | null)?.unref?.();
  }

  /** Kills the group when the agent exits, however it exited: then the shell reads the end of its input. */
  #watch(): void {
    const { pid } = this.#child;
    if (pid === undefined || process.platform === "win32") return;
    const watchdog = spawn("/bin/sh", ["-c", 'read -r _; kill -KILL -"$1" 2>/dev/null', "sh", String(pid)], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: {},
    });
    watchdog.on("error", () => undefined);
    watchdog.stdin.on("error", () => undefined);
    watchdog.unref();
    (watchdog.stdin as unknown as { unref?: () => void }).unref?.();
    this.#watchdog = watchdog;
  }

  #release(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    clearTimeout(this.#memory);
    // Killed before its input closes: the group id may be reused later.
    this.#watchdog?.kill("SIGKILL");
    this.kill();
  }

  #explain(reason: string): string {
    const lines = this.#errors.split("\n").filter((line) => !STACK_LINE.test(line));
    const said = escapeInvisible(lines.slice(-5).join("\n").trim()).slice(-600);
    return said === "" ? reason : `${reason}. It printed: ${said}`;
  }

  #checkMemoryLater(limit: number, ms = MEMORY_CHECK_MS): void {
    this.#memory = setTimeout(() => {
      const started = performance.now();
      this.#checkMemory(limit);
      const pause = MEMORY_CHECK_PAUSE * (performance.now() - started);
      if (this.#isRunning)
        this.#checkMemoryLater(limit, Math.min(MAX_MEMORY_CHECK_MS, Math.max(MEMORY_CHECK_MS, pause)));
    }, ms);
    this.#memory.unref();
  }

  #checkMemory(limit: number): void {
    const { pid } = this.#child;
    if (pid === undefined || limit === Number.POSITIVE_INFINITY) return;
    const check = (bytes: number): void => {
      if (bytes > limit)
        this.kill(`it used ${megabytes(bytes)} of memory, more than the limit of ${megabytes(limit)}`);
    };
    if (process.platform === "linux") check(groupMemory(pid));
    else if (process.platform !== "win32") {
      execFile("/bin/ps", ["-A", "-o", "pgid=,rss="], (error, stdout) => {
        if (!error) check(1024 * sumOfGroup(stdout, pid));
      });
    }
  }
}

/** The resident memory of all processes of a group, in bytes. */
function groupMemory(group: number): number {
  let kilobytes = 0;
  let names: readonly string[] = [];
  try {
    names = readdirSync("/proc");
  } catch {
    // Out of file descriptors: an exception in a timer would end the agent.
  }
  for (const name of names) {
    if (!(Number(name) > 0)) continue;
    try {
      // The name of the program, in brackets, may contain anything; the group is the third field after it.
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]) !== group) continue;
      const status = readFileSync(`/proc/${name}/status`, "latin1");
      kilobytes += Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0);
    } catch {
      // The process has ended.
    }
  }
  return 1024 * kilobytes;
}

function sumOfGroup(table: string, group: number): number {
  return table
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .reduce((sum, [pgid, rss = 0]) => (pgid === group ? sum + rss : sum), 0);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}
