import type { ClaimEnding, RunClaim } from "../engine/engine.js";

/** Traces the work on each claim. `traceRuns()` of `@agent/durable/otel` creates spans of it. */
export interface RunTracing {
  inClaim(claim: RunClaim, work: () => Promise<ClaimEnding>): Promise<ClaimEnding>;
}
