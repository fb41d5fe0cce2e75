import type { Containment, ToolCall } from "@agent/core";
import type { RefusedFile } from "@agent/core/sandbox";
import { errorMessage } from "@agent/core/toolkit";
import {
  checkedCommand,
  checkedDirectory,
  checkedParameters,
  checkedTimeout,
  currentDirectory,
} from "../command/arguments.js";
import { confirmShell } from "../command/confirmShell.js";
import {
  buildEnvironment,
  checkedEnv,
  DEFAULT_HIDDEN_ENV,
  type EnvironmentRules,
  tagVariable,
} from "../command/environment.js";
import type { RunOutcome } from "../command/outcome.js";
import { outputView, presentOutcome, summarize } from "../command/result.js";
import { runCommand } from "../command/run.js";
import { prepareScript, type Script } from "../command/script.js";
import { findSyntaxError, isKnownShell, needsCheckFirst } from "../command/syntax.js";
import { SYSTEM_SHELL } from "../helpers/spawn.js";
import { CommandHost } from "../host/commandHost.js";
import type { Policy } from "../policy/policy.js";
import { type Limits, limitPrelude } from "../processes/limits.js";
import { nestedRepositories } from "../sandbox/gitFiles.js";
import {
  Sandbox,
  type SandboxedCommand,
  type SandboxedStart,
  type SandboxSurroundings,
} from "../sandbox/sandbox.js";
import type { SandboxSettings } from "../sandbox/settings.js";
import type { SandboxLevel } from "../sandbox/status.js";
import { SandboxTrial, type TrialOptions } from "../sandbox/trial.js";
import { unfinishedGit, unfinishedNotice } from "../sandbox/unfinishedGit.js";
import { runWindowsCommand } from "../windows/commands.js";
import { NO_BASH, type WindowsShell } from "../windows/shells.js";

/** How commands run: the checked options of the pack and the host's additions. */
export interface RunnerSettings {
  readonly shell: string;
  /** The agent's working directory, if it is not that of the process. */
  readonly directory?: string | undefined;
  readonly limits: Limits;
  readonly hideEnv: readonly string[] | undefined;
  /** Names of variables whose values are secrets, under whatever name. Grows with packs that are registered later. */
  readonly hostSecrets: readonly string[];
  readonly policy: Policy | undefined;
  readonly sandbox: SandboxSettings;
  /** The host's sandbox preference, if the pack's options do not decide. */
  readonly containment?: Containment | undefined;
  readonly trial?: TrialOptions;
  readonly surroundings: SandboxSurroundings;
  /** Finds the shell on Windows, where commands run without limits and sandbox. Throws if there is none. */
  readonly windowsShell?: (() => WindowsShell) | undefined;
}

/** Runs the commands of one tool, and owns everything that outlives a command. */
export class CommandRunner {
  readonly host = new CommandHost();
  readonly #settings: RunnerSettings;
  readonly #sandbox: Sandbox;
  readonly #trial: SandboxTrial;
  #shellCheck: Promise<void> | undefined;
  /** Whether the user has been informed how commands run, inside and outside a sandbox. */
  readonly #informed = new Set<SandboxLevel>();

  constructor(settings: RunnerSettings) {
    this.#settings = settings;
    this.#sandbox = new Sandbox(settings.sandbox, settings.surroundings);
    this.#trial = new SandboxTrial(this.#sandbox, settings.trial);
  }

  /** Why commands cannot rely on the sandbox here; `undefined` if they can. */
  sandboxProblem(): Promise<string | undefined> {
    return this.#trial.problem();
  }

