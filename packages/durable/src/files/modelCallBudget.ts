const MINUTE_MS = 60_000;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Model calls of tenants in the last minute, as a token bucket that fills with the time the commands carry. */
export class ModelCallBudget {
  readonly #buckets = new Map<string, Bucket>();

  take(tenant: string, perMinute: number | undefined, at: number): boolean {
    if (perMinute === undefined) return true;
    const tokens = this.#tokens(tenant, perMinute, at);
    const isTaken = tokens >= 1;
    this.#buckets.set(tenant, { tokens: isTaken ? tokens - 1 : tokens, at });
    return isTaken;
  }

  waitMs(tenant: string, perMinute: number | undefined, at: number): number {
    if (perMinute === undefined) return 0;
    const tokens = this.#tokens(tenant, perMinute, at);
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * MINUTE_MS) / perMinute);
  }

  #tokens(tenant: string, perMinute: number, at: number): number {
    const bucket = this.#buckets.get(tenant) ?? { tokens: perMinute, at };
    // A clock that is set back adds no tokens; one that is set forward fills the bucket once.
    const passed = Math.max(0, at - bucket.at);
    return Math.min(perMinute, bucket.tokens + (passed * perMinute) / MINUTE_MS);
  }
}
