import { basename } from "node:path";
import type { ChatTool, ExecutableTool, PackHost, PackServices, ToolCall } from "@agent/core";
import { functionTool, quote } from "@agent/core/toolkit";
import {
  checkedCommand,
  checkedDirectory,
  checkedParameters,
  checkedTimeout,
  currentDirectory,
  DEFAULT_TIMEOUT_MS,
} from "../command/arguments.js";
import { confirmShell } from "../command/confirmShell.js";
import {
  buildEnvironment,
  checkedEnv,
  DEFAULT_HIDDEN_ENV,
  hiddenNames,
  tagVariable,
} from "../command/environment.js";
import { SYSTEM_SHELL } from "../command/launch.js";
import type { RunOutcome } from "../command/outcome.js";
import { presentOutcome, summarize } from "../command/result.js";
import { runCommand } from "../command/run.js";
import { prepareScript, type Script } from "../command/script.js";
import { findSyntaxError, isKnownShell, needsCheckFirst } from "../command/syntax.js";
import { diagnose } from "../diagnose.js";
import { CommandHost } from "../host/commandHost.js";
import { type BashOptions, checkedOptions, packName } from "../options.js";
import { createPolicy, type Policy } from "../policy/policy.js";
import { type Limits, limitPrelude, resolveLimits } from "../processes/limits.js";
import type { RefusedFile } from "../sandbox/inspect.js";
import { Sandbox, type SandboxedStart } from "../sandbox/sandbox.js";

const DEFAULT_SHELL = "/bin/sh";
/** The host's secrets and protected files. */
type HostRules = Pick<PackHost, "protectedPaths" | "protectedNames" | "secretVariables" | "access">;
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
  readonly #hideEnv: readonly string[] | undefined;
  /** Names of variables whose values are secrets, under whatever name. Grows with packs that are registered later. */
  readonly #hostSecrets: readonly string[];
  readonly #policy: Policy | undefined;
  readonly #sandbox: Sandbox;
  readonly #host = new CommandHost();
  #shellCheck: Promise<void> | undefined;

  /** Throws on an unknown or mistyped option. `host` says what else is secret or protected. */
  constructor(options?: BashOptions, host: HostRules = {}) {
    const checked = checkedOptions(options);
    this.#shell = checked.shell ?? DEFAULT_SHELL;
    this.#limits = resolveLimits(checked.limits);
    this.#hideEnv = checked.hideEnv;
    this.#hostSecrets = host.secretVariables ?? [];
    this.#policy = createPolicy({ deny: checked.deny, allow: checked.allow });
    if (this.#policy !== undefined && !POLICY_SHELLS.has(basename(this.#shell))) {
      throw new Error(`${packName}: deny and allow understand sh and bash, not ${quote(this.#shell)}.`);
    }
    this.#sandbox = new Sandbox(checked.sandbox, {
      protectedPaths: host.protectedPaths,
      protectedNames: host.protectedNames,
      secretPaths: host.access?.secret,
      memoryMb: this.#limits.memoryMb,
    });
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

  /** Owns the background jobs and everything else this tool started, and ends them. */
  get services(): Required<Pick<PackServices, "jobs" | "diagnose" | "dispose" | "terminate">> {
    return {
      jobs: this.#host.jobs,
      diagnose: () => diagnose(this.#shell),
      dispose: () => this.#host.dispose(),
      terminate: () => this.#host.terminate(),
    };
  }

  async execute(args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const command = checkedCommand(args);
    const parameters = checkedParameters(args);
    const cwd = checkedDirectory(args);
    const timeoutMs = Math.min(checkedTimeout(args), this.#limits.timeoutMs);
    const extraEnv = checkedEnv(args.env);
    refuseAborted(call);
    this.#host.assertUsable();
    const script = prepareScript(command, this.#host.files);
    let sandboxed: SandboxedStart | undefined;
    let refused: readonly RefusedFile[] | undefined;
    // Runs when the command has ended, which is later than the call if it is moved to the background.
    const cleanUp = this.#host.cleanUpLater(() => {
      refused = sandboxed?.finish();
      script.remove();
    });
    try {
      await this.#checkShell();
      const checksFirst = this.#policy !== undefined || needsCheckFirst(command, this.#shell);
      if (checksFirst) await this.#checkSyntax(script, call?.signal);
      this.#obeyPolicy(command, extraEnv);
      const level = await this.#sandbox.level();
      refuseAborted(call);
      const tag = this.#host.newTag();
      const env = buildEnvironment(
        hiddenNames([...(this.#hideEnv ?? DEFAULT_HIDDEN_ENV), ...this.#hostSecrets]),
        [...(this.#hideEnv ? [] : DEFAULT_HIDDEN_ENV), ...this.#hostSecrets],
        extraEnv,
        tag,
      );
      const enterSandbox = async (argv: readonly string[]): Promise<SandboxedStart> => {
        sandboxed = await this.#enterSandbox(argv, cwd, env, tag);
        return sandboxed;
      };
      const outcome = await runCommand(
        {
          shell: this.#shell,
          script,
          args: parameters,
          prelude: this.#limitPrelude(level === "none" ? this.#shell : SYSTEM_SHELL),
          cwd,
          env,
          enterSandbox: level === "none" ? undefined : enterSandbox,
          tag,
          timeoutMs,
          limits: this.#limits,
          endsWithShell: level !== "none",
          signal: call?.signal,
          onOutput: call?.onOutput && ((chunk) => call.onOutput(chunk)),
          onProcess: (pid) => call?.onProcess?.(pid),
        },
        this.#host,
      );
      const isRunning = outcome.background?.isDetached === true;
      // Do not pass the signal: the command has run, and an abort now must not report that it has not.
      if (!checksFirst && mayBeSyntaxError(outcome)) await this.#checkSyntax(script);
      if (isRunning) outcome.background?.onFinished(cleanUp);
      else cleanUp();
      call?.report?.(summarize(outcome, timeoutMs));
      return presentOutcome(outcome, {
        timeoutMs,
        longestMs: this.#limits.timeoutMs,
        sandbox: this.#sandbox.mode === "off" ? undefined : level,
        refused,
      });
    } catch (error) {
      cleanUp();
      throw error;
    }
  }

  #backgroundAdvice(): string {
    return this.#sandbox.mode === "off"
      ? 'For a server or watcher append " &": it keeps running after the call.'
      : "Nothing runs on in the background: a sandbox ends it with the command.";
  }

  /** Throws if the program is not a shell. Checked once, and only for a shell that we do not know by name. */
  #checkShell(): Promise<void> {
    this.#shellCheck ??= isKnownShell(this.#shell) ? Promise.resolve() : confirmShell(this.#shell);
    return this.#shellCheck;
  }

  #limitPrelude(shell: string): string {
    return limitPrelude(this.#limits, shell, this.#host.table.counts().threads);
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

  #enterSandbox(
    argv: readonly string[],
    cwd: string,
    env: Readonly<Record<string, string>>,
    tag: string,
  ): Promise<SandboxedStart> {
    const workspace = currentDirectory(
      "It is what the sandbox lets commands write to: start the agent in one that exists.",
    );
    const readable = this.#host.files.outputDirectory;
    return this.#sandbox.start({ argv, cwd, env, workspace, readable, tag: tagVariable(tag) });
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