  /** Runs the command of a call. Rejects only if nothing was run. `findShell` is for Windows. */
  async run(
    args: Record<string, unknown>,
    call: ToolCall | undefined,
    findShell = this.#settings.windowsShell,
  ): Promise<string> {
    if (findShell) return await this.#runOnWindows(args, call, findShell);
    const { shell, limits, policy, containment } = this.#settings;
    const { command, parameters, cwd, timeoutMs, extraEnv } = this.#checked(args, call);
    const script = prepareScript(command, this.host.files);
    let sandboxed: SandboxedStart | undefined;
    let forgetPlaceholders: (() => void) | undefined;
    let refused: readonly RefusedFile[] | undefined;
    // Runs when the command has exited, which is later than the call if it was moved to the background.
    const cleanUp = this.host.cleanUpLater(() => {
      refused = sandboxed?.finish();
      forgetPlaceholders?.();
      script.remove();
    });
    try {
      await this.#checkShell();
      const checksFirst = policy !== undefined || needsCheckFirst(command, shell);
      if (checksFirst) await this.#checkSyntax(script, call?.signal);
      const refusal = refusalOf(policy, command, extraEnv);
      if (refusal !== undefined) throw new Error(refusal);
      // The mode may have changed since the call was allowed because of the sandbox.
      const isContained = call?.contained === true;
      const isWanted = isContained || (containment?.wanted() ?? this.#sandbox.mode !== "off");
      const level = isWanted ? await this.#level() : "none";
      if (isContained && level === "none") {
        throw new Error("It was allowed to run in a sandbox, and there is none now. Nothing was run.");
      }
      refuseAborted(call);
      const tag = this.host.newTag();
      const env = buildEnvironment(this.#environmentRules(level), extraEnv, tag);
      const enterSandbox = async (argv: readonly string[]): Promise<SandboxedStart> => {
        sandboxed = await this.#enterSandbox({ argv, text: command, cwd, env }, tag);
        forgetPlaceholders = this.host.removeIfKilled(sandboxed.placeholders);
        return sandboxed;
      };
      const repositories = level === "none" ? [] : [cwd, ...nestedRepositories(cwd)];
      const unfinished = unfinishedGit(repositories);
      const outcome = await runCommand(
        {
          shell,
          script,
          args: parameters,
          prelude: this.#limitPrelude(level === "none" ? shell : SYSTEM_SHELL),
          cwd,
          env,
          enterSandbox: level === "none" ? undefined : enterSandbox,
          tag,
          timeoutMs,
          limits,
          endsWithShell: level !== "none",
          signal: call?.signal,
          waitedMs: () => sandboxed?.network?.waitedMs ?? 0,
          onOutput: call?.onOutput && ((chunk) => call.onOutput(chunk)),
          onProcess: (pid) => call?.onProcess?.(pid),
        },
        this.host,
      );
      const isRunning = outcome.background?.isDetached === true;
      // Do not pass the signal: the command has run, and an abort now must not report otherwise.
      if (!checksFirst && mayBeSyntaxError(outcome)) await this.#checkSyntax(script);
      if (isRunning) outcome.background?.onFinished(cleanUp);
      else cleanUp();
      const allowance = {
        timeoutMs,
        longestMs: limits.timeoutMs,
        sandbox: isWanted ? level : undefined,
        refused,
        unfinished: unfinishedNotice(unfinished, unfinishedGit(repositories)),
        refusedHosts: sandboxed?.network?.refusals,
      };
      call?.report?.({
        ...summarize(outcome, timeoutMs),
        ...(call.wantsView && { view: outputView(outcome, allowance) }),
      });
      return presentOutcome(outcome, allowance);
    } catch (error) {
      cleanUp();
      throw error;
    }
  }

  /** The arguments of a call. Throws if they are wrong, or if nothing can run any more. */
  #checked(args: Record<string, unknown>, call: ToolCall | undefined) {
    const checked = {
      command: checkedCommand(args),
      parameters: checkedParameters(args),
      cwd: checkedDirectory(args, this.#settings.directory),
      timeoutMs: Math.min(checkedTimeout(args), this.#settings.limits.timeoutMs),
      extraEnv: checkedEnv(args.env),
    };
    refuseAborted(call);
    this.host.assertUsable();
    return checked;
  }

  /** Windows has no sandbox, no process groups and no limits: only the policy and the timeout apply. */
  async #runOnWindows(
    args: Record<string, unknown>,
    call: ToolCall | undefined,
    findShell: () => WindowsShell,
  ): Promise<string> {
    const { limits, policy, containment, sandbox } = this.#settings;
    const { command, parameters, cwd, timeoutMs, extraEnv } = this.#checked(args, call);
    const shell = findShell();
    const refusal =
      shell.kind === "powershell" ? powershellRefusal(policy) : refusalOf(policy, command, extraEnv);
    if (refusal !== undefined) throw new Error(refusal);
    if (sandbox.mode === "require" || call?.contained) throw new Error(NO_SANDBOX);
    if (containment?.wanted()) await this.#level();
    if (shell.kind === "wsl") {
      this.#shellCheck ??= confirmShell(shell.program, ["--exec", "bash"], NO_BASH);
      await this.#shellCheck;
      refuseAborted(call);
    }
    const env = buildEnvironment(this.#environmentRules("none"), extraEnv, "");
    // WSL passes only the variables that are listed in this one.
    if (shell.kind === "wsl") env.WSLENV = [env.WSLENV, ...Object.keys(extraEnv)].filter(Boolean).join(":");
    return await runWindowsCommand(
      { shell, command, parameters, cwd, env, timeoutMs, longestMs: limits.timeoutMs },
      this.host,
      call,
    );
  }

  #environmentRules(level: SandboxLevel): EnvironmentRules {
    const { hideEnv, hostSecrets, sandbox } = this.#settings;
    return {
      hidden: [...(hideEnv ?? DEFAULT_HIDDEN_ENV), ...hostSecrets],
      secret: [...(hideEnv ? [] : DEFAULT_HIDDEN_ENV), ...hostSecrets],
      passed: level === "none" ? undefined : sandbox.passEnv,
    };
  }

  /**
   * The sandbox for the next command. The user is informed about the first command inside one, and about the first
   * outside.
   */
  async #level(): Promise<SandboxLevel> {
    const { containment, trial } = this.#settings;
    if (!containment) return await this.#sandbox.level();
    const problem = await this.#trial.problem();
    const level = problem === undefined ? await this.#sandbox.level() : "none";
    if (!this.#informed.has(level)) {
      this.#informed.add(level);
      trial?.notice?.(
        problem === undefined
          ? `Commands run in a sandbox (${level}): they can write only the project, and get no secrets. To run them without: ${containment.optOut}.`
          : `Commands run without a sandbox: ${problem}`,
      );
    }
    return level;
  }

  /** Throws if the program is not a shell. Checked once, and only for a shell that is not known by name. */
  #checkShell(): Promise<void> {
    const { shell } = this.#settings;
    this.#shellCheck ??= isKnownShell(shell) ? Promise.resolve() : confirmShell(shell);
    return this.#shellCheck;
  }

