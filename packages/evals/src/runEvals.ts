import { AgentError, type ChatProvider, type HostData } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { check, checkOptions, invalidArgument, type OptionChecks } from "@agent/core/toolkit";
import { checkCount, checkTexts, defineEval, type EvalCase } from "./defineEval.js";
import { Recordings, recording, slug } from "./recordings.js";
import { createGroup, createReport, type EvalGroup, type EvalReport, requiredShare } from "./report.js";
import { type RunOutcome, runCase } from "./runCase.js";

/** The name of the model that answers from the `script` of each case. */
export const SCRIPTED = "scripted";

/** A model of the matrix. */
export interface EvalModel {
  readonly name: string;
  /** Creates the provider, once for each run. Not needed for `scripted` and for replays. */
  readonly provider?: () => ChatProvider | Promise<ChatProvider>;
}

/** A run that has ended. */
export interface EvalProgress {
  readonly case: string;
  readonly model: string;
  /** From 1. */
  readonly run: number;
  readonly runs: number;
  readonly outcome: RunOutcome;
}

export interface RunEvalsOptions {
  /** The models that run each case. `{ name: "scripted" }` is the one that answers from the script of a case. */
  readonly models: readonly EvalModel[];
  /** How often each model runs a case without its own setting. Default 1. */
  readonly runs?: number;
  /** The maximum cost of all runs in dollars. Needs a known price for every model. */
  readonly maxCost?: number;
  /** `record` stores the models' answers, `replay` answers from them without a model. Default `live`. */
  readonly mode?: EvalReport["mode"];
  /** The directory of recordings, or a function that returns the one of a case. Default: `recordings`. */
  readonly recordings?: string | ((subject: EvalCase) => string);
  /** The name of a case's file for the report. */
  readonly fileOf?: (subject: EvalCase) => string | undefined;
  /** The packs of cases that name none. Default: no tools. */
  readonly packs?: EvalCase["packs"];
  /** Tools of `packs` to turn on, for cases that do not say. */
  readonly enable?: readonly string[];
  /**
   * `false` lets tools run commands without a sandbox. Default: commands run in one, and are denied if there is none. A
   * case with `approve` decides itself.
   */
  readonly sandbox?: boolean;
  /** Services that the program provides to packs. */
  readonly host?: HostData;
  /** The system prompt of cases that have none. */
  readonly systemPrompt?: string;
  readonly signal?: AbortSignal;
  readonly onRun?: (progress: EvalProgress) => void;
}

const MODES: readonly EvalReport["mode"][] = ["live", "record", "replay"];

const OPTIONS: OptionChecks<RunEvalsOptions> = {
  models: (name, value) => {
    if (!Array.isArray(value) || value.length === 0) throw invalidArgument(name, "at least one model", value);
    for (const model of value) check.text(`${name}.name`, model?.name);
  },
  runs: checkCount,
  maxCost: check.positive,
  mode: (name, value) => {
    if (!MODES.includes(value as EvalReport["mode"])) throw invalidArgument(name, MODES.join(", "), value);
  },
  recordings: (name, value) => {
    if (typeof value !== "function") check.text(name, value);
  },
  fileOf: check.function,
  packs: () => undefined,
  enable: checkTexts,
  sandbox: check.boolean,
  host: check.object,
  systemPrompt: check.text,
  signal: check.object,
  onRun: check.function,
};

/**
 * Runs cases with each model, one run after the other: the working directory of the process changes to that of the run.
 * A mistake of the model fails a run; a broken server, recording or check makes it an `error`, which fails no model.
 * Resolves to the report, also after an abort.
 *
 * @example
 * ```ts
 * import { defineEval, formatEvals, runEvals } from "@agent/evals";
 *
 * const answers = defineEval({
 *   name: "answers",
 *   task: "Say hello.",
 *   script: ["Hello."],
 *   check: (run) => run.never("run_bash"),
 * });
 * const report = await runEvals([answers], { models: [{ name: "scripted" }] });
 * console.log(formatEvals(report));
 * ```
 */
