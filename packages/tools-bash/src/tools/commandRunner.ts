import type { ToolCall } from "@agent/core";
import {
  checkedCommand,
  checkedDirectory,
  checkedParameters,
  checkedTimeout,
  currentDirectory,
} from "../command/arguments.js";
import { confirmShell } from "../command/confirmShell.js";
import { buildEnvironment, checkedEnv, DEFAULT_HIDDEN_ENV, tagVariable } from "../command/environment.js";
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
import type { RefusedFile } from "../sandbox/inspect.js";
import {
  Sandbox,
  type SandboxedCommand,
  type SandboxedStart,
  type SandboxSurroundings,
} from "../sandbox/sandbox.js";
import type { SandboxSettings } from "../sandbox/settings.js";
import { unfinishedGit, unfinishedNotice } from "../sandbox/unfinishedGit.js";

/** How commands run: the checked options of the pack and what the host adds. */
export interface RunnerSettings {
  readonly shell: string;
  readonly limits: Limits;
  readonly hideEnv: readonly string[] | undefined;
  /** Names of variables whose values are secrets, under whatever name. Grows with packs that are registered later. */
  readonly hostSecrets: readonly string[];
  readonly policy: Policy | undefined;
  readonly sandbox: SandboxSettings;
  readonly surroundings: SandboxSurroundings;
}

/** Runs the commands of one tool, and owns all that outlives a command. */
export class CommandRunner {
  readonly host = new CommandHost();
  readonly #settings: RunnerSettings;
  readonly #sandbox: Sandbox;
  #shellCheck: Promise<void> | undefined;

  constructor(settings: RunnerSettings) {
    this.#settings = settings;
    this.#sandbox = new Sandbox(settings.sandbox, settings.surroundings);
  }

  /** Runs the command of a call. Rejects only if nothing was run. */
  async run(args: Record<string, unknown>, call: ToolCall | undefined): Promise<string> {
    const { shell, limits, hideEnv, hostSecrets, policy } = this.#settings;
    const command = checkedCommand(args);
    const parameters = checkedParameters(args);
    const cwd = checkedDirectory(args);
    const timeoutMs = Math.min(checkedTimeout(args), limits.timeoutMs);
    const extraEnv = checkedEnv(args.env);
    refuseAborted(call);
    this.host.assertUsable();
    const script = prepareScript(command, this.host.files);
    let sandboxed: SandboxedStart | undefined;
    let forgetPlaceholders: (() => void) | undefined;
    let refused: readonly RefusedFile[] | undefined;
    // Runs when the command has ended, which is later than the call if it is moved to the background.
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
      const level = await this.#sandbox.level();
      refuseAborted(call);
      const tag = this.host.newTag();
      const env = buildEnvironment(
        {
          hidden: [...(hideEnv ?? DEFAULT_HIDDEN_ENV), ...hostSecrets],
          secret: [...(hideEnv ? [] : DEFAULT_HIDDEN_ENV), ...hostSecrets],
          passed: level === "none" ? undefined : this.#settings.sandbox.passEnv,
        },
        extraEnv,
        tag,
      );
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
      // Do not pass the signal: the command has run, and an abort now must not report that it has not.
      if (!checksFirst && mayBeSyntaxError(outcome)) await this.#checkSyntax(script);
      if (isRunning) outcome.background?.onFinished(cleanUp);
      else cleanUp();
      const allowance = {
        timeoutMs,
        longestMs: limits.timeoutMs,
        sandbox: this.#sandbox.mode === "off" ? undefined : level,
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

  /** Throws if the program is not a shell. Checked once, and only for a shell that we do not know by name. */
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

  #enterSandbox(
    command: Pick<SandboxedCommand, "argv" | "text" | "cwd" | "env">,
    tag: string,
  ): Promise<SandboxedStart> {
    const workspace = currentDirectory(
      "It is what the sandbox lets commands write to: start the agent in one that exists.",
    );
    const readable = this.host.files.outputDirectory;
    return this.#sandbox.start({ ...command, workspace, readable, tag: tagVariable(tag) });
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

function refuseAborted(call: ToolCall | undefined): void {
  if (call?.signal?.aborted) throw new Error("Aborted before the command was started. Nothing was run.");
}

/** A shell that could not parse its command fails with a message and without any output. */
function mayBeSyntaxError({ exitCode, signal, stoppedBy, stdout, stderr }: RunOutcome): boolean {
  const failed = exitCode !== 0 && signal === null && stoppedBy === undefined;
  return failed && stdout.totalBytes === 0 && stderr.totalBytes > 0;
}
