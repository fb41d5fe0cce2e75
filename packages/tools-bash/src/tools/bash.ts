import { basename } from "node:path";
import type { ChatTool, ExecutableTool, ToolCall } from "@agent/core";
import { functionTool, quote } from "@agent/core/toolkit";
import {
  checkedCommand,
  checkedDirectory,
  checkedParameters,
  checkedTimeout,
  currentDirectory,
  DEFAULT_TIMEOUT_MS,
} from "../arguments.js";
import { buildEnvironment, checkedEnv, DEFAULT_HIDDEN_ENV, hiddenNames } from "../environment.js";
import { prepareScript, type Script } from "../launch.js";
import { nextMark } from "../lifetime.js";
import { type Limits, limitPrelude, resolveLimits } from "../limits.js";
import { type BashOptions, checkedOptions, packName } from "../options.js";
import { createPolicy, type Policy } from "../policy/policy.js";
import { presentOutcome, summarize } from "../result.js";
import { type RunOutcome, runCommand } from "../run.js";
import { Sandbox } from "../sandbox.js";
import { confirmShell } from "../shellProbe.js";
import { findSyntaxError, isKnownShell, needsCheckFirst } from "../syntax.js";
import { existingTemporaryDirectory } from "../temporary.js";

const DEFAULT_SHELL = "/bin/sh";
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
    this.#policy = createPolicy({ deny: checked.deny, allow: checked.allow });
    if (this.#policy !== undefined && !POLICY_SHELLS.has(basename(this.#shell))) {
      throw new Error(`${packName}: deny and allow understand sh and bash, not ${quote(this.#shell)}.`);
    }
    this.#sandbox = new Sandbox(checked.sandbox);
  }

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      `Run a command in ${this.#shell} and get JSON with stdout, stderr and exit_code. It can change or destroy anything the user can: prefer the other tools for reading, searching and editing files. There is no terminal and no input. ${this.#backgroundAdvice()}`,
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
    refuseAborted(call);
    const script = prepareScript(command);
    try {
      if (!isKnownShell(this.#shell)) await confirmShell(this.#shell);
      const checksFirst = this.#policy !== undefined || needsCheckFirst(command, this.#shell);
      if (checksFirst) await this.#checkSyntax(script, call?.signal);
      this.#obeyPolicy(command, extraEnv);
      const level = await this.#sandbox.level();
      refuseAborted(call);
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
        endsWithShell: level !== "none",
        signal: call?.signal,
        onOutput: call?.onOutput && ((chunk) => call.onOutput(chunk)),
        onProcess: (pid) => call?.onProcess?.(pid),
      });
      // Without the signal: the command has run, and an abort now must not say that it has not.
      if (!checksFirst && mayBeSyntaxError(outcome)) await this.#checkSyntax(script);
      call?.report?.(summarize(outcome, timeoutMs));
      return presentOutcome(outcome, {
        timeoutMs,
        isLongest: timeoutMs === this.#limits.timeoutMs,
        sandbox: this.#sandbox.mode === "off" ? undefined : level,
      });
    } finally {
      script.remove();
    }
  }

  #backgroundAdvice(): string {
    return this.#sandbox.mode === "off"
      ? 'For a server or watcher append " &": it keeps running after the call.'
      : "Nothing runs on in the background: a sandbox ends it with the command.";
  }

  /** Throws, with the line, if the shell cannot parse the command. */
  async #checkSyntax(script: Script, signal?: AbortSignal): Promise<void> {
    const problem = await findSyntaxError(this.#shell, script, signal);
    if (problem !== undefined) throw new Error(problem);
  }

  /** Throws, with the reason, if the policy refuses the command. */
  #obeyPolicy(command: string, env: Readonly<Record<string, string>>): void {
    const verdict = this.#policy?.check(command, env);
    if (verdict?.allowed === false) throw new Error(`${verdict.reason} Nothing was run.`);
  }

  #wrap(argv: readonly string[], cwd: string): string[] {
    const workspace = currentDirectory(
      "It is what the sandbox lets commands write to: start the agent in one that exists.",
    );
    return this.#sandbox.wrap(argv, cwd, workspace, existingTemporaryDirectory());
  }
}

function refuseAborted(call: ToolCall | undefined): void {
  if (call?.signal?.aborted) throw new Error("Aborted before the command was started. Nothing was run.");
}

/** A shell that could not parse its command fails with a message and without any output. */
function mayBeSyntaxError({ exitCode, signal, stoppedBy, stdout, stderr }: RunOutcome): boolean {
  const failed = exitCode !== 0 && signal === null && stoppedBy === undefined;
  return failed && stdout.totalBytes === 0 && stderr.totalBytes > 0;
}