  #limitPrelude(shell: string): string {
    return limitPrelude(this.#settings.limits, shell, this.host.table.counts().threads);
  }

  /** Throws, with the line, if the shell cannot parse the command. */
  async #checkSyntax(script: Script, signal?: AbortSignal): Promise<void> {
    const problem = await findSyntaxError(this.#settings.shell, script, signal);
    if (problem !== undefined) throw new Error(problem);
  }

  async #enterSandbox(
    command: Pick<SandboxedCommand, "argv" | "text" | "cwd" | "env">,
    tag: string,
  ): Promise<SandboxedStart> {
    const workspace = currentDirectory(
      this.#settings.directory,
      "It is what the sandbox lets commands write to: start the agent in one that exists.",
    );
    const readable = this.host.files.outputDirectory;
    try {
      return await this.#sandbox.start({ ...command, workspace, readable, tag: tagVariable(tag) });
    } catch (error) {
      const { containment } = this.#settings;
      if (!containment) throw error;
      throw new Error(`${errorMessage(error)} To run commands without a sandbox: ${containment.optOut}.`);
    }
  }
}

/** Why the policy refuses a command, if it does. */
export function refusalOf(
  policy: Policy | undefined,
  command: string,
  env: Readonly<Record<string, string>>,
): string | undefined {
  const verdict = policy?.check(command, env);
  return verdict?.allowed === false ? `${verdict.reason} Nothing was run.` : undefined;
}

/** The rules of the policy apply to sh syntax: PowerShell commands cannot be judged by them. */
export function powershellRefusal(policy: Policy | undefined): string | undefined {
  return policy === undefined
    ? undefined
    : "The options deny and allow understand sh and bash, not PowerShell, so no command of PowerShell runs while they are set. Use run_bash, or remove them. Nothing was run.";
}

const NO_SANDBOX =
  'A sandbox is required, and Windows has none. Run agent in WSL, or set the option sandbox to "off". Nothing was run.';

function refuseAborted(call: ToolCall | undefined): void {
  if (call?.signal?.aborted) throw new Error("Aborted before the command was started. Nothing was run.");
}

/** A shell that could not parse its command fails with a message and without any output. */
function mayBeSyntaxError({ exitCode, signal, stoppedBy, stdout, stderr }: RunOutcome): boolean {
  const failed = exitCode !== 0 && signal === null && stoppedBy === undefined;
  return failed && stdout.totalBytes === 0 && stderr.totalBytes > 0;
}