export async function runEvals(cases: readonly EvalCase[], options: RunEvalsOptions): Promise<EvalReport> {
  checkOptions("runEvals", options, OPTIONS);
  if (!Array.isArray(cases)) throw invalidArgument("cases", "an array of cases", cases);
  for (const one of cases) defineEval(one);
  const { models, signal = new AbortController().signal, mode = "live" } = options;
  const recordingsOf = (subject: EvalCase, model: string): Recordings => {
    const { recordings = "recordings" } = options;
    return new Recordings(
      typeof recordings === "string" ? recordings : recordings(subject),
      subject.name,
      model,
    );
  };
  checkNames(cases, models, recordingsOf);
  const date = new Date();
  const budget = { left: options.maxCost, isReached: false };
  const groups: EvalGroup[] = [];
  for (const subject of cases) {
    for (const model of models) {
      const isOf = (name: string): boolean => slug(name) === slug(model.name);
      if (subject.models && !subject.models.some(isOf)) continue;
      if (model.name === SCRIPTED && subject.script === undefined) continue;
      const file = options.fileOf?.(subject);
      const identity = {
        ...(file !== undefined && { file }),
        case: subject.name,
        model: model.name,
        required: requiredShare(subject.policy),
      };
      const outcomes = await runGroup(subject, model, recordingsOf(subject, model.name), {
        ...options,
        mode,
        signal,
        budget,
      });
      if (outcomes.length > 0) groups.push(createGroup(identity, outcomes));
    }
  }
  const stopped = signal.aborted ? "interrupted" : budget.isReached ? "cost" : undefined;
  return createReport(groups, { date, mode, stopped });
}

/** Two cases must not write the same recording. */
function checkNames(
  cases: readonly EvalCase[],
  models: readonly EvalModel[],
  recordingsOf: (subject: EvalCase, model: string) => Recordings,
): void {
  const seen = new Map<string, string>();
  for (const subject of cases) {
    for (const { name } of models) {
      const shown = `"${subject.name}" with "${name}"`;
      if (slug(subject.name) === "" || slug(name) === "") {
        throw new AgentError("invalid_argument", `${shown}: a name needs a letter from a to z or a digit.`);
      }
      const file = recordingsOf(subject, name).file(1);
      const other = seen.get(file);
      if (other !== undefined) {
        throw new AgentError(
          "invalid_argument",
          `${other} and ${shown} are too similar: both would be ${file}.`,
        );
      }
      seen.set(file, shown);
    }
  }
}

interface GroupOptions extends RunEvalsOptions {
  readonly mode: EvalReport["mode"];
  readonly signal: AbortSignal;
  readonly budget: { left: number | undefined; isReached: boolean };
}

async function runGroup(
  subject: EvalCase,
  model: EvalModel,
  recordings: Recordings,
  options: GroupOptions,
): Promise<RunOutcome[]> {
  const { mode, signal, budget } = options;
  const wanted = subject.runs ?? options.runs ?? 1;
  const recorded = mode === "replay" ? await recordings.count() : 0;
  const runs = mode === "replay" ? Math.max(1, recorded) : wanted;
  const outcomes: RunOutcome[] = [];
  for (let run = 1; run <= runs && !signal.aborted; run++) {
    const outcome = await runOnce(subject, model, run, recordings, options);
    outcomes.push(outcome);
    if (budget.left !== undefined) budget.left -= outcome.usage.cost ?? 0;
    budget.isReached ||= outcome.status === "skipped";
    options.onRun?.({ case: subject.name, model: model.name, run, runs, outcome });
  }
  if (mode === "record" && outcomes.every(({ status }) => status === "passed" || status === "failed")) {
    await recordings.dropAfter(outcomes.length);
  }
  return outcomes;
}

async function runOnce(
  subject: EvalCase,
  model: EvalModel,
  run: number,
  recordings: Recordings,
  { mode, signal, budget, packs, enable, sandbox = true, host = {}, systemPrompt }: GroupOptions,
): Promise<RunOutcome> {
  const isScripted = model.name === SCRIPTED && model.provider === undefined;
  const isFree = mode === "replay" || isScripted;
  if (!isFree && budget.left !== undefined && budget.left <= 0) return skipped();
  return await runCase(subject, {
    async provider(workspace, scratch) {
      if (mode === "replay") return await recordings.replay(run, scratch, workspace);
      const provider = isScripted ? scriptedProvider(subject.script ?? []) : await model.provider?.();
      if (provider === undefined) {
        throw new AgentError("invalid_argument", `The model "${model.name}" has no provider.`);
      }
      return mode === "record" ? recording(provider, scratch) : provider;
    },
    keep: async (workspace, scratch) => {
      if (mode === "record") await recordings.keep(run, scratch, workspace);
    },
    packs,
    enable,
    sandbox,
    host,
    systemPrompt,
    maxCost: isFree ? undefined : budget.left,
    signal,
  });
}

function skipped(): RunOutcome {
  return {
    status: "skipped",
    problem: "The cost limit was reached.",
    usage: { inputTokens: 0, outputTokens: 0, cost: 0 },
    seconds: 0,
    calls: 0,
  };
}
