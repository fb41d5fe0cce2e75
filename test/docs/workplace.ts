import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LLMock } from "@copilotkit/aimock";
import { onTestFinished } from "vitest";
import { ROOT } from "./pages.js";

// Below this package, so that a program finds all of ours and what their pages import besides.
const PLACES = fileURLToPath(new URL("../.turbo", import.meta.url));
const CLI = join(ROOT, "packages/cli/bin.js");
const LONGEST_MS = 60_000;

/** The files that the pages talk about. */
const FILES = {
  "package.json": '{ "name": "shop", "private": true, "type": "module" }\n',
  ".git/HEAD": "ref: refs/heads/main\n",
  ".gitignore": "node_modules\n",
  "README.md": "# Shop\n",
  "docs/guide.md": "# Guide\n",
  "plan.txt": "Rest.\n",
  "src/greet.ts": "// TODO: greet by name\n",
};

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Its whole standard input. */
  readonly input?: string;
  /** What is typed instead, each answer when its question has appeared. */
  readonly typed?: readonly (readonly [question: RegExp, answer: string])[];
  readonly variables?: NodeJS.ProcessEnv;
}

/**
 * The project of a reader who tries the page: its files, a home, the `agent` command, and a model that answers for all
 * vendors.
 */
export class Workplace {
  readonly #root: string;
  readonly #model: LLMock;
  /** Where programs run. */
  readonly directory: string;

  private constructor(root: string, model: LLMock) {
    this.#root = root;
    this.#model = model;
    this.directory = join(root, "shop");
  }

  static create(model: LLMock): Workplace {
    mkdirSync(PLACES, { recursive: true });
    const workplace = new Workplace(realpathSync(mkdtempSync(join(PLACES, "docs-"))), model);
    onTestFinished(() => rmSync(workplace.#root, { recursive: true, force: true, maxRetries: 3 }));
    for (const [path, text] of Object.entries(FILES)) workplace.write(path, text);
    workplace.write("../bin/agent", `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`, 0o755);
    return workplace;
  }

  write(path: string, text: string, mode = 0o644): void {
    const file = join(this.directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode });
  }

  /** Runs a program to its end. `variables` are added to an environment without any of the developer's own. */
  async run(
    program: string,
    args: readonly string[],
    { input = "", typed = [], variables = {} }: RunOptions = {},
  ): Promise<Ended> {
    const child = this.start(program, args, variables);
    const answers = [...typed];
    let [stdout, stderr] = ["", ""];
    let asked = 0;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      const [question, answer] = answers[0] ?? [];
      if (!question?.test(stdout.slice(asked)) || answer === undefined) return;
      answers.shift();
      asked = stdout.length;
      child.stdin.write(answer);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.stdin.on("error", () => undefined);
    if (typed.length === 0) child.stdin.end(input);
    return await new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, stdout, stderr }));
    });
  }

  start(program: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}) {
    const env = {
      PATH: `${join(this.#root, "bin")}:${process.env.PATH}`,
      HOME: join(this.#root, "home"),
      AGENT_LOCAL_PORTS: "",
      NO_COLOR: "1",
      ...variables,
    };
    return spawn(program, args, { cwd: this.directory, env, timeout: LONGEST_MS, killSignal: "SIGKILL" });
  }

  /** Keys and addresses: every vendor is the mock. */
  get vendors(): NodeJS.ProcessEnv {
    const { url } = this.#model;
    return {
      OPENAI_API_KEY: "key-of-the-docs",
      OPENAI_BASE_URL: `${url}/v1`,
      ANTHROPIC_API_KEY: "key-of-the-docs",
      ANTHROPIC_BASE_URL: url,
      GEMINI_API_KEY: "key-of-the-docs",
      GOOGLE_GEMINI_BASE_URL: url,
    };
  }
}
