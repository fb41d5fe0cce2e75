import { type AgentError, isAgentError } from "@agent/core";
import { check, checkOptions, invalidArgument, type OptionChecks } from "@agent/core/toolkit";
import type { Failures, Pause } from "../engine/run.js";

const SPREAD = 0.25;

/** What happens to a run when the model's server fails temporarily: overload, rate limit, lost connection. */
export interface OutagePolicy {
  /**
   * The maximum number of retries without a completed step in between, before the run fails. 0: it fails immediately.
   * Default 500.
   */
  readonly attempts?: number;
  /** The first delay; each further one is twice as long. Default 1 s. */
  readonly firstDelayMs?: number;
  /** The maximum delay, unless the server asks for a longer one. Default 5 minutes. */
  readonly maxDelayMs?: number;
  /**
   * How long a run retries, from the first failure after its last completed step, before it fails. Default 24 hours.
   */
  readonly deadlineMs?: number;
}

const DEFAULTS: Required<OutagePolicy> = {
  attempts: 500,
  firstDelayMs: 1000,
  maxDelayMs: 5 * 60_000,
  deadlineMs: 24 * 3_600_000,
};

const OPTIONS: OptionChecks<OutagePolicy> = {
  attempts: (name, value) => {
    if (!Number.isInteger(value) || (value as number) < 0) {
      throw invalidArgument(name, "a whole number of at least 0", value);
    }
  },
  firstDelayMs: check.positive,
  maxDelayMs: check.positive,
  deadlineMs: check.positive,
};

/** Throws `invalid_argument` for a policy with an invalid or unknown field. */
export function checkOutagePolicy(name: string, value: unknown): void {
  check.object(name, value);
  checkOptions(name, value as OutagePolicy, OPTIONS);
}

/** Whether this is a temporary failure of a model's server. */
export function mayPass(error: unknown): error is AgentError {
  return isAgentError(error, "provider_failed") && error.retryable === true;
}

// Longer than any deadline, but clocks and databases can still represent it.
const LONGEST_ASKED_MS = 365 * 24 * 3_600_000;

/** How long the model's server asks to wait. A provider may pass on what a server sent: any number, or none. */
export function askedMs({ retryAfterMs }: AgentError): number | undefined {
  return retryAfterMs !== undefined && retryAfterMs >= 0
    ? Math.min(retryAfterMs, LONGEST_ASKED_MS)
    : undefined;
}

/** How long a run waits after such a failure; `undefined` if it has to fail. */
export function pauseAfter(
  error: AgentError,
  earlier: Failures | undefined,
  policy: OutagePolicy,
  now = Date.now(),
): Pause | undefined {
  const { attempts, firstDelayMs, maxDelayMs, deadlineMs } = { ...DEFAULTS, ...policy };
  const failures = { count: (earlier?.count ?? 0) + 1, since: earlier?.since ?? now };
  if (failures.count > attempts) return undefined;
  const backoffMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (failures.count - 1));
  // Random within a quarter, so that many runs do not retry at the same moment; never before the server allows.
  const asked = askedMs(error);
  const ms =
    asked === undefined
      ? backoffMs * (1 - SPREAD * Math.random())
      : asked + Math.min(backoffMs, asked) * SPREAD * Math.random();
  if (now + ms > failures.since + deadlineMs) return undefined;
  return { ms: Math.ceil(ms), reason: { code: error.code, message: error.message }, failures };
}

/** Whether a run that waits for a failing model has no time left. */
export function isOverdue({ since }: Failures, policy: OutagePolicy, ms: number, now = Date.now()): boolean {
  return now + ms > since + (policy.deadlineMs ?? DEFAULTS.deadlineMs);
}
