import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { ChatTool, ExecutableTool, ToolCall } from "@agent/core";
import {
  describeValue,
  functionTool,
  optionalString,
  optionalStringArray,
  quote,
  requireString,
} from "@agent/core/toolkit";
import { buildEnvironment, checkedEnv, DEFAULT_HIDDEN_ENV, hiddenNames } from "../environment.js";
import { prepareScript } from "../launch.js";
import { nextMark } from "../lifetime.js";
import { type Limits, limitPrelude, resolveLimits } from "../limits.js";
import { type BashOptions, checkedOptions, packName } from "../options.js";
import { createPolicy, type Policy } from "../policy/policy.js";
import { presentOutcome, summarize } from "../result.js";
import { runCommand } from "../run.js";
import { Sandbox } from "../sandbox.js";
import { findSyntaxError } from "../syntax.js";
import { existingTemporaryDirectory } from "../temporary.js";

const DEFAULT_SHELL = "/bin/sh";
const DEFAULT_TIMEOUT_MS = 30_000;
const POLICY_SHELLS = new Set(["sh", "ash", "dash", "bash"]);

/**
 * Runs a shell command and returns JSON with `stdout`, `stderr` and `exit_code`. A command that fails, is
 * stopped or exceeds a limit is a result; only one that was not run at all is an error.
 */
export class RunBashTool implements ExecutableTool {
  readonly name = "run_bash";
  readonly capabilities = ["execute"] as const;
  /** The tool keeps its own time: see `timeout`. */
  readonly deadlineMs = Number.POSITIVE_INFINITY;

  readonly #shell: string;
  readonly #limits: Limits;
  readonly #isHidden: (name: string) => boolean;
  readonly #policy: Policy | undefined;
  readonly #sandbox: Sandbox;

  /** Throws on an unknown or mistyped option. */
  constructor(options?: BashOptions) {
    const checked = checkedOptions(options);
    this.#shell = checked.shell ?? DEFAULT_SHELL;
    this.#limits = resolveLimits(checked.limits);
    this.#isHidden = hiddenNames(checked.hideEnv ?? DEFAULT_HIDDEN_ENV);
    this.#policy = createPolicy(checked);
    if (this.#policy !== undefined && !POLICY_SHELLS.has(basename(this.#shell))) {
      throw new Error(`${packName}: deny and allow understand sh and bash, not ${quote(this.#shell)}.`);
    }
    this.#sandbox = new Sandbox(checked.sandbox);
  }

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      `Run a command in ${this.#shell} and get JSON with stdout, stderr and exit_code. It can change or destroy anything the user can: prefer the other tools for reading, searching and editing files. There is no terminal and no input. For a server or watcher append " &": it keeps running after the call.`,
      {
        command: { type: "string", description: "The command, as for sh -c" },
        arguments: {
          type: "array",
          items: { type: "string" },
          description: 'Arguments that reach the command untouched as "$@" ("$1", "$2", …)',
        },
        cwd: { type: "string", description: "Working directory (default: the agent's)" },
        working_directory: { type: "string", description: "Same as cwd" },
        env: {
          type: "object",
          additionalProperties: { type: ["string", "number"] },
          description: "Environment variables to add or override",
        },
        timeout: {
          type: "number",
          exclusiveMinimum: 0,
          description: `Milliseconds after which the command and all its children are ended (default ${DEFAULT_TIMEOUT_MS})`,
        },
      },
      ["arguments", "cwd", "working_directory", "env", "timeout"],
    );
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const command = checkedCommand(args);
    const parameters = checkedParameters(args);
    const cwd = checkedDirectory(args);
    const timeoutMs = Math.min(checkedTimeout(args), this.#limits.timeoutMs);
    const extraEnv = checkedEnv(args.env);
    const script = prepareScript(command);
    try {
      const problem = await findSyntaxError(this.#shell, script, call?.signal);
      if (problem !== undefined) throw new Error(problem);
      this.#obeyPolicy(command, extraEnv);
      const level = await this.#sandbox.level();
      const mark = nextMark();
      const outcome = await runCommand({
        shell: this.#shell,
        script,
        args: parameters,
        prelude: limitPrelude(this.#limits, this.#shell),
        cwd,
        env: buildEnvironment(this.#isHidden, extraEnv, mark),
        wrap: (argv) => (level === "none" ? argv : this.#wrap(argv, cwd)),
        mark,
        timeoutMs,
        limits: this.#limits,
        signal: call?.signal,
        onOutput: call?.onOutput && ((chunk) => call.onOutput(chunk)),
      });
      call?.report?.(summarize(outcome, timeoutMs));
      return presentOutcome(outcome, timeoutMs, this.#sandbox.mode === "off" ? undefined : level);
    } finally {
      script.remove();
    }
  }

  /** Throws, with the reason, if the policy refuses the command. */
  #obeyPolicy(command: string, env: Readonly<Record<string, string>>): void {
    const verdict = this.#policy?.check(command, env);
    if (verdict?.allowed === false) throw new Error(`${verdict.reason} Nothing was run.`);
  }

  #wrap(argv: readonly string[], cwd: string): string[] {
    return this.#sandbox.wrap(argv, cwd, currentDirectory(), existingTemporaryDirectory());
  }
}

function checkedCommand(args: Record<string, unknown>): string {
  const command = requireString(args, "command");
  if (command.trim() === "") throw new Error(`"command" must not be blank, got ${quote(command)}.`);
  if (command.includes("\0")) {
    throw new Error('"command" contains a NUL character, which no shell can take. Nothing was run.');
  }
  return command;
}

function checkedParameters(args: Record<string, unknown>): readonly string[] {
  const parameters = optionalStringArray(args, "arguments", []);
  const index = parameters.findIndex((parameter) => parameter.includes("\0"));
  if (index !== -1) throw new Error(`"arguments[${index}]" contains a NUL character. Nothing was run.`);
  return parameters;
}

function checkedTimeout(args: Record<string, unknown>): number {
  const { timeout = DEFAULT_TIMEOUT_MS } = args;
  if (typeof timeout === "number" && timeout > 0) return Math.ceil(timeout);
  throw new Error(
    `"timeout" must be a number of milliseconds greater than 0, got ${describeValue(timeout)}.`,
  );
}

function checkedDirectory(args: Record<string, unknown>): string {
  const cwd = optionalString(args, "cwd", undefined);
  const alias = optionalString(args, "working_directory", undefined);
  if (cwd !== undefined && alias !== undefined && cwd !== alias) {
    throw new Error('"cwd" and "working_directory" are the same thing and differ here. Pass one of them.');
  }
  const given = cwd ?? alias;
  if (given === undefined) return currentDirectory();
  if (given.includes("\0")) throw new Error('"cwd" contains a NUL character.');
  const problem = directoryProblem(resolve(given));
  if (problem !== undefined) throw new Error(`"cwd" ${quote(given)} ${problem}. Nothing was run.`);
  return resolve(given);
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new Error('The agent\'s working directory no longer exists. Pass "cwd".');
  }
}

function directoryProblem(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : "is not a directory";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? "does not exist" : `cannot be used (${code})`;
  }
}
