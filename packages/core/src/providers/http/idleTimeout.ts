import { LONGEST_TIMER_MS } from "@agent/internal";
import { linkedController } from "../../toolkit/abort.js";

// How long a server may send only keep-alive signs, as a multiple of `timeoutMs`.
const KEEP_ALIVE_PATIENCE = 12;

/** Aborts a request whose server sends nothing for too long. */
export interface IdleTimeout {
  readonly signal: AbortSignal;
  /** Why the timer aborted the request; `undefined` if it did not. */
  readonly expired: string | undefined;
  /**
   * Restarts the timer because data arrived. Keep-alive data (a comment, whitespace) restarts it for a limited time
   * only.
   */
  reset(isData?: boolean): void;
  stop(): void;
}

/** A signal that fires when `outer` does, or after `timeoutMs` without a call of `reset`. */
export function startIdleTimeout(timeoutMs: number, outer: AbortSignal): IdleTimeout {
  const { controller, release } = linkedController(outer);
  let expired: string | undefined;
  let keptAlive = false;
  let lastData = performance.now();
  const timer = setTimeout(
    () => {
      expired = keptAlive
        ? `the server sent nothing but keep-alive signs for ${KEEP_ALIVE_PATIENCE} times ${timeoutMs} ms (timeoutMs)`
        : `the server was silent for ${timeoutMs} ms (timeoutMs)`;
      controller.abort();
    },
    Math.min(timeoutMs, LONGEST_TIMER_MS),
  );
  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    reset: (isData = true) => {
      const now = performance.now();
      if (isData) lastData = now;
      keptAlive = now - lastData > timeoutMs * KEEP_ALIVE_PATIENCE;
      if (!keptAlive) timer.refresh();
    },
    stop: () => {
      clearTimeout(timer);
      release();
    },
  };
}
