import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { escapeToLine } from "@agent/internal";
import { ownProgram } from "@agent/terminal/host";

const LIMIT_MS = 20_000;
const MOST_OUTPUT = 256 * 1024 * 1024;
const MOST_ERROR = 300;
/** The largest single allocation: the repository may contain small objects that expand to gigabytes. */
const LARGEST_ALLOCATION = 512 * 1024 * 1024;

/**
 * The variables that git needs of the user's environment. Git's own variables may point to another repository or name
 * programs.
 */
const PASSED_VARIABLES = [
  "PATH",
  "HOME",
  "XDG_CONFIG_HOME",
  "USERPROFILE",
  "SystemRoot",
  "TMPDIR",
  "TEMP",
  "TMP",
];

/** Settings that no file can override: neither hooks, file monitors, transports nor maintenance run. */
const PINNED = Object.entries({
  "core.quotePath": "false",
  "core.autocrlf": "false",
  "core.hooksPath": devNull,
  "core.fsmonitor": "false",
  "core.untrackedCache": "false",
  "protocol.allow": "never",
  "credential.helper": "",
  "submodule.recurse": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
}).flatMap(([key, value]) => ["-c", `${key}=${value}`]);

interface GitOptions {
  readonly input?: string;
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs git in a repository that this class writes itself, for the files of another worktree. This is the only place
 * that starts git: it never reads a configuration of the project, because a configuration names programs (filters,
 * hooks, file monitors, commands of remotes that git contacts for a missing object).
 */
export class PrivateGit {
  readonly #directory: string;
  readonly #worktree: string;
  readonly #program: string;

  private constructor(directory: string, worktree: string, program: string) {
    this.#directory = directory;
    this.#worktree = worktree;
    this.#program = program;
  }

  /**
   * Creates the repository at `directory`, replacing what is there. It also finds objects in `objects`. Throws if git
   * is not installed.
   */
  static create(directory: string, worktree: string, objects?: string): PrivateGit {
    const program = ownProgram("git", worktree);
    if (program === undefined) throw new Error("git is not installed");
    rmSync(directory, { recursive: true, force: true });
    for (const part of ["objects/info", "refs", "info"]) {
      mkdirSync(join(directory, part), { recursive: true, mode: 0o700 });
    }
    writeFileSync(join(directory, "HEAD"), "ref: refs/heads/none\n");
    writeFileSync(join(directory, "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
    if (objects !== undefined) writeFileSync(join(directory, "objects/info/alternates"), `${objects}\n`);
    return new PrivateGit(directory, worktree, program);
  }

  /** Runs a subcommand and resolves to its output. Rejects if it fails or exceeds a limit. */
  run(args: readonly string[], { input, limitMs = LIMIT_MS, signal }: GitOptions = {}): Promise<Buffer> {
    return new Promise((settle, reject) => {
      const child = spawn(this.#program, ["--no-pager", ...PINNED, ...args], {
        cwd: this.#worktree,
        env: this.#environment(),
        stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
        timeout: limitMs,
        killSignal: "SIGKILL",
        ...(signal && { signal }),
      });
      const chunks: Buffer[] = [];
      let size = 0;
      child.stdout?.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > MOST_OUTPUT) child.kill("SIGKILL");
        else chunks.push(chunk);
      });
      let problem = "";
      child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
        problem = (problem + chunk).slice(0, MOST_ERROR);
      });
      child.on("error", reject);
      child.on("close", (code) => {
        const [reason = ""] = problem.trim().split("\n");
        if (code === 0) settle(Buffer.concat(chunks));
        else if (code === null) reject(new Error(`git ${args[0]} was stopped: it took or wrote too much`));
        else reject(new Error(`git ${args[0]} failed: ${escapeToLine(reason) || `it exited with ${code}`}`));
      });
      // Git may exit before it has read all input: its exit code explains why.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
    });
  }

  #environment(): NodeJS.ProcessEnv {
    const passed = PASSED_VARIABLES.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    });
    return {
      ...Object.fromEntries(passed),
      GIT_DIR: this.#directory,
      GIT_WORK_TREE: this.#worktree,
      GIT_INDEX_FILE: join(this.#directory, "index"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_SYSTEM: devNull,
      GIT_CONFIG_GLOBAL: devNull,
      GIT_ATTR_NOSYSTEM: "1",
      GIT_ALLOW_PROTOCOL: "",
      GIT_NO_LAZY_FETCH: "1",
      GIT_NO_REPLACE_OBJECTS: "1",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_TERMINAL_PROMPT: "0",
      GIT_ALLOC_LIMIT: String(LARGEST_ALLOCATION),
      LC_ALL: "C",
    };
  }
}
