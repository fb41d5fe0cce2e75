import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { on } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";

// Of util-linux: runs a program in its own terminal.
const SCRIPT = "script";
export const BIN = fileURLToPath(new URL("../bin.js", import.meta.url));
/** On a busy machine, loading the packs can take longer than a user would wait. */
const PATIENT = { AGENT_LOAD_TIMEOUT_MS: "100000" };

export interface RunResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

const used: string[] = [];
afterEach(() => {
  for (const directory of used.splice(0)) removeDirectory(directory);
});

/** A killed program may write its last file after the directory was emptied: then try again. */
function removeDirectory(directory: string, attempts = 50): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY" || attempts === 0) throw error;
    removeDirectory(directory, attempts - 1);
  }
}

/** A project and its own home directory, and the built `agent` command to run in it. */
export class Sandbox {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "agent-cli-")));
  readonly home = join(this.root, "home");
  readonly project = join(this.home, "project");

  /** `bin` is another copy of the command. */
  constructor(readonly bin = BIN) {
    used.push(this.root);
    mkdirSync(join(this.project, ".git"), { recursive: true });
  }

  /** Writes a file of the project and returns its path. */
  write(path: string, content: string): string {
    const file = join(this.project, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  /** Makes packages of this workspace look installed in the project. */
  link(...names: readonly string[]): void {
    for (const name of names) {
      const link = join(this.project, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(fileURLToPath(new URL(`../../${name.split("/").at(-1)}`, import.meta.url)), link);
    }
  }

  start(args: readonly string[], options: RunOptions = {}): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [this.bin, ...args], {
      cwd: options.cwd ?? this.project,
      // Nothing of the developer's machine: no key, no config, no model server.
      env: { PATH: process.env.PATH, HOME: this.home, AGENT_LOCAL_PORTS: "", ...PATIENT, ...options.env },
    });
  }

  /**
   * Runs the command in a real terminal; each answer is typed when its question has appeared, and ended with Enter
   * unless the third part of the step is something else.
   */
  async runInTerminal(
    args: readonly string[],
    dialogue: readonly (readonly [question: string, answer: string | (() => string), end?: string])[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<RunResult> {
    const command = [process.execPath, this.bin, ...args]
      .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
      .join(" ");
    const child = spawn(SCRIPT, ["-qfec", command, "/dev/null"], {
      cwd: this.project,
      env: {
        PATH: process.env.PATH,
        HOME: this.home,
        AGENT_LOCAL_PORTS: "",
        TERM: "xterm-256color",
        ...PATIENT,
        ...env,
      },
    });
    let screen = "";
    const left = [...dialogue];
    child.stdout.on("data", (chunk: Buffer) => {
      screen += chunk.toString();
      const [next] = left;
      if (next && screen.includes(next[0])) {
        left.shift();
        screen = "";
        const [, answer, end = "\n"] = next;
        child.stdin.write(`${typeof answer === "string" ? answer : answer()}${end}`);
      }
    });
    return await finished(child);
  }

  /** Runs a line of shell in the project, for pipes and redirections. */
  shell(line: string): Promise<RunResult> {
    const child = spawn("/bin/sh", ["-c", line], {
      cwd: this.project,
      env: { PATH: process.env.PATH, HOME: this.home, AGENT_LOCAL_PORTS: "", ...PATIENT },
    });
    return finished(child);
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const child = this.start(args, options);
    child.stdin.end(options.input ?? "");
    return finished(child);
  }
}

export function finished(child: ChildProcessWithoutNullStreams): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const chunks: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
    child.stdout.on("data", (chunk: Buffer) => chunks.stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.stderr.push(chunk));
    // The command may be done before it has read anything.
    child.stdin.on("error", () => undefined);
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({
        code,
        stdout: Buffer.concat(chunks.stdout).toString(),
        stderr: Buffer.concat(chunks.stderr).toString(),
      }),
    );
  });
}

/** Resolves as soon as a program has written the text. */
export async function said(stream: Readable, text: string): Promise<void> {
  let all = "";
  for await (const [chunk] of on(stream, "data", { close: ["end"] })) {
    all += chunk;
    if (all.includes(text)) return;
  }
  throw new Error(`The program never said ${JSON.stringify(text)}, but:\n${all}`);
}

/** Whether `script`, which gives a program a terminal, is available and supports our options. */
export function hasTerminal(): boolean {
  return spawnSync(SCRIPT, ["-qfec", "true", "/dev/null"]).status === 0;
}

/** A config whose provider gives these answers in turn: texts, or tool calls as `[name, args]`. */
export function scripted(
  answers: readonly (string | readonly [name: string, args: object])[],
  more = "",
): string {
  return `const answers = ${JSON.stringify(answers)};
let turn = 0;
export default {
  provider: {
    model: "scripted",
    async respond(request) {
      const answer = answers[Math.min(turn++, answers.length - 1)];
      if (typeof answer === "string") {
        request.onText?.(answer);
        return { content: answer, toolCalls: [], finishReason: "stop", usage: { inputTokens: 10, outputTokens: 5 } };
      }
      const call = { id: "c" + turn, type: "function", function: { name: answer[0], arguments: JSON.stringify(answer[1]) } };
      return { content: null, toolCalls: [call], finishReason: "tool_calls" };
    },
  },
  ${more}
};
`;
}

/** A pack with one tool, as source text. */
export function packSource(tool: string, body = 'return "it ran";', extra = ""): string {
  return `export const packName = "pack-of-${tool}";
export function register(registry) {
  registry.register({
    name: ${JSON.stringify(tool)},
    capabilities: ["read"],
    getSchema: () => ({
      type: "function",
      function: { name: ${JSON.stringify(tool)}, description: "A tool for tests.", parameters: { type: "object", properties: {} } },
    }),
    execute: async (args, call) => { ${body} },
  });
  ${extra}
}
`;
}
