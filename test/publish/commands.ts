import { type SpawnOptions, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** One command of a test may be a whole guide: installs, builds and tests. */
const LONGEST_MS = 15 * 60_000;

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs commands with their own settings, caches and home: nothing of the user's is read or written. */
export class Commands {
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment;
  }

  static async create(directory: string, npmrc: readonly string[]): Promise<Commands> {
    const home = join(directory, "home");
    await mkdir(home, { recursive: true });
    await writeFile(join(home, ".npmrc"), `${npmrc.join("\n")}\n`);
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(npm|pnpm|xdg|turbo|vitest)_|^agent|^openai|^node_(options|env|path|v8)/i.test(name),
    );
    return new Commands({
      ...Object.fromEntries(inherited),
      HOME: home,
      PATH: `${join(directory, "global/bin")}:${process.env.PATH}`,
      npm_config_prefix: join(directory, "global"),
      npm_config_userconfig: join(home, ".npmrc"),
      npm_config_cache: join(directory, "npm-cache"),
      npm_config_update_notifier: "false",
      // git reads no user settings, so it needs a committer.
      GIT_AUTHOR_NAME: "release tests",
      GIT_AUTHOR_EMAIL: "release-tests@example.com",
      GIT_COMMITTER_NAME: "release tests",
      GIT_COMMITTER_EMAIL: "release-tests@example.com",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_SYSTEM: "/dev/null",
    });
  }

  /** Runs a program to its end, whatever its exit code. */
  async run(
    cwd: string,
    program: string,
    args: readonly string[],
    options: SpawnOptions = {},
  ): Promise<CommandResult> {
    const child = spawn(program, args, {
      cwd,
      env: this.#environment,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: LONGEST_MS,
      killSignal: "SIGKILL",
      ...options,
    });
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    return await new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (status) => resolve({ status, stdout, stderr }));
    });
  }

  /** Like `run`, but rejects with all output if the program failed. Resolves to its output. */
  async must(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(cwd, program, args);
    if (status !== 0) {
      throw new Error(
        `${program} ${args.join(" ")} ended with ${status}:\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`,
      );
    }
    return stdout;
  }
}
