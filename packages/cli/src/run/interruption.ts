import { LONGEST_TIMER_MS } from "@agent/internal";
import { ENDING_SIGNALS, SIGNAL_EXITS } from "@agent/terminal/host";
import { EXIT } from "../process/exitCodes.js";
import type { Stop } from "./outcome.js";

/** Stops a run from outside: a signal, the time limit, a closed pipe. */
export interface Interruption {
  readonly signal: AbortSignal;
  readonly stop: Stop | undefined;
  /** Removes the handlers. */
  release(): void;
}

/**
 * The first signal aborts and lets the run clean up; the second terminates the process immediately, as without a
 * handler.
 */
export function watchInterruption(timeoutMs: number | undefined): Interruption {
  const controller = new AbortController();
  let stop: Stop | undefined;
  const halt = (why: Stop): void => {
    stop ??= why;
    controller.abort();
  };
  const handlers = ENDING_SIGNALS.map((name) => {
    const handler = (): void => {
      if (controller.signal.aborted) {
        release();
        process.kill(process.pid, name);
      }
      halt({ exitCode: SIGNAL_EXITS[name], message: "Interrupted." });
    };
    process.on(name, handler);
    return [name, handler] as const;
  });
  // The pipe is closed. A reader that stops early ("agent … | head") is not a failure; whether this is one is decided
  // when the program exits.
  const onError = (): void => halt({ exitCode: EXIT.done, message: "" });
  process.stdout.on("error", onError);
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(
          () =>
            halt({
              exitCode: EXIT.timeout,
              message: `Stopped after ${timeoutMs} ms, the time limit of the run.`,
            }),
          Math.min(timeoutMs, LONGEST_TIMER_MS),
        );
  const release = (): void => {
    clearTimeout(timer);
    for (const [name, handler] of handlers) process.off(name, handler);
  };
  return {
    signal: controller.signal,
    get stop() {
      return stop;
    },
    release,
  };
}
