import type { StopCode } from "./engine.js";

const MESSAGES: Readonly<Record<StopCode, string>> = {
  lost: "The run is no longer this worker's: another one may have taken it.",
  cancelled: "The run was cancelled.",
  closing: "The worker is closing; the run continues elsewhere.",
};

/**
 * Stops the work on a run without ending the run. For the agent it is an `AgentError` of code `suspended`: no tool can
 * turn it into a result, and the message can be continued later.
 */
export class StoppedError extends Error {
  override readonly name = "AgentError";
  readonly code = "suspended";
  readonly stop: StopCode;

  constructor(stop: StopCode, options: { readonly message?: string; readonly cause?: unknown } = {}) {
    super(options.message ?? MESSAGES[stop], options.cause === undefined ? {} : { cause: options.cause });
    this.stop = stop;
  }
}

/** Returns whether the error is a `StoppedError` of any copy of this package. */
export function isStopped(error: unknown): error is StoppedError {
  return error instanceof Error && "stop" in error && "code" in error && error.code === "suspended";
}
