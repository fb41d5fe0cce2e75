import { linkedController } from "../toolkit/abort.js";
import { LONGEST_TIMER_MS } from "../toolkit/timer.js";

/** Aborts a request that has gone quiet. */
export interface SilenceTimer {
  readonly signal: AbortSignal;
  /** Whether it was silence, not the caller, that ended the request. */
  readonly expired: boolean;
  /** Something arrived: the wait starts again. */
  heard(): void;
  stop(): void;
}

/** A signal that fires when `outer` does, or after `timeoutMs` without a call of `heard`. */
export function silenceTimer(timeoutMs: number, outer: AbortSignal): SilenceTimer {
  const { controller, release } = linkedController(outer);
  let expired = false;
  const timer = setTimeout(
    () => {
      expired = true;
      controller.abort();
    },
    Math.min(timeoutMs, LONGEST_TIMER_MS),
  );
  return {
    signal: controller.signal,
    get expired() {
      return expired;
    },
    heard: () => timer.refresh(),
    stop: () => {
      clearTimeout(timer);
      release();
    },
  };
}
