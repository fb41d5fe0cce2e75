import { AgentError } from "@agent/core";
import { check, checkOptions, errorMessage, invalidArgument, type OptionChecks } from "@agent/core/toolkit";
import type { ClientBase, Pool } from "pg";
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
import {
  type Decision,
  isEnded,
  type NewRun,
  type Run,
  type RunState,
  type RunSummary,
  type TenantLimits,
} from "../engine/run.js";
import { checkSameRun } from "../engine/sameRun.js";
import type { Schedule } from "../engine/schedule.js";
import { TenantRuns } from "../engine/tenantRuns.js";
import { sleep } from "../worker/sleep.js";
import { Appends } from "./appends.js";
import { BullmqWorker } from "./bullmqWorker.js";
import { Dispatcher } from "./dispatcher.js";
import { Leases } from "./leases.js";
import { ModelCalls } from "./modelCalls.js";
import { cancelTopic, followTopic, Notices } from "./notices.js";
import { RunQueries } from "./runQueries.js";
import { type RunChange, RunStore } from "./runStore.js";
import { checkSchemaName, migrate } from "./schema.js";
import { type TicketBackend, Tickets } from "./tickets.js";
import { inTransaction } from "./transaction.js";
import { CLOSE_WITHIN_MS, within } from "./within.js";
import { Workers } from "./workers.js";

const DEFAULTS = { schema: "agent_runs", maxConnections: 4, timeoutMs: 30_000 };

export interface BullmqEngineOptions {
  /** The database that holds runs, journals and events: `postgres://user:password@host:5432/name`. */
  readonly postgres: string;
  /** The Redis or Valkey that BullMQ uses: `redis://host:6379`. Default: BullMQ uses Postgres, too. */
  readonly redis?: string;
  /** The schema of the tables. Created and migrated when the engine is opened. Default `agent_runs`. */
  readonly schema?: string;
  /** The number of connections to Postgres, besides one that listens. Default 4. */
  readonly maxConnections?: number;
  /** How long a server may take to answer before its connection is replaced. Default 30 s. */
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
 * An engine for any number of machines: BullMQ distributes the runs, Postgres stores them. Needs the packages `bullmq`
 * and `pg`, and `ioredis` with Redis. Rejects if a server cannot be reached or was written by a newer version.
 */
export async function createBullmqEngine(options: BullmqEngineOptions): Promise<RunEngine> {
  checkOptions("createBullmqEngine", options, OPTIONS);
  const { postgres, redis, schema = DEFAULTS.schema, onFault = () => undefined } = options;
  const timeoutMs = options.timeoutMs ?? DEFAULTS.timeoutMs;
  check.text("postgres", postgres);
  checkSchemaName(schema);
  const pg = await loadPostgres();
  const config = clientConfig(postgres, timeoutMs);
  const pool = new pg.Pool({ ...config, max: options.maxConnections ?? DEFAULTS.maxConnections });
  // Otherwise a cut idle connection would crash the process.
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
    // Its worker checks the run.
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

  async #apply(change: Promise<RunChange>, id?: string): Promise<boolean> {
    const { applied, dispatch } = await change;
    await this.#dispatcher.send(dispatch, applied && id !== undefined ? [id] : []);
    return applied;
  }
}

const READ_AT_ONCE = 500;
// The maximum delay of events without a notification: through a pooler, or after a lost connection.
const POLL_MS = 1000;
// A follower survives a restart of the database: this many consecutive reads may fail, one per second.
const MAX_FAILED_READS = 60;
// Must be well below the time after which the run's worker assumes that no one follows.
const FOLLOW_EVERY_MS = 2000;
const CURSOR = /^\d{1,18}$/;

/** The run as it was when its events were read, and one of them; `seq` is `null` if there are none. */
interface EventRow {
  readonly run_state: RunState;
  readonly run_epoch: number;
  readonly seq: string | null;
  readonly epoch: number;
  readonly at_ms: string;
  readonly body: string;
}

