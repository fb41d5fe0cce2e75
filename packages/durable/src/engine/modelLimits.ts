import type { Pause } from "./run.js";

const MINUTE_MS = 60_000;

/** The circuit breaker of a model: how many failures in a row open it, and for how long. */
export const CIRCUIT = {
  openAfter: 10,
  firstOpenMs: 2000,
  longestOpenMs: 60_000,
  /** How long the single call that tries a failing model may take before another one tries. */
  probeMs: 10_000,
};

/** The scopes of the limits that a model call counts against. */
export function scopesOf(tenant: string, model: string): readonly string[] {
  const [provider = ""] = model.split("/", 1);
  return [tenantScope(tenant), ...new Set(["*", provider, model].map(modelScope))];
}

export function tenantScope(tenant: string): string {
  return `tenant:${tenant}`;
}

export function modelScope(target: string): string {
  return `model:${target}`;
}

/** How many calls fit into which period: one in two minutes for half a call per minute. */
export function windowOf(perMinute: number): { readonly calls: number; readonly ms: number } {
  const calls = Math.max(1, Math.floor(perMinute));
  return { calls, ms: (MINUTE_MS * calls) / perMinute };
}

export function ratePause(scope: string, ms: number): Pause {
  const [kind, ...rest] = scope.split(":");
  const name = rest.join(":");
  const owner = kind === "tenant" ? `of tenant "${name}"` : name === "*" ? "of all runs" : `to ${name}`;
  const message = `The limit on model calls ${owner} is reached.`;
  return { ms: Math.ceil(ms), reason: { code: "rate_limited", message }, hasModelCall: true };
}

/** Spread over twice the time: many runs wait for one model, and one call is enough to try it. */
export function circuitPause(model: string, ms: number): Pause {
  const message = `${model} keeps failing: no run asks it for now.`;
  return { ms: Math.ceil(ms * (1 + Math.random())), reason: { code: "circuit_open", message } };
}
