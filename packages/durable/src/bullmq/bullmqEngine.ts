import { AgentError } from "@agent/core";
import { check, checkOptions, errorMessage, type OptionChecks } from "@agent/core/toolkit";
import type { Pool } from "pg";
import type {
  ActivityBucket,
  ClaimHandler,
  EngineWorker,
  EngineWorkOptions,
  EventsOptions,
  JournalEntry,
  RunAccess,
  RunEngine,
  RunFilter,
  RunQuery,
  WorkerInfo,
} from "../engine/engine.js";
import type { FollowedEvent } from "../engine/events.js";
import type { Decision, NewRun, Run, RunState, RunSummary, TenantLimits } from "../engine/run.js";
import { checkSameRun } from "../engine/sameRun.js";
import type { Schedule } from "../engine/schedule.js";
import { TenantRuns } from "../engine/tenantRuns.js";
import { Appends } from "./appends.js";
import { BullmqWorker } from "./bullmqWorker.js";
import { Dispatcher } from "./dispatcher.js";
import { clientConfig, loadPostgres, postgresTickets, redisTickets } from "./drivers.js";
import { Leases } from "./leases.js";
import { ModelCalls } from "./modelCalls.js";
import { cancelTopic, Notices } from "./notices.js";
import { readEvents } from "./postgresEvents.js";
import { RunQueries } from "./runQueries.js";
import { type Change, RunStore } from "./runStore.js";
import { Schedules } from "./schedules.js";
import { checkSchemaName, migrate } from "./schema.js";
import { type TicketBackend, Tickets } from "./tickets.js";
import { CLOSE_WITHIN_MS, within } from "./within.js";
import { Workers } from "./workers.js";

const DEFAULTS = { schema: "agent_runs", maxConnections: 4, timeoutMs: 30_000 };

export interface BullmqEngineOptions {
  /** The database that holds runs, journals and events: `postgres://user:password@host:5432/name`. */
  readonly postgres: string;
  /** The Redis or Valkey that BullMQ uses: `redis://host:6379`. Default: BullMQ uses Postgres, too. */
  readonly redis?: string;
  /** The schema of the tables. Made, and brought up to date, when the engine is opened. Default `agent_runs`. */
  readonly schema?: string;
  /** Connections of this process to Postgres, besides one that listens. Default 4. */
  readonly maxConnections?: number;
  /** How long a server may take to answer before its connection is given up, and another is made. Default 30 s. */
  readonly timeoutMs?: number;
  /** Called with transient faults, such as a server that restarts. */
  readonly onFault?: (error: unknown) => void;
}

const OPTIONS: OptionChecks<BullmqEngineOptions> = {
  postgres: check.text,
  redis: check.text,
  schema: check.text,
  maxConnections: check.positive,
  timeoutMs: check.positive,
  onFault: check.function,
};

/**
 * Runs for any number of machines: BullMQ hands them out, Postgres holds them. Needs the packages `bullmq` and `pg`, and
 * `ioredis` with Redis. Rejects if a server cannot be reached or was written by a newer version.
 */
