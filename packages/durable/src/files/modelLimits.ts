import { CIRCUIT, circuitPause, modelScope, ratePause, scopesOf, windowOf } from "../engine/modelLimits.js";
import type { Pause } from "../engine/run.js";

// A command that is this much older than the previous one was written after the system clock was set back.
const CLOCK_STEP_MS = 1000;

interface Rate {
  readonly perMinute: number;
  /** The times of the last calls, made or reserved, as many as fit into a window. Never decreases. */
  readonly times: number[];
}

interface Health {
  readonly failures: number;
  readonly openUntil: number;
  /** One call tries whether the model works again. */
  readonly isProbed: boolean;
}

/** The limits on model calls: sliding windows and circuit breakers, by the timestamps of commands. */
export class ModelLimits {
  readonly #rates = new Map<string, Rate>();
  readonly #health = new Map<string, Health>();
  #at = 0;

  /** The limits of models, by target. */
  get rates(): Readonly<Record<string, number>> {
    const prefix = modelScope("");
    const models = [...this.#rates].filter(([scope]) => scope.startsWith(prefix));
    return Object.fromEntries(
      models.map(([scope, { perMinute }]) => [scope.slice(prefix.length), perMinute]),
    );
  }

  /** Past calls count under the new limit, reserved ones do not: their runs ask again. */
  setRate(scope: string, perMinute: number | undefined, at: number): void {
    const times = (this.#rates.get(scope)?.times ?? []).filter((time) => time <= at);
    if (perMinute === undefined) this.#rates.delete(scope);
    else this.#rates.set(scope, { perMinute, times });
  }

  /** Whether `take` would change anything. */
  concerns(tenant: string, model: string): boolean {
    return this.isSuspect(model) || scopesOf(tenant, model).some((scope) => this.#rates.has(scope));
  }

  /** Whether the model has failed since it last answered. */
  isSuspect(model: string): boolean {
    return this.#health.has(model);
  }

  take(tenant: string, model: string, at: number): Pause | undefined {
    this.#follow(at);
    const health = this.#health.get(model);
    if (health && health.failures >= CIRCUIT.openAfter) {
      if (health.openUntil > at) return circuitPause(model, health.openUntil - at);
      this.#health.set(model, { ...health, openUntil: at + CIRCUIT.probeMs, isProbed: true });
    }
    let last = { scope: "", due: at };
    for (const scope of scopesOf(tenant, model)) {
      const due = this.#reserve(scope, at);
      if (due > last.due) last = { scope, due };
    }
    return last.due > at ? ratePause(last.scope, last.due - at) : undefined;
  }

  report(model: string, failure: { readonly retryAfterMs?: number } | undefined, at: number): void {
    if (!failure) {
      this.#health.delete(model);
      return;
    }
    const health = this.#health.get(model) ?? { failures: 0, openUntil: 0, isProbed: false };
    // Calls that were in progress when the circuit opened fail, too: they are not counted again.
    if (health.openUntil > at && !health.isProbed) return;
    const failures = health.failures + 1;
    const over = failures - CIRCUIT.openAfter;
    const openMs = Math.max(
      Math.min(CIRCUIT.longestOpenMs, CIRCUIT.firstOpenMs * 2 ** over),
      failure.retryAfterMs ?? 0,
    );
    this.#health.set(model, { failures, openUntil: over >= 0 ? at + openMs : 0, isProbed: false });
  }

  /** The commands for a new log: the limits, with the calls that count against them. */
  *snapshot(): Iterable<{
    readonly scope: string;
    readonly perMinute: number;
    readonly times: readonly number[];
  }> {
    for (const [scope, { perMinute, times }] of this.#rates) yield { scope, perMinute, times };
  }

  restore(scope: string, perMinute: number, times: readonly number[]): void {
    this.#rates.set(scope, { perMinute, times: [...times] });
  }

  /** When the next call may be made; it is counted for then. */
  #reserve(scope: string, at: number): number {
    const rate = this.#rates.get(scope);
    if (!rate) return at;
    const { calls, ms } = windowOf(rate.perMinute);
    const before = rate.times.at(-calls);
    const due = before === undefined ? at : Math.max(at, before + ms);
    rate.times.push(due);
    // Not after each call: removing from the front moves all others.
    if (rate.times.length > 2 * calls + 100) rate.times.splice(0, rate.times.length - calls);
    return due;
  }

  /** After the clock was set back, times in the future would block calls for as long as it was set back. */
  #follow(at: number): void {
    if (at < this.#at - CLOCK_STEP_MS) {
      for (const { times } of this.#rates.values()) while ((times.at(-1) ?? 0) > at) times.pop();
    }
    this.#at = at;
  }
}
