import { AgentError } from "@agent/core";
import { quote } from "@agent/core/toolkit";
import type {
  ActivityBucket,
  EventsOptions,
  JournalEntry,
  RunAccess,
  RunFilter,
  RunQuery,
} from "./engine.js";
import type { FollowedEvent } from "./events.js";
import type { Decision, NewRun, Run, RunState, RunSummary } from "./run.js";

/** The runs of one tenant in an engine. A run of another tenant is treated as one that does not exist. */
export class TenantRuns implements RunAccess {
  readonly #engine: RunAccess;
  readonly #tenant: string;

  constructor(engine: RunAccess, tenant: string) {
    this.#engine = engine;
    this.#tenant = tenant;
  }

  async create(run: NewRun): Promise<boolean> {
    if (run.tenant !== this.#tenant) {
      throw new AgentError(
        "invalid_argument",
        `tenant must be ${quote(this.#tenant)} here, got ${quote(run.tenant)}.`,
      );
    }
    return await this.#engine.create(run);
  }

  async get(id: string): Promise<Run | undefined> {
    const run = await this.#engine.get(id);
    return run?.tenant === this.#tenant ? run : undefined;
  }

  async list(query: RunQuery = {}): Promise<readonly RunSummary[]> {
    return await this.#engine.list({ ...query, ...this.#only(query) });
  }

  async count(query: RunFilter = {}): Promise<Readonly<Record<RunState, number>>> {
    return await this.#engine.count({ ...query, ...this.#only(query) });
  }

  async activity(
    since: number,
    bucketMs: number,
    query: Pick<RunQuery, "tenant"> = {},
  ): Promise<readonly ActivityBucket[]> {
    return await this.#engine.activity(since, bucketMs, this.#only(query));
  }

  async *events(id: string, options: EventsOptions = {}): AsyncIterable<FollowedEvent> {
    if (await this.get(id)) yield* this.#engine.events(id, options);
  }

  async decide(id: string, key: string, decision: Decision): Promise<boolean> {
    return (await this.get(id)) !== undefined && (await this.#engine.decide(id, key, decision));
  }

  async cancel(id: string, reason: string): Promise<boolean> {
    return (await this.get(id)) !== undefined && (await this.#engine.cancel(id, reason));
  }

  async retry(id: string): Promise<boolean> {
    return (await this.get(id)) !== undefined && (await this.#engine.retry(id));
  }

  async send(id: string, message: string): Promise<boolean> {
    return (await this.get(id)) !== undefined && (await this.#engine.send(id, message));
  }

  async journal(id: string): Promise<readonly JournalEntry[]> {
    return (await this.get(id)) === undefined ? [] : await this.#engine.journal(id);
  }

  /** The filter for this tenant. Throws for a query that names another one: an empty list would hide the mistake. */
  #only({ tenant = this.#tenant }: Pick<RunQuery, "tenant">): { readonly tenant: string } {
    if (tenant === this.#tenant) return { tenant };
    throw new AgentError(
      "invalid_argument",
      `tenant must be ${quote(this.#tenant)} here, got ${quote(tenant)}.`,
    );
  }
}
