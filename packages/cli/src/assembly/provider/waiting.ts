import { setTimeout as sleep } from "node:timers/promises";
import { type AgentError, type ChatProvider, isAgentError, wrapProvider } from "@agent/core";

const TOO_MANY_REQUESTS = 429;
// The waits for a server that does not say when its limit ends.
const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 15 * 60_000;
// A server that says "now" and refuses again must not be asked without a pause.
const SHORTEST_WAIT_MS = 100;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for a usage limit of the server to end, up to `waitMs` for one request, and asks again. Each wait is reported as a
 * retry with its length, so that a display can count down; an abort ends it.
 */
export function waitForUsageLimit(provider: ChatProvider, waitMs: number): ChatProvider {
  return wrapProvider(provider, async (request, ask) => {
    const until = Date.now() + waitMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(request);
      } catch (error) {
        if (!isUsageLimit(error) || request.signal.aborted) throw error;
        const backoffMs = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS);
        const wantedMs = Math.max(error.retryAfterMs || backoffMs, SHORTEST_WAIT_MS);
        const delayMs = Math.min(wantedMs, LONGEST_TIMER_MS);
        if (Date.now() + delayMs > until) throw error;
        const time = new Date(Date.now() + delayMs).toLocaleTimeString("en-GB", {
          hour: "2-digit",
          minute: "2-digit",
        });
        request.onRetry?.({ attempt, delayMs, reason: `${error.message} (waiting until ${time})` });
        await sleep(delayMs, undefined, { signal: request.signal });
      }
    }
  });
}

/** A server that refuses for a time, not an account without credit. */
function isUsageLimit(error: unknown): error is AgentError {
  return (
    isAgentError(error, "provider_failed") &&
    error.retryable === true &&
    (error.status === TOO_MANY_REQUESTS || error.retryAfterMs !== undefined)
  );
}
