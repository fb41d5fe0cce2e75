import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { AgentEvent, TokenUsage, ToolOutcome } from "@agent/core";
import { PROVIDER_KEY_VARIABLES } from "@agent/core/provider";
import type { EvalCase } from "./defineEval.js";

const EXIT_TIMEOUT_MS = 120_000;
const MOST_OUTPUT = 64 * 1024;
const SHOWN_OUTPUT = 400;

/** A failed check: the model failed the case. */
export class EvalFailure extends Error {
  override readonly name = "EvalFailure";
}

/** One tool call of the model, including refused ones. */
export interface EvalCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly outcome: ToolOutcome;
  /** What the model read. */
  readonly text: string;
}

/** The expected arguments of a call: equal values, or texts that match; or a function that decides. */
export type CallMatch =
  | Readonly<Record<string, unknown>>
  | ((args: Readonly<Record<string, unknown>>) => boolean);

export interface ExitOptions {
  /** The expected exit code of the command. Default 0. */
  readonly code?: number;
  /** Default: two minutes. */
  readonly timeoutMs?: number;
}

export interface ExitResult {
  /** `null` if a signal ended the command. */
  readonly code: number | null;
  /** Standard output and standard error together, at most 64 KiB. */
  readonly output: string;
}

/** The results of a run. The methods throw if an expectation is not met. */
export interface EvalRun {
  /** The working directory. */
  readonly path: string;
  /** What `setup` returned as values. */
  readonly values: Readonly<Record<string, string>>;
  /** The last answer. Check what was done, not how it was worded. */
  readonly text: string;
  readonly events: readonly AgentEvent[];
  /** All calls in order, those of child agents included. */
  readonly calls: readonly EvalCall[];
  readonly usage: TokenUsage;
  /** In dollars, if the price of the model is known. */
  readonly cost: number | undefined;
  /** Checks that a tool ran at least once, with these arguments if there are any. Returns the calls. */
  called(name: string, match?: CallMatch): readonly EvalCall[];
  /** Checks that the model never called a tool, not even unsuccessfully. */
  never(name: string, match?: CallMatch): void;
  /** Checks that at least one call of a tool was denied. Returns the denied calls. */
  denied(name: string, match?: CallMatch): readonly EvalCall[];
  /** Checks that a file exists. Returns its text. */
  file(path: string): string;
  /** Checks that files of the case are unchanged. Default: all of them. */
  unchanged(...paths: readonly string[]): void;
  /** Runs a command in the working directory after the model has finished and checks its exit code. It runs without a sandbox. */
  exit(command: string, options?: ExitOptions): Promise<ExitResult>;
}

/** The data of a finished run. */
export interface RunFacts {
  readonly path: string;
  readonly values: Readonly<Record<string, string>>;
  readonly text: string;
  readonly events: readonly AgentEvent[];
  readonly usage: TokenUsage;
  readonly signal: AbortSignal;
}

export function createEvalRun(
  subject: EvalCase,
  { path, values, text, events, usage, signal }: RunFacts,
): EvalRun {
  const calls = callsOf(events);
  const select = (name: string, match: CallMatch | undefined): EvalCall[] =>
    calls.filter((call) => call.name === name && matches(call.args, match));
  const require = (found: readonly EvalCall[], problem: string): readonly EvalCall[] => {
    if (found.length === 0) throw new EvalFailure(`${problem}. Calls: ${describeCalls(calls)}.`);
    return found;
  };
  const file = (name: string): string => {
    try {
      return readFileSync(resolve(path, name), "utf8");
    } catch (error) {
      throw new EvalFailure(`${name} cannot be read: ${(error as Error).message}`);
    }
  };
  return {
    path,
    values,
    text,
    events,
    calls,
    usage,
    cost: usage.cost,
    called: (name, match) =>
      require(select(name, match).filter(
        ({ outcome }) => outcome === "ok" || outcome === "error",
      ), `${name} did not run${match === undefined ? "" : " with these arguments"}`),
    denied: (name, match) =>
      require(select(name, match).filter(
        ({ outcome }) => outcome === "denied",
      ), `No call of ${name} was denied`),
    never(name, match) {
      const [first] = select(name, match);
      if (first) throw new EvalFailure(`${name} was called: ${JSON.stringify(first.args)}`);
    },
    file,
    unchanged(...paths) {
      const all = subject.files ?? {};
      for (const name of paths.length > 0 ? paths : Object.keys(all)) {
        const before = all[name];
        if (before === undefined) throw new TypeError(`unchanged: ${name} is not a file of the case.`);
        if (!readBytes(resolve(path, name))?.equals(Buffer.from(before)))
          throw new EvalFailure(`${name} was changed.`);
      }
    },
    exit: (command, options) => runCommand(command, path, signal, options),
  };
}

function readBytes(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function callsOf(events: readonly AgentEvent[]): EvalCall[] {
  const requested = new Map<string, Readonly<Record<string, unknown>>>();
  const calls: EvalCall[] = [];
  const visit = (event: AgentEvent): void => {
    if (event.type === "child") visit(event.event);
    if (event.type === "tool_requested" || event.type === "tool_start") requested.set(event.id, event.args);
    if (event.type === "tool_end") {
      const { id, name, outcome, text } = event;
      calls.push({ name, args: requested.get(id) ?? {}, outcome, text });
    }
  };
  for (const event of events) visit(event);
  return calls;
}

function matches(args: Readonly<Record<string, unknown>>, match: CallMatch | undefined): boolean {
  if (match === undefined) return true;
  if (typeof match === "function") return match(args);
  return Object.entries(match).every(([key, wanted]) =>
    wanted instanceof RegExp ? wanted.test(String(args[key])) : isDeepStrictEqual(args[key], wanted),
  );
}

function describeCalls(calls: readonly EvalCall[]): string {
  return calls.map(({ name, outcome }) => `${name} (${outcome})`).join(", ") || "none";
}

/** The environment without the keys of model providers: the command may run what a model wrote. */
function commandEnvironment(): NodeJS.ProcessEnv {
  const hidden = new Set<string>(PROVIDER_KEY_VARIABLES);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !hidden.has(name)));
}

async function runCommand(
  command: string,
  cwd: string,
  signal: AbortSignal,
  { code: expected = 0, timeoutMs = EXIT_TIMEOUT_MS }: ExitOptions = {},
): Promise<ExitResult> {
  const child = spawn(command, {
    cwd,
    shell: true,
    env: commandEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const stop = (): void => {
    // Kill the whole group: a test runner has children.
    if (child.pid !== undefined) tryKill(-child.pid);
  };
  const timer = setTimeout(stop, timeoutMs);
  signal.addEventListener("abort", stop);
  let output = "";
  const add = (chunk: Buffer): void => {
    if (output.length < MOST_OUTPUT) output = (output + chunk.toString("utf8")).slice(0, MOST_OUTPUT);
  };
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  try {
    const code = await new Promise<number | null>((settle, reject) => {
      child.on("error", reject);
      child.on("close", settle);
    });
    if (code === expected) return { code, output };
    const how = code === null ? "was killed by a signal or the time limit" : `ended with exit code ${code}`;
    throw new EvalFailure(`${command} ${how}, expected ${expected}: ${output.trim().slice(-SHOWN_OUTPUT)}`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already exited.
  }
}
