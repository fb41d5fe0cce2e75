import type { TokenUsage } from "@agent/core";
import type {
  Approval,
  Decision,
  Fork,
  NewRun,
  Pause,
  RunError,
  RunState,
  RunSummary,
  TenantLimits,
} from "../engine/run.js";
import type { Schedule } from "../engine/schedule.js";
import type { Base } from "./archive.js";

/** The format of the directory. A program that supports only lower ones refuses it. */
export const FORMAT = 1;

/**
 * The commands that processes write to the shared log. Whether a command takes effect depends on the commands before
 * it, in the same way for every process that reads the log (`RunTable.apply`): no other locking is needed.
 */
export type Command =
  | { readonly op: "format"; readonly version: number }
  /** The runs that had finished when the log was started, after a rewrite. */
  | ({ readonly op: "base" } & Base)
  /** An unfinished run at the time of the rewrite, and its row in the base. */
  | { readonly op: "run"; readonly row: number; readonly run: RunSummary; readonly resumed: boolean }
  | {
      readonly op: "create";
      readonly at: number;
      readonly run: Omit<NewRun, "input" | "fork">;
      /** What the run takes over besides the journal, which is in a file. */
      readonly fork?: Omit<Fork, "journal">;
    }
  | {
      readonly op: "claim";
      readonly at: number;
      readonly id: string;
      readonly epoch: number;
      readonly worker: string;
    }
  /** The worker of this claim was lost. */
  | {
      readonly op: "crash";
      readonly at: number;
      readonly id: string;
      readonly epoch: number;
      readonly maxCrashes: number;
      readonly reason: string;
      /** The claim had completed a step. */
      readonly progressed?: boolean;
    }
  | {
      readonly op: "end";
      readonly at: number;
      readonly id: string;
      readonly epoch: number;
      readonly state: Exclude<RunState, "running" | "set_aside">;
      readonly approvals?: readonly Approval[];
      readonly expiresMs?: number;
      readonly pause?: Pause;
      readonly error?: RunError;
      readonly messages?: number;
      readonly usage?: TokenUsage;
      readonly cost?: number;
    }
  | {
      readonly op: "decide";
      readonly at: number;
      readonly id: string;
      readonly key: string;
      readonly decision: Decision;
    }
  | { readonly op: "cancel"; readonly at: number; readonly id: string; readonly reason: string }
  | { readonly op: "retry"; readonly at: number; readonly id: string }
  | { readonly op: "send"; readonly at: number; readonly id: string; readonly message: string }
  | { readonly op: "pause"; readonly tenant: string; readonly paused: boolean }
  | { readonly op: "schedule"; readonly schedule: Schedule }
  | { readonly op: "unschedule"; readonly id: string }
  | {
      readonly op: "advance";
      readonly id: string;
      readonly from: number;
      readonly next: Pick<Schedule, "nextAt" | "last">;
    }
  | { readonly op: "forget"; readonly ids: readonly string[] }
  /** Queues the runs whose time to continue has come. */
  | { readonly op: "wake"; readonly at: number }
  | { readonly op: "limits"; readonly at: number; readonly tenant: string; readonly limits: TenantLimits }
  | { readonly op: "rate"; readonly at: number; readonly target: string; readonly perMinute?: number }
  /** The state of a limit, with the calls that count against it, after a rewrite. */
  | {
      readonly op: "calls";
      readonly scope: string;
      readonly perMinute: number;
      readonly times: readonly number[];
    }
  | { readonly op: "model"; readonly at: number; readonly tenant: string; readonly model: string }
  | {
      readonly op: "outcome";
      readonly at: number;
      readonly model: string;
      readonly failure?: { readonly retryAfterMs?: number };
    }
  /** Later commands have no effect: the next log continues from here. */
  | { readonly op: "seal" };