/** Reads a run's events in order, and waits for more. */
async function* readEvents(
  id: string,
  { pool, schema, queries, notices }: { pool: Pool; schema: string; queries: RunQueries; notices: Notices },
  { after, follow = false, signal }: EventsOptions,
): AsyncGenerator<FollowedEvent> {
  if (after !== undefined && !CURSOR.test(after))
    throw invalidArgument("after", "a cursor of an earlier event", after);
  let position = after ?? "0";
  let reported: string | undefined;
  let failures = 0;
  let followedAt = -Infinity;
  const read = async (): Promise<readonly EventRow[]> => {
    // One statement sees a consistent snapshot: a run that had finished then has no more events than these.
    const { rows } = await pool.query<EventRow>({
      name: `events-${schema}`,
      text: `select run.state as run_state, run.epoch as run_epoch, event.* from ${schema}.run left join lateral (
          select seq, epoch, extract(epoch from at) * 1000 as at_ms, body from ${schema}.event
          where run_id = $1 and seq > $2 order by seq limit ${READ_AT_ONCE}) as event on true where run.id = $1 order by seq`,
      values: [id, position],
    });
    return rows;
  };
  let wake = new AbortController();
  const onChange = (): void => wake.abort();
  const stopListening = follow ? notices.on(id, onChange) : undefined;
  signal?.addEventListener("abort", onChange);
  try {
    while (!signal?.aborted) {
      wake = new AbortController();
      let rows: readonly EventRow[];
      let run: RunSummary | undefined;
      try {
        rows = await read();
        if (follow && rows[0] && stateOf(rows[0]) !== reported) run = await queries.getSummary(id);
        failures = 0;
      } catch (error) {
        failures++;
        if (!follow || failures > MAX_FAILED_READS) throw error;
        await sleep(POLL_MS, wake.signal);
        continue;
      }
      const [first] = rows;
      if (!first) return;
      for (const { seq, epoch, at_ms, body } of rows) {
        if (seq === null) break;
        position = seq;
        yield { cursor: seq, at: Math.round(Number(at_ms)), epoch, event: JSON.parse(body) };
      }
      if (rows.length === READ_AT_ONCE) continue;
      if (run) {
        const state = stateOf({ run_state: run.state, run_epoch: run.epoch });
        // The run changed after the events were read: read again, since new events may precede the change.
        if (state !== stateOf(first)) continue;
        reported = state;
        yield { cursor: position, run };
      }
      if (!follow || isEnded(first.run_state)) return;
      if (first.run_state === "running" && performance.now() - followedAt > FOLLOW_EVERY_MS) {
        followedAt = performance.now();
        notices.send(followTopic(id));
      }
      await sleep(POLL_MS, wake.signal);
    }
  } finally {
    stopListening?.();
    signal?.removeEventListener("abort", onChange);
  }
}

function stateOf({ run_state, run_epoch }: Pick<EventRow, "run_state" | "run_epoch">): string {
  return `${run_state} ${run_epoch}`;
}

const INSTALL = "npm install bullmq pg ioredis";
const STALLED_CHECK_MS = 1000;
const CONNECT_WITHIN_MS = 5000;
// Idle time before the system sends a TCP keep-alive probe. The system's own default is two hours.
const KEEP_ALIVE_MS = 10_000;
// BullMQ must not fail a ticket that is returned several times: the database counts lost workers.
const MAX_STALLED = 1_000_000;
const KEEP_NOTHING = { removeOnComplete: true, removeOnFail: true } as const;

/** The `pg` package. */
async function loadPostgres() {
  return (await load("pg", () => import("pg"))).default;
}

/** BullMQ on Redis, over two connections that all queues share. */
async function redisTickets(
  url: string,
  prefix: string,
  timeoutMs: number,
): Promise<TicketBackend & { close(): void }> {
  const { Queue, Worker } = await load("bullmq", () => import("bullmq"));
  const { Redis } = await load("ioredis", () => import("ioredis"));
  const connect = (options: { readonly maxRetriesPerRequest: number | null }) => {
    const redis = new Redis(url, { ...options, keepAlive: KEEP_ALIVE_MS, socketTimeout: timeoutMs });
    // Each queue and worker also reports the faults of its connection.
    redis.on("error", () => undefined);
    return redis;
  };
  const [forQueues, forWorkers] = [
    connect({ maxRetriesPerRequest: 1 }),
    connect({ maxRetriesPerRequest: null }),
  ];
  return {
    createQueue: (name) => new Queue(name, { connection: forQueues, defaultJobOptions: KEEP_NOTHING }),
    createWorker: (name, lockMs) =>
      new Worker(name, null, { connection: forWorkers, ...workerOptions(lockMs) }),
    // Only one of the competing processes sets the mark; that one queues the runs again.
    isEmptied: async () => (await forQueues.set(`${prefix}:filled`, "1", "NX")) === "OK",
    close: () => {
      forQueues.disconnect();
      forWorkers.disconnect();
    },
  };
}

