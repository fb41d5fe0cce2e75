import type { CallPreview, DescribedCall, FinishReason, TokenUsage, ToolCapability } from "@agent/core";
import type { JournalEntry } from "./engine.js";

/** The state of a run. The last four are final; `set_aside` is a run whose workers kept dying. */
export const RUN_STATES = [
  "queued",
  "running",
  "waiting",
  "done",
  "failed",
  "cancelled",
  "set_aside",
] as const;
export type RunState = (typeof RUN_STATES)[number];

const ENDED: ReadonlySet<RunState> = new Set(["done", "failed", "cancelled", "set_aside"]);

/** Whether a run in this state has finished, unless it is retried. */
export function isEnded(state: RunState): boolean {
  return ENDED.has(state);
}

/** A run as it is given to an engine: checked, with all defaults filled in. */
export interface NewRun {
  /** 1 to 100 letters, digits, `_` or `-`. Creating the same run again does nothing. */
  readonly id: string;
  /** The name of its definition. */
  readonly definition: string;
  /** The version of the definition's code when the run was started. */
  readonly version: string;
  readonly tenant: string;
  /** Only workers that have all of these labels claim the run. */
  readonly labels: readonly string[];
  /** Higher is claimed first, among runs of one tenant. */
  readonly priority: number;
  /** A JSON value. */
  readonly input: unknown;
  /** A title for lists of runs. */
  readonly title?: string;
  /** The W3C `traceparent` of the caller that started the run. */
  readonly trace?: string;
  /** No worker claims it before this time, in milliseconds since 1970. */
  readonly startAt?: number;
  /** The run begins with steps of another one: see `forkRun`. */
  readonly fork?: Fork;
}

/** The data a run takes over from another one. */
export interface Fork {
  readonly from: string;
  readonly journal: readonly JournalEntry[];
  readonly decisions: readonly DecidedApproval[];
  readonly messages: readonly string[];
}

/** A call that waits for a decision. */
export interface Approval {
  /** Identifies the call within the run, also when another worker continues the run. */
  readonly key: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  /** The targets and needs of the call: a decision is valid only for these. */
  readonly description: DescribedCall;
  /** A preview of the change, if the tool provides one. */
  readonly preview?: CallPreview;
}

/**
 * `"always"` allows the tool for the rest of the run, `{ always }` whatever the rule covers, such as `run_bash(npm test
 * *)`; the reason of a denial is sent to the model.
 */
export type Decision = "allow" | "always" | { readonly always: string } | { readonly deny: string };

/** A decision, and what was shown when it was given. */
export interface DecidedApproval {
  readonly key: string;
  readonly name: string;
  readonly decision: Decision;
  readonly shown?: DescribedCall;
  /** The token of the preview that was shown. */
  readonly basis?: string;
}

/** A decision about a waiting call, with what was shown. */
export function decided({ key, name, description, preview }: Approval, decision: Decision): DecidedApproval {
  const basis = preview?.basis;
  return { key, name, decision, shown: description, ...(basis !== undefined && { basis }) };
}

/** Temporary failures of a model's server since the last completed step of a run. */
export interface Failures {
  readonly count: number;
  /** When the first of them happened. */
  readonly since: number;
}

/** Why a run releases its worker for a time, and for how long. */
export interface Pause {
  readonly ms: number;
  readonly reason: RunError;
  readonly failures?: Failures;
  /** The model call that the run waits for is already reserved: it is not counted again. */
  readonly hasModelCall?: boolean;
}

/** The wait of a run that was started for later. */
export const SCHEDULED: RunError = { code: "scheduled", message: "The run was started for this time." };

/** The reason the model gets for a call that was not decided in time. */
export const EXPIRED = "No decision was made in time.";

/** The fields of a run that can be listed without reading its input and result. Times are milliseconds since 1970. */
export interface RunSummary extends Omit<NewRun, "input" | "startAt" | "fork"> {
  readonly state: RunState;
  /** How often the run was claimed: a write of an earlier claim is refused. */
  readonly epoch: number;
  /** How often a worker was lost with the run since it last completed a step. */
  readonly crashes: number;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** The worker that has, or last had, the run. */
  readonly worker?: string;
  /** Present while the run waits for a time and not for a decision: until when, and why. */
  readonly wait?: { readonly until: number; readonly reason: RunError };
  readonly failures?: Failures;
  /** A model call is reserved for the next claim. */
  readonly hasModelCall?: boolean;
  /** What waits for a decision. */
  readonly approvals: readonly Approval[];
  /** When calls that wait for a decision are denied. */
  readonly expiresAt?: number;
  readonly decisions: readonly DecidedApproval[];
  /** The messages sent to the run after its start, in order. */
  readonly messages: readonly string[];
  /** The run whose first steps it took over. */
  readonly forkedFrom?: string;
  /** Why it failed, was cancelled or set aside. */
  readonly error?: RunError;
  /** Set while the run is running and its cancellation was requested. */
  readonly cancelReason?: string;
  readonly usage?: TokenUsage;
  /** Its cost in dollars, if known. */
  readonly cost?: number;
}

export interface Run extends RunSummary {
  readonly input: unknown;
  /** Present when the state is `done`. */
  readonly result?: RunResult;
}

export interface RunError {
  readonly code: string;
  readonly message: string;
}

export interface RunResult {
  readonly text: string;
  readonly output?: unknown;
  readonly finishReason: FinishReason;
  readonly turns: number;
}

/** The limits of all runs of a tenant together, on all workers. Absent: no limit. */
export interface TenantLimits {
  /** The maximum number of concurrent runs. */
  readonly concurrency?: number;
  /** The maximum number of model calls per minute. */
  readonly modelCallsPerMinute?: number;
}
