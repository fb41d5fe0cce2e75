import { AgentError, type AgentOptions, type PackEntry } from "@agent/core";
import type { ScriptedAnswer } from "@agent/core/replay";
import { check, checkOptions, invalidArgument, type OptionChecks } from "@agent/core/toolkit";
import type { EvalRun } from "./evalRun.js";

/**
 * How many runs of a case have to pass: `always` is every run, `usually` at least four of five, `{ usually: 0.6 }` at
 * least that share.
 */
export type EvalPolicy = "always" | "usually" | { readonly usually: number };

/** Where a case runs: an empty directory with the files of the case, which is also the working directory. */
export interface EvalWorkspace {
  readonly path: string;
  /** The `values` that `setup` returned. */
  readonly values: Readonly<Record<string, string>>;
}

/** The result of `setup`. */
export interface EvalSetup {
  /** Texts that differ from run to run, such as the address of a server. They replace `{name}` in the task. */
  readonly values?: Readonly<Record<string, string>>;
  /** Called after the checks. */
  readonly close?: () => void | Promise<void>;
}

/** A task for a model, and checks of its work. */
export interface EvalCase {
  /** Unique in its file. Recordings and reports use it. */
  readonly name: string;
  /** The message for the model, or several that follow each other. */
  readonly task: string | readonly string[];
  /** The files of the working directory, by relative path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Starts what the case needs besides files, such as a server. */
  readonly setup?: (workspace: Pick<EvalWorkspace, "path">) => EvalSetup | Promise<EvalSetup>;
  /** The packs and tools of the agent, or a function that makes them for the workspace. Default: those of `runEvals`. */
  readonly packs?:
    | readonly PackEntry[]
    | ((workspace: EvalWorkspace) => readonly PackEntry[] | Promise<readonly PackEntry[]>);
  /** Tools to turn on although their pack declares them disabled. */
  readonly enable?: readonly string[];
  /**
   * Decides about each call. Default: calls in the working directory run; commands only in a sandbox, unless `runEvals`
   * allows more.
   */
  readonly approve?: NonNullable<AgentOptions["approve"]>;
  readonly systemPrompt?: string;
  /** Only these models of the matrix run the case. Default: all. */
  readonly models?: readonly string[];
  /** Default `always`. */
  readonly policy?: EvalPolicy;
  /** How often each model runs the case. Default: from `runEvals`. */
  readonly runs?: number;
  /** The maximum number of model requests for one message. Default 30. */
  readonly maxTurns?: number;
  /** How long one run may take. Default: five minutes. */
  readonly timeoutMs?: number;
  /** The answers of the model `scripted`: it shows that the checks work, without a key. */
  readonly script?: readonly ScriptedAnswer[];
  /** Throws if the model did something wrong. */
  readonly check: (run: EvalRun) => void | Promise<void>;
}

export const checkName = (name: string, value: unknown): void => {
  if (typeof value !== "string" || value.trim() === "") throw invalidArgument(name, "a text", value);
};

export const checkTexts = (name: string, value: unknown): void => {
  if (!Array.isArray(value)) throw invalidArgument(name, "an array of strings", value);
  for (const [index, text] of value.entries()) checkName(`${name}[${index}]`, text);
};

export const checkCount = (name: string, value: unknown): void => {
  if (!Number.isInteger(value) || (value as number) < 1) {
    throw invalidArgument(name, "a whole number greater than 0", value);
  }
};

const CASE: OptionChecks<EvalCase> = {
  name: checkName,
  task: (name, value) => {
    if (!Array.isArray(value)) return checkName(name, value);
    if (value.length === 0) throw invalidArgument(name, "a string or an array of strings", value);
    checkTexts(name, value);
  },
  files: check.object,
  setup: check.function,
  packs: (name, value) => {
    if (!Array.isArray(value) && typeof value !== "function") {
      throw invalidArgument(name, "an array of packs or a function that returns one", value);
    }
  },
  enable: checkTexts,
  approve: check.function,
  systemPrompt: check.text,
  models: checkTexts,
  policy: (name, value) => {
    const share = (value as { usually?: unknown } | null)?.usually;
    if (value === "always" || value === "usually") return;
    if (typeof share === "number" && share > 0 && share <= 1) return;
    throw invalidArgument(name, '"always", "usually" or { usually: SHARE } with a share from 0 to 1', value);
  },
  runs: checkCount,
  maxTurns: checkCount,
  timeoutMs: check.positive,
  script: (name, value) => {
    if (!Array.isArray(value)) throw invalidArgument(name, "an array of answers", value);
  },
  check: check.function,
};

/**
 * Defines a case. Throws for an option that is unknown, invalid or missing.
 *
 * @example
 * ```ts
 * import { defineEval } from "@agent/evals";
 *
 * export default defineEval({
 *   name: "fixes a typo",
 *   files: { "a.txt": "helo\n" },
 *   task: "Fix the spelling in a.txt.",
 *   check(run) {
 *     run.called("edit_file");
 *     if (run.file("a.txt") !== "hello\n") throw new Error("a.txt is not fixed");
 *   },
 * });
 * ```
 */
export function defineEval(options: EvalCase): EvalCase {
  checkOptions("defineEval", options, CASE);
  for (const key of ["name", "task", "check"] as const) {
    if (options[key] === undefined) {
      throw new AgentError("invalid_argument", `defineEval: "${key}" is missing.`);
    }
  }
  return options;
}
