import { AgentError } from "@agent/core";
import type { TicketBackend } from "./tickets.js";

const INSTALL = "npm install bullmq pg ioredis";
const STALLED_CHECK_MS = 1000;
const CONNECT_WITHIN_MS = 5000;
// Idle time before the system sends a TCP keep-alive probe. The system's own default is two hours.
const KEEP_ALIVE_MS = 10_000;
// BullMQ must not fail a ticket that comes back several times: the database counts lost workers.
const MAX_STALLED = 1_000_000;
const KEEP_NOTHING = { removeOnComplete: true, removeOnFail: true } as const;

/** The `pg` package. */
export async function loadPostgres() {
  return (await load("pg", () => import("pg"))).default;
}

/** BullMQ on Redis, over two connections that all queues share. */
export async function redisTickets(
  url: string,
  prefix: string,
  timeoutMs: number,
): Promise<TicketBackend & { close(): void }> {
  const { Queue, Worker } = await load("bullmq", () => import("bullmq"));
  const { Redis } = await load("ioredis", () => import("ioredis"));
  const connect = (options: { readonly maxRetriesPerRequest: number | null }) => {
    const redis = new Redis(url, { ...options, keepAlive: KEEP_ALIVE_MS, socketTimeout: timeoutMs });
    // Each queue and worker reports the faults of its connection too.
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
    // Only one of the processes that ask sets the mark; that one queues the runs again.
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
  const backend = withBackend(createPostgresBackend);
  const connection = { ...config, schema, migrate: true, max: 2 };
  return {
    createQueue: (name) => new backend.Queue(name, { connection, defaultJobOptions: KEEP_NOTHING }) as never,
    createWorker: (name, lockMs) =>
      new backend.Worker(name, null, { connection, ...workerOptions(lockMs) }) as never,
    close: () => undefined,
  };
}

/** Settings of `pg` that detect a lost server, also one that stops answering without closing the connection. */
export function clientConfig(connectionString: string, timeoutMs: number) {
  return {
    connectionString,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: timeoutMs,
    application_name: "agent-runs",
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