export async function createBullmqEngine(options: BullmqEngineOptions): Promise<RunEngine> {
  checkOptions("createBullmqEngine", options, OPTIONS);
  const { postgres, redis, schema = DEFAULTS.schema, onFault = () => undefined } = options;
  const timeoutMs = options.timeoutMs ?? DEFAULTS.timeoutMs;
  check.text("postgres", postgres);
  checkSchemaName(schema);
  const pg = await loadPostgres();
  const config = clientConfig(postgres, timeoutMs);
  const pool = new pg.Pool({
    ...config,
    max: options.maxConnections ?? DEFAULTS.maxConnections,
    // All queries are short. Postgres would compile (JIT) those it takes for long, which takes longer than running them.
    onConnect: async (client) => {
      await client.query("set jit = off");
    },
  });
  // An idle connection that is cut would end the process otherwise.
  pool.on("error", onFault);
  try {
    await migrate(pool, schema);
    const backend = await (redis === undefined
      ? postgresTickets(config, `${schema}_queue`)
      : redisTickets(redis, schema, timeoutMs));
    const notices = new Notices(pool, () => new pg.Client(config), schema, onFault);
    return new BullmqEngine(pool, schema, backend, notices, onFault);
  } catch (error) {
    await pool.end();
    if (error instanceof AgentError) throw error;
    throw new AgentError("invalid_argument", `The runs in Postgres cannot be used: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

class BullmqEngine implements RunEngine {
  readonly #pool: Pool;
  readonly #schema: string;
  readonly #backend: TicketBackend & { close(): void };
  readonly #notices: Notices;
  readonly #onFault: (error: unknown) => void;
  readonly #store: RunStore;
  readonly #queries: RunQueries;
  readonly #appends: Appends;
  readonly #leases: Leases;
  readonly #tickets: Tickets;
  readonly #dispatcher: Dispatcher;
  readonly #modelCalls: ModelCalls;
  readonly #schedules: Schedules;
  readonly #workerList: Workers;
  readonly #workers = new Set<EngineWorker>();

  constructor(
    pool: Pool,
    schema: string,
    backend: TicketBackend & { close(): void },
    notices: Notices,
    onFault: (error: unknown) => void,
  ) {
    this.#pool = pool;
    this.#schema = schema;
    this.#backend = backend;
    this.#notices = notices;
    this.#onFault = onFault;
    this.#store = new RunStore(pool, schema);
    this.#queries = new RunQueries(pool, schema);
    this.#appends = new Appends(pool, schema);
    this.#leases = new Leases(pool, schema);
    this.#tickets = new Tickets(backend, schema, onFault);
    this.#dispatcher = new Dispatcher(this.#tickets, this.#store, this.#leases, notices, onFault);
    this.#modelCalls = new ModelCalls(pool, schema);
    this.#schedules = new Schedules(pool, schema);
    this.#workerList = new Workers(pool, schema);
  }

  async create(run: NewRun): Promise<boolean> {
    for (;;) {
      if (await this.#apply(this.#store.create(run), run.id)) return true;
      const existing = await this.get(run.id);
      // It may have been removed in between.
      if (!existing) continue;
      checkSameRun(run, existing);
      return false;
    }
  }

  forTenant(tenant: string): RunAccess {
    return new TenantRuns(this, tenant);
  }

  get(id: string): Promise<Run | undefined> {
    return this.#queries.get(id);
  }

  list(query: RunQuery = {}): Promise<readonly RunSummary[]> {
    return this.#queries.list(query);
  }

  count(query: RunFilter = {}): Promise<Readonly<Record<RunState, number>>> {
    return this.#queries.count(query);
  }

  activity(
    since: number,
    bucketMs: number,
    query: Pick<RunQuery, "tenant"> = {},
  ): Promise<readonly ActivityBucket[]> {
    return this.#queries.activity(since, bucketMs, query);
  }

  events(id: string, options: EventsOptions = {}): AsyncIterable<FollowedEvent> {
    const parts = { pool: this.#pool, schema: this.#schema, queries: this.#queries, notices: this.#notices };
    return readEvents(id, parts, options);
  }

  async decide(id: string, key: string, decision: Decision): Promise<boolean> {
    return await this.#apply(this.#store.decide(id, key, decision), id);
  }

  async cancel(id: string, reason: string): Promise<boolean> {
    const isCancelled = await this.#apply(this.#store.cancel(id, reason), id);
    if (isCancelled) this.#notices.send(cancelTopic(id));
    return isCancelled;
  }

  async retry(id: string): Promise<boolean> {
    return await this.#apply(this.#store.retry(id), id);
  }

  async send(id: string, message: string): Promise<boolean> {
    const isSent = await this.#apply(this.#store.send(id, message), id);
    // Its worker looks at the run.
    if (isSent) this.#notices.send(cancelTopic(id));
    return isSent;
  }

  journal(id: string): Promise<readonly JournalEntry[]> {
    return this.#queries.journal(id);
  }

  async setPaused(tenant: string, isPaused: boolean): Promise<void> {
    await this.#store.setPaused(tenant, isPaused);
    this.#notices.send("queue");
  }

  getPaused(): Promise<readonly string[]> {
    return this.#store.getPaused();
  }

  workers(): Promise<readonly WorkerInfo[]> {
    return this.#workerList.list();
  }

  setSchedule(schedule: Schedule): Promise<void> {
    return this.#schedules.set(schedule);
  }

  removeSchedule(id: string): Promise<boolean> {
    return this.#schedules.remove(id);
  }

  getSchedules(): Promise<readonly Schedule[]> {
    return this.#schedules.list();
  }

  advanceSchedule(id: string, from: number, next: Pick<Schedule, "nextAt" | "last">): Promise<boolean> {
    return this.#schedules.advance(id, from, next);
  }

  getAllLimits(): Promise<Readonly<Record<string, TenantLimits>>> {
    return this.#store.getAllLimits();
  }

  async setLimits(tenant: string, limits: TenantLimits): Promise<void> {
    await this.#apply(this.#store.setLimits(tenant, limits));
    this.#modelCalls.forget();
  }

  setRate(target: string, callsPerMinute: number | undefined): Promise<void> {
    return this.#modelCalls.setRate(target, callsPerMinute);
  }

  getRates(): Promise<Readonly<Record<string, number>>> {
    return this.#modelCalls.getRates();
  }

  getLimits(tenant: string): Promise<TenantLimits> {
    return this.#store.getLimits(tenant);
  }

  prune(endedBefore: number): Promise<number> {
    return this.#store.prune(endedBefore);
  }

  async work(handle: ClaimHandler, options: EngineWorkOptions): Promise<EngineWorker> {
    const worker = new BullmqWorker(
      {
        pool: this.#pool,
        schema: this.#schema,
        store: this.#store,
        leases: this.#leases,
        dispatcher: this.#dispatcher,
        workers: this.#workerList,
        notices: this.#notices,
        tickets: new Tickets(this.#backend, this.#schema, this.#onFault),
        claimParts: {
          pool: this.#pool,
          schema: this.#schema,
          appends: this.#appends,
          modelCalls: this.#modelCalls,
          notices: this.#notices,
        },
      },
      handle,
      options,
    );
    worker.start();
    this.#workers.add(worker);
    return {
      close: async () => {
        this.#workers.delete(worker);
        await worker.close();
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.close()));
    this.#workers.clear();
    await this.#tickets.close();
    this.#backend.close();
    // Do not wait for a server that no longer answers.
    const ended = this.#notices.close().then(() => this.#pool.end());
    await within(ended, CLOSE_WITHIN_MS, "The database").catch(this.#onFault);
  }

  async #apply(change: Promise<Change>, id?: string): Promise<boolean> {
    const { applied, dispatch } = await change;
    await this.#dispatcher.send(dispatch, applied && id !== undefined ? [id] : []);
    return applied;
  }
}
