import { basename, resolve } from "node:path";
import {
  type CallDescription,
  type CallTarget,
  defineTool,
  type PackHost,
  type PackServices,
} from "@agent/core";
import { canonicalPath, errorMessage, isInside, quote } from "@agent/core/toolkit";
import {
  checkedCommand,
  checkedDirectory,
  checkedParameters,
  currentDirectory,
  PLACE_INPUT,
} from "../command/arguments.js";
import { checkedEnv } from "../command/environment.js";
import { diagnose } from "../diagnose.js";
import { type BashOptions, checkedOptions, PACK_NAME } from "../options.js";
import { describeCommands, offerRules, withVariables } from "../policy/commands.js";
import { shellLanguage } from "../policy/language.js";
import { createPolicy } from "../policy/policy.js";
import type { ReadingPlace } from "../policy/programs/readers.js";
import { resolveLimits } from "../processes/limits.js";
import { resolveSandbox } from "../sandbox/settings.js";
import { bash, findBash, NO_BASH, type WindowsShell } from "../windows/shells.js";
import { CommandRunner, type RunnerSettings, refusalOf } from "./commandRunner.js";

const DEFAULT_SHELL = "/bin/sh";
// Frozen, so that all instances and their registries share it.
const CAPABILITIES = Object.freeze(["execute"] as const);
/** The host's secrets and protected files. */
type HostRules = Pick<
  PackHost,
  | "protectedPaths"
  | "protectedNames"
  | "secretVariables"
  | "access"
  | "permit"
  | "containment"
  | "notice"
  | "directories"
  | "directory"
>;
/** The test of the sandbox takes seconds, and longer on a busy machine. */
const DESCRIBE_LIMIT_MS = 120_000;
const POLICY_SHELLS = new Set(["sh", "ash", "dash", "bash"]);

/** The background jobs and other processes of a tool, and how to stop them. */
type BashServices = Required<Pick<PackServices, "jobs" | "diagnose" | "dispose" | "terminate">>;

const INPUT = {
  type: "object",
  properties: {
    command: { type: "string", description: "The command, as for sh -c" },
    arguments: {
      type: "array",
      items: { type: "string" },
      description: 'Arguments that reach the command untouched as "$@" ("$1", "$2", …)',
    },
    cwd: PLACE_INPUT.cwd,
    working_directory: { type: "string", description: "Same as cwd" },
    env: PLACE_INPUT.env,
    timeout: PLACE_INPUT.timeout,
  },
  required: ["command"],
  additionalProperties: false,
} as const;

/**
 * Creates `run_bash` alone, with its services. Throws for an unknown or mistyped option. `host` defines what is secret
 * or protected.
 */
export function runBashTool(options?: BashOptions, host?: HostRules) {
  return createRunBash(new SharedRunner(checkedOptions(options), host));
}

/** The shared state of the shell tools of one registration, and its services for the host. */
export class SharedRunner implements BashServices {
  readonly settings: RunnerSettings;
  // Created on first use: an agent that runs no command has nothing to keep.
  #runner: CommandRunner | undefined;

  constructor(options: BashOptions, host: HostRules = {}) {
    this.settings = settingsOf(options, host);
  }

  ready(): CommandRunner {
    this.#runner ??= new CommandRunner(this.settings);
    return this.#runner;
  }

  get jobs(): BashServices["jobs"] {
    return this.ready().host.jobs;
  }

  diagnose(): ReturnType<BashServices["diagnose"]> {
    return diagnose(this.settings.shell, this.settings.windowsShell);
  }

  /** Also if no command was run: the host then refuses later ones. */
  async dispose(): Promise<void> {
    await this.ready().host.dispose();
  }

  terminate(): void {
    this.#runner?.host.terminate();
  }
}

/**
 * Creates `run_bash`, which runs a shell command and returns JSON with `stdout`, `stderr` and `exit_code`. A command
 * that fails, is stopped or exceeds a limit is a result; only one that was not run at all is an error.
 */
export function createRunBash(runner: SharedRunner) {
  const { settings } = runner;
  const tool = defineTool({
    name: "run_bash",
    description: `Run a command in ${settings.shell} and get JSON with stdout, stderr and exit_code. It can change or destroy anything the user can: prefer the other tools for reading, searching and editing files. There is no terminal and no input. ${backgroundAdvice(settings)}${networkAdvice(settings)}`,
    input: INPUT,
    capabilities: CAPABILITIES,
    kind: "execute",
    titleFrom: "command",
    permissions: shellLanguage,
    // The tool enforces its own time limit: see `timeout`.
    deadlineMs: Number.POSITIVE_INFINITY,
    describe: (input) => {
      const description = describeRun(settings, input);
      return settings.containment?.wanted() ? markContained(description, runner.ready()) : description;
    },
    execute: async (input, call) => await runner.ready().run(input, call),
  });
  return Object.assign(tool, { services: runner as BashServices, describeLimitMs: DESCRIBE_LIMIT_MS });
}

