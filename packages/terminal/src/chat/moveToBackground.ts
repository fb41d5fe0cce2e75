import type { BackgroundJobs } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import type { CallLog } from "./callLog.js";

/** Moves the newest running command to the background. Resolves to a message for the user. */
export async function moveToBackground(log: CallLog, jobs: BackgroundJobs | undefined): Promise<string> {
  const call = log.running.findLast(({ pid }) => pid !== undefined);
  const moved = call?.pid !== undefined && (await jobs?.detachProcess?.(call.pid));
  return moved
    ? `#${call.number} ${escapeToLine(call.name)} continues in the background. /status lists it.`
    : "No command runs that could go on in the background.";
}
