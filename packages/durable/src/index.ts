export type {
  ActivityBucket,
  ClaimEnding,
  ClaimHandler,
  EngineWorker,
  EngineWorkOptions,
  EventsOptions,
  JournalEntry,
  RunAccess,
  RunClaim,
  RunEngine,
  RunFilter,
  RunQuery,
  Spent,
  StopCode,
  WorkerInfo,
} from "./engine/engine.js";
export type {
  ClaimedEvent,
  FollowedEvent,
  LoggedEvent,
  RunEvent,
  StateChange,
  VersionEvent,
} from "./engine/events.js";
export {
  type Approval,
  type DecidedApproval,
  type Decision,
  type Failures,
  type Fork,
  isEnded,
  type NewRun,
  type Pause,
  RUN_STATES,
  type Run,
  type RunError,
  type RunResult,
  type RunState,
  type RunSummary,
  type TenantLimits,
} from "./engine/run.js";
export { nextTime, OVERLAPS, type Overlap, type Schedule, scheduleRun } from "./engine/schedule.js";
export { type StartOptions, startRun } from "./engine/startRun.js";
export { isStopped, StoppedError } from "./engine/stopped.js";
export { createFileEngine, type FileEngineOptions } from "./files/fileEngine.js";
export { type ForkOptions, forkRun, type RunStep, stepsOf } from "./journal/forkRun.js";
export {
  defineRun,
  type PreparedRun,
  type RunAgent,
  type RunContext,
  type RunDefinition,
} from "./worker/definition.js";
export type { OutagePolicy } from "./worker/outages.js";
export type { RunTracing } from "./worker/tracing.js";
export { startWorker, type WorkerOptions } from "./worker/worker.js";