/** A call is contained if the sandbox that the host requests has passed its test. */
async function markContained(description: CallDescription, runner: CommandRunner): Promise<CallDescription> {
  return (await runner.sandboxProblem()) === undefined ? { ...description, contained: true } : description;
}

function settingsOf(options: BashOptions, host: HostRules): RunnerSettings {
  const { deny, allow } = options;
  const windowsShell = process.platform === "win32" ? bashOfWindows(options.shell) : undefined;
  const shell = options.shell ?? (windowsShell ? "bash" : DEFAULT_SHELL);
  const limits = resolveLimits(options.limits);
  const policy = createPolicy({ deny, allow });
  if (policy !== undefined && !POLICY_SHELLS.has(basename(shell).replace(/\.exe$/i, ""))) {
    throw new Error(`${PACK_NAME}: deny and allow understand sh and bash, not ${quote(shell)}.`);
  }
  // The user's options for this pack take precedence over the host's preference.
  const containment = options.sandbox === undefined ? host.containment : undefined;
  const { directory } = host;
  return {
    shell,
    directory,
    windowsShell,
    limits,
    hideEnv: options.hideEnv,
    hostSecrets: host.secretVariables ?? [],
    policy,
    sandbox: containment
      ? resolveSandbox({ mode: "auto", writable: host.access?.writable ?? [] }, directory)
      : resolveSandbox(options.sandbox, directory),
    containment,
    trial: { directory: host.directories?.user, notice: host.notice },
    surroundings: {
      directory,
      protectedPaths: host.protectedPaths,
      protectedNames: host.protectedNames,
      secretPaths: host.access?.secret,
      memoryMb: limits.memoryMb,
      permit: host.permit,
    },
  };
}

/** Finds bash on first use. */
function bashOfWindows(program: string | undefined): () => WindowsShell {
  let found: WindowsShell | undefined;
  return () => {
    found ??= program === undefined ? findBash() : bash(program);
    if (found === undefined) throw new Error(`${NO_BASH} Nothing was run.`);
    return found;
  };
}

/**
 * Describes every command that a call runs. A call is contained if the sandbox is required: with `auto` a command may
 * run without one. Commands that `deny` and `allow` refuse are reported, so that the user is not asked about them.
 */
function describeRun(settings: RunnerSettings, args: Readonly<Record<string, unknown>>): CallDescription {
  let refusal: string | undefined;
  try {
    const command = checkedCommand(args);
    const parameters = checkedParameters(args);
    const directory = checkedDirectory(args, settings.directory);
    const env = checkedEnv(args.env);
    refusal = refusalOf(settings.policy, command, env);
    const isElsewhere = canonicalPath(directory) !== canonicalPath(currentDirectory(settings.directory));
    // The meaning of a script's words may depend on them.
    const odd = Object.keys(env).filter((name) => !/^[A-Za-z_]\w*$/.test(name));
    const extra = [...parameters, ...odd];
    const found = describeCommands(command, isElsewhere ? undefined : readingPlace(settings))?.map(
      (target) => ({
        ...(Object.keys(env).length > odd.length ? withVariables(target, env) : target),
        ...(extra.length > 0 && { open: true as const }),
        ...(isElsewhere && { cwd: directory }),
      }),
    );
    const others: CallTarget[] = extra.map((text) => ({ type: "text", text, open: true }));
    return {
      ...(found && { targets: [...found, ...others], always: offerRules(found) }),
      ...(refusal !== undefined && { refusal }),
      ...(settings.sandbox.mode === "require" && { contained: true }),
    };
  } catch (error) {
    // A system error may no longer occur when the call runs.
    return error instanceof Error && "code" in error ? {} : { refusal: errorMessage(error) };
  }
}

/** The agent's own directory, except symlinks that lead out of it and secret paths. */
function readingPlace({ surroundings, directory }: RunnerSettings): ReadingPlace {
  const cwd = canonicalPath(currentDirectory(directory));
  const secret = surroundings.secretPaths ?? [];
  const mayRead = (path: string): boolean => {
    if (path.startsWith("~")) return false;
    const real = canonicalPath(resolve(cwd, path));
    return isInside(cwd, real) && !secret.some((one) => isInside(one, real) || isInside(real, one));
  };
  return { cwd, mayRead };
}

function backgroundAdvice({ sandbox, containment, windowsShell }: RunnerSettings): string {
  if (windowsShell) return "The system is Windows. Start nothing in the background.";
  if (containment) {
    return 'For a server or watcher append " &": it keeps running after the call, unless the result says that the command ran in a sandbox.';
  }
  return sandbox.mode === "off"
    ? 'For a server or watcher append " &": it keeps running after the call.'
    : "Nothing runs on in the background: a sandbox ends it with the command. Environment variables that look like secrets are not passed.";
}

function networkAdvice({ sandbox: { mode, network } }: RunnerSettings): string {
  return mode === "off" || typeof network === "boolean"
    ? ""
    : " Only some hosts can be reached, through the proxy in HTTP_PROXY and HTTPS_PROXY.";
}
