import { LONGEST_TIMER_MS } from "@agent/internal";
import { abortedError } from "../../errors.js";
import { orAborted } from "../../toolkit/abort.js";
import type { ProviderRetry } from "../interface.js";

/**
 * Whether a retry can help: `once` for a failure that rarely goes away, `later` for one that may pass but is not worth
 * a retry now, such as a server that stayed silent for minutes.
 */
export type Retryable = boolean | "once" | "later";

/** A failure of one attempt, with what is needed to decide about the next. */
export class AttemptError extends Error {
  readonly retryable: Retryable;
  /** The wait the server asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Whether the conversation is too long for the model. */
  readonly overflow: boolean;
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** The server's own id of the request. */
  readonly requestId: string | undefined;

  constructor(
    message: string,
    options: {
      retryable: Retryable;
      retryAfterMs?: number | undefined;
      overflow?: boolean;
      status?: number | undefined;
      requestId?: string | undefined;
      cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.overflow = options.overflow ?? false;
    this.status = options.status;
    this.requestId = options.requestId;
  }
}

/** The error for a stream that ended before its answer did. The request is repeated. */
export function incompleteAnswer(): AttemptError {
  return new AttemptError("the stream ended before the answer was complete", { retryable: true });
}

export interface RetryPolicy {
  readonly maxRetries: number;
  /** The first delay; each further one is twice as long. */
  readonly baseDelayMs: number;
  /** The maximum delay. If the server asks for more, the request fails immediately with that reason. */
  readonly maxDelayMs: number;
}

/**
 * Runs `attempt` until it succeeds, fails permanently, or the retries are used up. Throws the last `AttemptError`, or
 * an `aborted` error as soon as the signal fires, including during a delay.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
  signal: AbortSignal,
  onRetry?: (retry: ProviderRetry) => void,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw abortedError(signal);
      if (!(error instanceof AttemptError) || failures > mostRetries(error, policy)) throw error;
      const delayMs = error.retryAfterMs ?? backoff(failures, policy);
      if (delayMs > policy.maxDelayMs) {
        const seconds = Math.round(delayMs / 1000);
        throw new AttemptError(
          `${error.message} (the server asks to wait ${seconds} s, longer than maxRetryDelayMs allows)`,
          {
            retryable: "later",
            retryAfterMs: delayMs,
            status: error.status,
            requestId: error.requestId,
            cause: error,
          },
        );
      }
      onRetry?.({ attempt: failures, delayMs, reason: error.message });
      await wait(Math.min(delayMs, LONGEST_TIMER_MS), signal);
    }
  }
}

/** Rejects with an `aborted` error as soon as the signal fires. */
async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await orAborted(passed, signal).finally(() => clearTimeout(timer));
}

function mostRetries({ retryable }: AttemptError, { maxRetries }: RetryPolicy): number {
  if (retryable === "once") return Math.min(1, maxRetries);
  return retryable === true ? maxRetries : 0;
}

/** Doubles each time, plus up to a quarter at random, so that many clients do not retry at the same moment. */
function backoff(failures: number, policy: RetryPolicy): number {
  const wait = policy.baseDelayMs * 2 ** (failures - 1);
  return Math.min(policy.maxDelayMs, Math.round(wait * (1 - Math.random() / 4)));
}

/** The delay a response asks for: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMs(headers: Headers | undefined): number | undefined {
  const milliseconds = Number(headers?.get("retry-after-ms") || Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const value = headers?.get("retry-after");
  if (!value) return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1000;
  // An HTTP date has a time of day. `Date.parse` alone would also accept "-5" or "soon 5".
  const date = /\d:\d\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
