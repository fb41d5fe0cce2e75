import type { BackgroundJobs } from "@agent/core";

/** Ends what tools left running in the background. */
export async function endJobs(jobs: BackgroundJobs): Promise<void> {
  const running = jobs.list().filter(({ ended }) => ended === undefined);
  await Promise.all(running.map(({ id }) => jobs.end(id)));
}
