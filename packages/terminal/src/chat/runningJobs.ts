import type { BackgroundJob, BackgroundJobs } from "@agent/core";

/** The background work that has not ended. */
export function runningJobs(jobs: BackgroundJobs): readonly BackgroundJob[] {
  return jobs.list().filter(({ ended }) => ended === undefined);
}
