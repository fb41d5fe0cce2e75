import type { ClaimEnding, RunClaim } from "../engine/engine.js";

/** Sees the work on each claim. `traceRuns()` of `@agent/durable/otel` makes spans of it. */
export interface RunTracing {
  inClaim(claim: RunClaim, work: () => Promise<ClaimEnding>): Promise<ClaimEnding>;
}