/** BullMQ on Postgres, in its own schema. */
export async function postgresTickets(
  config: ReturnType<typeof clientConfig>,
  schema: string,
): Promise<TicketBackend & { close(): void }> {
  const { createPostgresBackend, withBackend } = await load("bullmq", () => import("bullmq"));
  // Without BullMQ's options for a worker, which would give each its own connection that waits for tickets: a worker asks
  // for them. A cut of that connection while it is opened or closed would crash the process.
  const createBackend: typeof createPostgresBackend = (name, options) => createPostgresBackend(name, options);
  const backend = withBackend(createBackend);
  const connection = { ...config, schema, migrate: true, max: 2 };
  return {
    createQueue: (name) => new backend.Queue(name, { connection, defaultJobOptions: KEEP_NOTHING }) as never,
    createWorker: (name, lockMs) =>
      new backend.Worker(name, null, { connection, ...workerOptions(lockMs) }) as never,
    close: () => undefined,
  };
}

/**
 * Settings of `pg`, for our pool and BullMQ's. They detect a lost server, including one that stops answering without
 * closing the connection.
 */
export function clientConfig(connectionString: string, timeoutMs: number) {
  return {
    connectionString,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: timeoutMs,
    application_name: "agent-runs",
    onConnect: async (client: ClientBase) => {
      // A pool listens only while a connection is idle. If one is cut while it is used, its statement rejects; the
      // `error` event without a listener would crash the process.
      client.on("error", () => undefined);
      // All queries are short. Postgres would JIT-compile those it estimates as long, which takes longer than running
      // them.
      await client.query("set jit = off");
    },
  };
}

function workerOptions(lockMs: number) {
  return {
    autorun: false,
    lockDuration: lockMs,
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: MAX_STALLED,
    ...KEEP_COUNT,
  };
}

const KEEP_COUNT = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };

async function load<T>(name: string, importIt: () => Promise<T>): Promise<T> {
  try {
    return await importIt();
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing) throw error;
    throw new AgentError(
      "invalid_argument",
      `The engine on BullMQ and Postgres needs the package "${name}", which is not installed: ${INSTALL}`,
      { cause: error },
    );
  }
}

/** Schedules in the database. */
export class Schedules {
  readonly #pool: Pool;
  readonly #s: string;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#s = schema;
  }

  async set(schedule: Schedule): Promise<void> {
    await this.#pool.query(
      `insert into ${this.#s}.schedule (id, next_at, body) values ($1, $2, $3)
       on conflict (id) do update set next_at = $2, body = $3`,
      [schedule.id, schedule.nextAt, JSON.stringify(schedule)],
    );
  }

  async remove(id: string): Promise<boolean> {
    const { rowCount } = await this.#pool.query(`delete from ${this.#s}.schedule where id = $1`, [id]);
    return rowCount === 1;
  }

  async list(): Promise<readonly Schedule[]> {
    const { rows } = await this.#pool.query<{ body: string }>(
      `select body from ${this.#s}.schedule order by id collate "C"`,
    );
    return rows.map(({ body }) => JSON.parse(body));
  }

  async advance(id: string, from: number, next: Pick<Schedule, "nextAt" | "last">): Promise<boolean> {
    // The row is locked: a concurrent change of another process must not be overwritten with what was read before.
    return await inTransaction(this.#pool, async (client) => {
      const { rows } = await client.query<{ body: string }>(
        `select body from ${this.#s}.schedule where id = $1 and next_at = $2 for update`,
        [id, from],
      );
      const [found] = rows;
      if (!found) return false;
      await client.query(`update ${this.#s}.schedule set next_at = $2, body = $3 where id = $1`, [
        id,
        next.nextAt,
        JSON.stringify({ ...JSON.parse(found.body), ...next }),
      ]);
      return true;
    });
  }
}
