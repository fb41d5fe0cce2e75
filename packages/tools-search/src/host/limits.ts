import { LONGEST_TIMER_MS, onAbort } from "@agent/core/toolkit";
import { type Job, StalledError } from "./pool/pool.js";

export interface SearchLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Why a search stopped before everything was searched. */
export type Stopped =
  | { readonly reason: "deadline" }
  /** All requested results were found, and the time for counting the rest is over. */
  | { readonly reason: "counted" }
  | { readonly reason: "stalled"; readonly file: string };

/** Thrown inside a job that reached its deadline. */
class DeadlineError extends Error {}

/** Thrown inside a job that has all requested results. */
export class CountedEnoughError extends Error {}

/** Cancels the job at the deadline, which the result reports, or on abort, which rejects with the signal's reason. */
export async function withLimits(
  job: Job,
  { timeoutMs, signal }: SearchLimits,
  run: Promise<void>,
): Promise<Stopped | undefined> {
  const abort = (): void => job.cancel(abortError(signal));
  const timer = setTimeout(() => job.cancel(new DeadlineError()), Math.min(timeoutMs, LONGEST_TIMER_MS));
  const release = onAbort(signal, abort);
  try {
    if (signal?.aborted) abort();
    await run;
    return undefined;
  } catch (error) {
    // One part failed, so the rest of the job is not needed.
    job.cancel(error as Error);
    return stoppedBy(error);
  } finally {
    clearTimeout(timer);
    release();
  }
}

function abortError(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error("The search was aborted.");
}

function stoppedBy(error: unknown): Stopped {
  if (error instanceof DeadlineError) return { reason: "deadline" };
  if (error instanceof CountedEnoughError) return { reason: "counted" };
  if (error instanceof StalledError) return { reason: "stalled", file: fileAt(error) };
  throw error;
}

function fileAt({ task, place }: StalledError): string {
  if (task.kind === "range") return task.path;
  if (task.kind !== "scan") return "";
  const { labels, paths, shown } = task.batch;
  return labels?.split("\0")[place] ?? shown + (paths.split("\0")[place] ?? "");
}
