import type { AgentEvent } from "@agent/core";
import type { RunSummary } from "./run.js";

/** An event of a run: of its agent, or of the run itself. */
export type RunEvent = AgentEvent | ClaimedEvent | VersionEvent;

/**
 * A worker claimed the run. From the second time on it continues where an earlier worker stopped: discard text since
 * the last tool call, since that answer is requested again.
 */
export interface ClaimedEvent {
  readonly type: "claimed";
  readonly epoch: number;
  readonly worker: string;
}

/** The run continues with code of another version than before. */
export interface VersionEvent {
  readonly type: "version";
  readonly from: string;
  readonly to: string;
}

/** One entry of a run's event log. */
export interface LoggedEvent {
  /** Pass it as `after` to continue reading after this event. */
  readonly cursor: string;
  readonly at: number;
  readonly epoch: number;
  readonly event: RunEvent;
}

/** The run's state has changed. Followers get it between events; it is not an entry of the log. */
export interface StateChange {
  readonly cursor: string;
  readonly run: RunSummary;
}

export type FollowedEvent = LoggedEvent | StateChange;
