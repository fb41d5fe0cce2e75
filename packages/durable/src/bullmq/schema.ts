import { AgentError } from "@agent/core";
import { quote } from "@agent/core/toolkit";
import type { Pool, PoolClient } from "pg";
import { sqlFunctions } from "./functions.js";

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,49}$/;
// Any number, as long as nothing else in the database uses it: two programs that start immediately migrate once.
const MIGRATION_LOCK = 7_203_914_001;

/** The journal's format within the database: a run that a newer one wrote is left to newer workers. */
export const FORMAT = 1;

/** Each entry brings a schema from its index to the next version. Entries are never changed once released. */
const MIGRATIONS: readonly ((schema: string) => string)[] = [
  (schema) => `
  create table run (
    id text primary key,
    format int not null,
    definition text not null,
    version text not null,
    tenant text not null,
    labels text[] not null,
    priority int not null,
    kind text not null,
    title text,
    trace text,
    input text not null,
    state text not null,
    epoch int not null default 0,
    crashes int not null default 0,
    max_crashes int,
    worker text,
    lease_ms int,
    lease_until timestamptz,
    -- The turn of the run among those of all tenants; the queue takes lower ones first.
    turn bigint not null,
    -- Kept out of the queue because its tenant has as many runs there as it may have.
    parked boolean not null default false,
    enqueued boolean not null default false,
    approvals text not null default '[]',
    decisions text not null default '[]',
    messages text not null default '[]',
    message_count int not null default 0,
    forked_from text,
    result text,
    error text,
    usage text,
    cost double precision,
    cancel_reason text,
    -- When a run continues that waits for a time, why it waits and what the next claim has to know (a \`Pause\`).
    wake_at timestamptz,
    pause text,
    created_at timestamptz not null default clock_timestamp(),
    queued_at timestamptz not null default clock_timestamp(),
    started_at timestamptz,
    ended_at timestamptz
  ) with (fillfactor = 80);
  create index run_created on run (created_at desc);
  create index run_tenant_created on run (tenant, created_at desc);
  create index run_state_created on run (state, created_at desc);
  create index run_turn on run (tenant, turn) where state in ('queued', 'running');
  create index run_running on run (turn) where state = 'running';
  create index run_lease on run (lease_until) where state = 'running';
  create index run_unqueued on run (queued_at) where state = 'queued' and not parked and not enqueued;
  create index run_enqueued on run (queued_at) where state = 'queued' and not parked and enqueued;
  create index run_parked on run (tenant, turn) where parked;
  create index run_wake on run (wake_at) where state = 'waiting' and wake_at is not null;
  create index run_ended on run (ended_at) where ended_at is not null;
  create index run_started on run (started_at) where started_at is not null;
  -- No foreign keys here: each write has locked its run already, and a check for each row costs more than the row.
  create table step (
    run_id text not null,
    seq bigint generated always as identity,
    epoch int not null,
    key text not null,
    kind text not null,
    value text not null,
    primary key (run_id, seq)
  );
  create table event (
    run_id text not null,
    seq bigint generated always as identity,
    epoch int not null,
    at timestamptz not null default clock_timestamp(),
    body text not null,
    primary key (run_id, seq)
  );
  create table tenant (
    name text primary key,
    concurrency int,
    -- Runs of the tenant that are in the queue or with a worker; counted only while it has a limit.
    active int not null default 0
  );
  -- Limits on model calls, of a tenant or of models, and the calls that count against them: the number \`seq\` is the last.
  create table rate (
    scope text primary key,
    per_minute double precision not null,
    seq bigint not null default 0
  );
  create table model_call (
    scope text not null,
    seq bigint not null,
    at timestamptz not null,
    primary key (scope, seq)
  );
  -- The circuit breaker of each model that has failed since it last answered.
  create table model (
    name text primary key,
    failures int not null,
    open_until timestamptz,
    probed boolean not null default false
  );
  -- Tenants whose runs are not claimed; '*' for all.
  create table paused (tenant text primary key);
  create table schedule (
    id text primary key,
    next_at float8 not null,
    body text not null
  );
  create table worker (
    name text primary key,
    info text not null,
    lease_ms int not null,
    seen_at timestamptz not null
  );
  create table kind (
    name text primary key,
    definition text not null,
    labels text[] not null
  );
  ${sqlFunctions(schema)}
  `,
];

/** Throws `invalid_argument` for a name that would have to be quoted. */
export function checkSchemaName(name: string): void {
  if (SCHEMA_NAME.test(name)) return;
  throw new AgentError(
    "invalid_argument",
    `schema must be 1 to 50 lower-case letters, digits or "_", got ${quote(name)}.`,
  );
}

/** Brings the schema to the version this program knows. Throws for a newer one. */
export async function migrate(pool: Pool, schema: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await client.query(`create schema if not exists ${schema}`);
    await client.query(`set local search_path to ${schema}`);
    await client.query("create table if not exists migration (version int primary key)");
    const { rows } = await client.query("select coalesce(max(version), 0) as version from migration");
    await applyFrom(client, Number(rows[0]?.version), schema);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

async function applyFrom(client: PoolClient, version: number, schema: string): Promise<void> {
  if (version > MIGRATIONS.length) {
    throw new AgentError(
      "session_invalid",
      `The schema ${schema} was written by a newer version of @agent/durable (${version}; this one knows ${MIGRATIONS.length}). Upgrade it here, too.`,
    );
  }
  for (const [index, statementsFor] of MIGRATIONS.entries()) {
    if (index < version) continue;
    await client.query(statementsFor(schema));
    await client.query("insert into migration values ($1)", [index + 1]);
  }
}
