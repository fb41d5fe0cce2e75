import type { Pool } from "pg";
import { circuitPause, modelScope, ratePause, scopesOf } from "../engine/modelLimits.js";
import type { Pause } from "../engine/run.js";

// Most tenants and models have no limit, and most models work, so calls need no query.
const REMEMBER_MS = 1000;

/** Limits on model calls: sliding windows and circuit breakers in the database, by its clock. */
export class ModelCalls {
  readonly #pool: Pool;
  readonly #s: string;
  /** Unlimited calls, by tenant and model, and how long that is cached. */
  readonly #free = new Map<string, number>();
  /** Models that had failed when they were last checked. */
  readonly #suspects = new Set<string>();

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
  }

  /** Called when a limit has changed. */
  forget(): void {
    this.#free.clear();
  }

  async take(tenant: string, model: string): Promise<Pause | undefined> {
    const key = JSON.stringify([tenant, model]);
    const now = performance.now();
    if ((this.#free.get(key) ?? -Infinity) > now) return undefined;
    const { rows } = await this.#pool.query<{
      wait_ms: number;
      cause: string | null;
      failures: number | null;
    }>({
      name: `take-model-${this.#s}`,
      text: `select * from ${this.#s}.take_model_call($1, $2)`,
      values: [scopesOf(tenant, model), model],
    });
    const { wait_ms = 0, cause = null, failures = null } = rows[0] ?? {};
    if (failures) this.#suspects.add(model);
    else this.#suspects.delete(model);
    if (failures === null) this.#remember(key, now);
    if (cause === "circuit") return circuitPause(model, wait_ms);
    return cause !== null && wait_ms > 0 ? ratePause(cause, wait_ms) : undefined;
  }

  async report(model: string, failure: { readonly retryAfterMs?: number } | undefined): Promise<void> {
    if (!failure && !this.#suspects.has(model)) return;
    if (failure) this.#suspects.add(model);
    else this.#suspects.delete(model);
    this.#free.clear();
    await this.#pool.query(`select ${this.#s}.report_model_call($1, $2, $3)`, [
      model,
      failure !== undefined,
      failure?.retryAfterMs ?? 0,
    ]);
  }

  async getRates(): Promise<Readonly<Record<string, number>>> {
    const prefix = modelScope("");
    const { rows } = await this.#pool.query<{ scope: string; per_minute: number }>(
      `select scope, per_minute from ${this.#s}.rate where starts_with(scope, $1) order by scope`,
      [prefix],
    );
    return Object.fromEntries(rows.map((row) => [row.scope.slice(prefix.length), row.per_minute]));
  }

  async setRate(target: string, perMinute: number | undefined): Promise<void> {
    await this.#pool.query(`select ${this.#s}.set_rate($1, $2)`, [modelScope(target), perMinute ?? null]);
    this.forget();
  }

  #remember(key: string, now: number): void {
    if (this.#free.size > 10_000) this.#free.clear();
    this.#free.set(key, now + REMEMBER_MS);
  }
}
