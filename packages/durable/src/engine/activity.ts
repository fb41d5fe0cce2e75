import type { ActivityBucket } from "./engine.js";
import type { RunState, RunSummary } from "./run.js";

type MutableBucket = { -readonly [Key in keyof ActivityBucket]: ActivityBucket[Key] };

/** A bucket for each time interval from `since` until now. */
export function emptyBuckets(since: number, bucketMs: number): MutableBucket[] {
  const length = Math.max(1, Math.ceil((Date.now() - since) / bucketMs));
  return Array.from({ length }, (_, index) => ({
    at: since + index * bucketMs,
    done: 0,
    failed: 0,
    cancelled: 0,
    started: 0,
    averageWaitMs: 0,
    cost: 0,
  }));
}

/** The count of a bucket that a run which ended in this state belongs to. */
export function endedAs(state: RunState): "done" | "cancelled" | "failed" {
  return state === "done" || state === "cancelled" ? state : "failed";
}

/** Counts finished and started runs, by time interval. */
export function countActivity<
  Facts extends Pick<RunSummary, "state" | "createdAt" | "startedAt" | "endedAt" | "cost">,
>(
  runs: Iterable<Facts>,
  since: number,
  bucketMs: number,
  matches: (run: Facts) => boolean,
): ActivityBucket[] {
  const buckets = emptyBuckets(since, bucketMs);
  for (const run of runs) {
    if (!matches(run)) continue;
    const { state, createdAt, startedAt, endedAt, cost = 0 } = run;
    const started = buckets[Math.floor(((startedAt ?? -1) - since) / bucketMs)];
    if (started && startedAt !== undefined) {
      started.started++;
      started.averageWaitMs += (startedAt - createdAt - started.averageWaitMs) / started.started;
    }
    const ended = buckets[Math.floor(((endedAt ?? -1) - since) / bucketMs)];
    if (!ended) continue;
    ended[endedAs(state)]++;
    ended.cost += cost;
  }
  return buckets;
}
