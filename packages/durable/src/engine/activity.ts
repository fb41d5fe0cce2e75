import type { ActivityBucket } from "./engine.js";
import type { RunSummary } from "./run.js";

/** Counts what ended and what was started, in stretches of time. */
export function countActivity(
  runs: Iterable<Pick<RunSummary, "state" | "createdAt" | "startedAt" | "endedAt">>,
  since: number,
  bucketMs: number,
): ActivityBucket[] {
  const buckets: { -readonly [Key in keyof ActivityBucket]: ActivityBucket[Key] }[] = [];
  const count = Math.max(1, Math.ceil((Date.now() - since) / bucketMs));
  for (let index = 0; index < count; index++) {
    const at = since + index * bucketMs;
    buckets.push({ at, done: 0, failed: 0, cancelled: 0, started: 0, averageWaitMs: 0 });
  }
  for (const { state, createdAt, startedAt, endedAt } of runs) {
    const started = buckets[Math.floor(((startedAt ?? -1) - since) / bucketMs)];
    if (started && startedAt !== undefined) {
      started.started++;
      started.averageWaitMs += (startedAt - createdAt - started.averageWaitMs) / started.started;
    }
    const ended = buckets[Math.floor(((endedAt ?? -1) - since) / bucketMs)];
    if (!ended || endedAt === undefined) continue;
    if (state === "done") ended.done++;
    else if (state === "cancelled") ended.cancelled++;
    else ended.failed++;
  }
  return buckets;
}
