import { AgentError } from "@agent/core";
import type { RunClaim } from "../engine/engine.js";
import type { Failures, Pause } from "../engine/run.js";
import type { ModelCallGate } from "../journal/steps.js";
import { isOverdue, mayPass, type OutagePolicy, pauseAfter } from "./outages.js";
import { sleep } from "./sleep.js";

// A wait this short is cheaper than giving the run to another worker.
const SHORT_WAIT_MS = 250;
const UNNAMED = "model";

/** Decides for one claim when a model may be asked, and what a failure means: the run waits without a worker, or fails. */
export class ModelCalls implements ModelCallGate {
  readonly #claim: RunClaim;
  readonly #policy: OutagePolicy;
  readonly #stop: AbortSignal;
  #failures: Failures | undefined;
  #pause: Pause | undefined;

  constructor(claim: RunClaim, policy: OutagePolicy, stop: AbortSignal) {
    this.#claim = claim;
    this.#policy = policy;
    this.#stop = stop;
    this.#failures = claim.run.failures;
  }

  /** Why the run has to wait, and how long. */
  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** A step was completed: failures before it no longer count. */
  progressed(): void {
    this.#failures = undefined;
  }

  /**
   * Resolves when the model may be asked. Rejects with `suspended` if the run has to wait longer than a moment and may
   * leave its worker: a call that cannot be repeated must not be left half-way.
   */
  async before(model = UNNAMED, mayLeave = true): Promise<void> {
    let pause = await this.#claim.takeModelCall(model);
    while (pause && !(mayLeave && !(pause.hasModelCall && pause.ms <= SHORT_WAIT_MS))) {
      await sleep(pause.ms, this.#stop);
      if (this.#claim.signal.aborted) throw this.#claim.signal.reason;
      if (pause.hasModelCall || this.#stop.aborted) return;
      pause = await this.#claim.takeModelCall(model);
    }
    if (!pause) return;
    const failures = this.#failures;
    if (failures && isOverdue(failures, this.#policy, pause.ms)) {
      throw new AgentError("provider_failed", gaveUp(pause.reason.message, failures));
    }
    throw this.#suspend({ ...pause, ...(failures && { failures }) });
  }

  async succeeded(model = UNNAMED): Promise<void> {
    await this.#claim.reportModelCall(model);
  }

  /** Resolves to the error that the agent gets for a failed call. */
  async failed(error: unknown, model = UNNAMED, mayLeave = true): Promise<unknown> {
    if (!mayPass(error) || this.#claim.signal.aborted) return error;
    const { retryAfterMs, status, requestId, provider } = error;
    await this.#claim.reportModelCall(model, retryAfterMs === undefined ? {} : { retryAfterMs });
    if (!mayLeave) return error;
    const pause = pauseAfter(error, this.#failures, this.#policy);
    if (pause) return this.#suspend(pause);
    if (!this.#failures) return error;
    return new AgentError(error.code, gaveUp(error.message, this.#failures), {
      cause: error,
      ...(status !== undefined && { status }),
      ...(requestId !== undefined && { requestId }),
      ...(provider !== undefined && { provider }),
    });
  }

  #suspend(pause: Pause): AgentError {
    this.#pause = pause;
    return new AgentError("suspended", `The run waits: ${pause.reason.message}`);
  }
}

function gaveUp(message: string, { count, since }: Failures): string {
  const times = count === 1 ? "once" : `${count} times`;
  return `${message} (it failed ${times} before, since ${new Date(since).toISOString()})`;
}
