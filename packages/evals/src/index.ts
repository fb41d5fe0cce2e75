export {
  defineEval,
  type EvalCase,
  type EvalPolicy,
  type EvalSetup,
  type EvalWorkspace,
} from "./defineEval.js";
export type { CallMatch, EvalCall, EvalRun, ExitOptions, ExitResult } from "./evalRun.js";
export { formatEvals } from "./format.js";
export { recordedModels } from "./recordings.js";
export {
  compareEvals,
  type EvalDifference,
  type EvalGroup,
  type EvalReport,
  type RunReport,
} from "./report.js";
export type { RunOutcome, RunStatus } from "./runCase.js";
export { type EvalModel, type EvalProgress, type RunEvalsOptions, runEvals, SCRIPTED } from "./runEvals.js";
export { wilsonInterval } from "./wilson.js";
