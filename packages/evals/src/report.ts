import type { EvalPolicy } from "./defineEval.js";
import type { RunOutcome, RunStatus } from "./runCase.js";
import { wilsonInterval } from "./wilson.js";

const USUALLY = 0.8;
const FORMAT = "agent-eval-report";

/** One run in a report. */
export interface RunReport {
  readonly status: RunStatus;
  readonly problem?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost?: number;
  readonly seconds: number;
  readonly calls: number;
}

/** All runs of one case with one model. */
export interface EvalGroup {
  /** The file of the case, as passed to `runEvals`. */
  readonly file?: string;
  readonly case: string;
  readonly model: string;
  /** The share of runs that have to pass: 1 for `always`. */
  readonly required: number;
  readonly runs: readonly RunReport[];
  /** Passed runs, among those that can be judged. */
  readonly passed: number;
  readonly judged: number;
  /** The 95 % interval of the share. */
  readonly interval: readonly [low: number, high: number];
  /** `not judged`: a run proved nothing about the model, or none was made. */
  readonly verdict: "holds" | "fails" | "not judged";
  readonly tokens: number;
  readonly cost?: number;
  /** The mean time of a run. */
  readonly seconds: number;
}

export interface EvalReport {
  readonly format: typeof FORMAT;
  readonly version: 1;
  /** When the first run started. */
  readonly date: string;
  readonly mode: "live" | "record" | "replay";
  readonly groups: readonly EvalGroup[];
  /** Whether all cases pass with all models. */
  readonly ok: boolean;
  /** Why not all runs were made. */
  readonly stopped?: "cost" | "interrupted";
  readonly tokens: number;
  readonly cost?: number;
}

export function requiredShare(policy: EvalPolicy = "always"): number {
  if (policy === "always") return 1;
  return policy === "usually" ? USUALLY : policy.usually;
}

export function createGroup(
  subject: Pick<EvalGroup, "case" | "model" | "required" | "file">,
  outcomes: readonly RunOutcome[],
): EvalGroup {
  const count = (status: RunStatus): number => outcomes.filter((one) => one.status === status).length;
  const passed = count("passed");
  const judged = passed + count("failed");
  const mayHold = judged > 0 && passed / judged >= subject.required;
  // One failed run decides about a case that always has to pass, whatever the other results.
  const isDecided = judged === outcomes.length || (subject.required === 1 && passed < judged);
  const runs = outcomes.map(
    ({ usage: { inputTokens, outputTokens, cost }, status, problem, seconds, calls }) => ({
      status,
      ...(problem !== undefined && { problem }),
      inputTokens,
      outputTokens,
      ...(cost !== undefined && { cost }),
      seconds: Math.round(seconds * 1000) / 1000,
      calls,
    }),
  );
  return {
    ...subject,
    runs,
    passed,
    judged,
    interval: wilsonInterval(passed, judged),
    verdict: judged > 0 && isDecided ? (mayHold ? "holds" : "fails") : "not judged",
    ...totals(runs),
    seconds: runs.reduce((sum, { seconds }) => sum + seconds, 0) / Math.max(1, runs.length),
  };
}

export function createReport(
  groups: readonly EvalGroup[],
  { date, mode, stopped }: { date: Date; mode: EvalReport["mode"]; stopped: EvalReport["stopped"] },
): EvalReport {
  return {
    format: FORMAT,
    version: 1,
    date: date.toISOString(),
    mode,
    ok: stopped === undefined && groups.every(({ verdict }) => verdict === "holds"),
    ...(stopped !== undefined && { stopped }),
    ...totals(groups.flatMap(({ runs }) => runs)),
    groups,
  };
}

function totals(runs: readonly RunReport[]): { tokens: number; cost?: number } {
  const tokens = runs.reduce((sum, run) => sum + run.inputTokens + run.outputTokens, 0);
  const made = runs.filter(({ status }) => status !== "skipped");
  if (made.length === 0 || made.some(({ cost }) => cost === undefined)) return { tokens };
  return { tokens, cost: made.reduce((sum, { cost = 0 }) => sum + cost, 0) };
}

/** What changed for one case with one model since an earlier report. */
export interface EvalDifference {
  readonly file?: string;
  readonly case: string;
  readonly model: string;
  /** `same` if the verdict is the same; the share may still differ. */
  readonly change: "same" | "fixed" | "broken" | "new" | "gone";
  /** The share of passed runs now minus that of the earlier report. */
  readonly share?: number;
  readonly tokens?: number;
  readonly cost?: number;
}

/**
 * Compares a report with an earlier one. `gone` are cases that are only in the earlier report; a run that could not be
 * judged changes nothing. Throws if `earlier` is not a report.
 */
export function compareEvals(report: EvalReport, earlier: unknown): EvalDifference[] {
  if (!isReport(earlier)) throw new TypeError("The earlier report is not a report of agent eval.");
  const keyOf = ({ file, case: name, model }: EvalGroup): string => JSON.stringify([file, name, model]);
  const known = new Map(earlier.groups.map((group) => [keyOf(group), group]));
  const differences = report.groups.map((group): EvalDifference => {
    const before = known.get(keyOf(group));
    known.delete(keyOf(group));
    if (!before) return { ...identity(group), change: "new" };
    return {
      ...identity(group),
      change: changeOf(before.verdict, group.verdict),
      share: shareOf(group) - shareOf(before),
      tokens: perRun(group, group.tokens) - perRun(before, before.tokens),
      ...(group.cost !== undefined &&
        before.cost !== undefined && { cost: perRun(group, group.cost) - perRun(before, before.cost) }),
    };
  });
  return [
    ...differences,
    ...[...known.values()].map((group) => ({ ...identity(group), change: "gone" as const })),
  ];
}

function identity({ file, case: name, model }: EvalGroup): Pick<EvalDifference, "file" | "case" | "model"> {
  return { ...(file !== undefined && { file }), case: name, model };
}

function changeOf(before: EvalGroup["verdict"], now: EvalGroup["verdict"]): EvalDifference["change"] {
  if (before === now || before === "not judged" || now === "not judged") return "same";
  return now === "holds" ? "fixed" : "broken";
}

const shareOf = ({ passed, judged }: EvalGroup): number => (judged === 0 ? 0 : passed / judged);
const perRun = ({ runs }: EvalGroup, value: number): number => value / Math.max(1, runs.length);

function isReport(value: unknown): value is EvalReport {
  const { format, version, groups } = (value ?? {}) as Partial<EvalReport>;
  return (
    format === FORMAT &&
    version === 1 &&
    Array.isArray(groups) &&
    groups.every((group) => typeof group?.case === "string" && Array.isArray(group.runs))
  );
}
