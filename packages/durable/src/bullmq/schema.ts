import { AgentError } from "@agent/core";
import { quote } from "@agent/core/toolkit";
import type { Pool, PoolClient } from "pg";
import { CIRCUIT } from "../engine/modelLimits.js";
import { inTransaction } from "./transaction.js";

/**
 * The changes that concern a run and its tenant's queue slots, as database functions: each is one round trip and one
 * commit, and locks in one order, the run before its tenant. A tenant with a limit has that many slots; runs beyond it
 * are parked: they are in no queue, so they do not slow other tenants down, however many there are.
 */
function sqlFunctions(s: string): string {
  return `
  create function ${s}.take_slot(tenant_name text) returns boolean language plpgsql as $$
  begin
    perform 1 from ${s}.tenant where name = tenant_name and concurrency is not null for update;
    if not found then return true; end if;
    update ${s}.tenant set active = active + 1 where name = tenant_name and active < concurrency;
    return found;
  end $$;

  -- Gives free places to parked runs, the first ones first, and returns those.
  create function ${s}.fill_slots(tenant_name text)
    returns table (id text, kind text, epoch int, turn float8) language plpgsql as $$
  #variable_conflict use_column
  declare
    places int;
    filled int;
  begin
    select greatest(concurrency - active, 0) into places from ${s}.tenant
      where name = tenant_name and concurrency is not null for update;
    -- Without a limit every parked run has a place.
    if places = 0 then return; end if;
    return query update ${s}.run set parked = false, enqueued = false, queued_at = clock_timestamp()
      where run.id in (select run.id from ${s}.run where tenant = tenant_name and parked order by run.turn limit places)
      returning run.id, run.kind, run.epoch, run.turn::float8;
    get diagnostics filled = row_count;
    if places is not null and filled > 0 then
      update ${s}.tenant set active = active + filled where name = tenant_name;
    end if;
  end $$;

  create function ${s}.release_slot(tenant_name text)
    returns table (id text, kind text, epoch int, turn float8) language plpgsql as $$
  begin
    update ${s}.tenant set active = greatest(active - 1, 0) where name = tenant_name and concurrency is not null;
    if found then return query select * from ${s}.fill_slots(tenant_name); end if;
  end $$;

  -- Virtual time: after the tenant's own last run, but never before what runs now, so that tenants take turns.
  create function ${s}.next_turn(tenant_name text, run_priority int) returns bigint language plpgsql as $$
  declare
    running_turn bigint;
    own_turn bigint;
  begin
    select coalesce(max(run.turn), 0) into running_turn from ${s}.run where state = 'running';
    own_turn := running_turn;
    if run_priority <= 0 then
      select greatest(running_turn, coalesce(max(run.turn), 0)) into own_turn from ${s}.run
        where tenant = tenant_name and state in ('queued', 'running');
    end if;
    if run_priority < 0 then own_turn := own_turn + 10000; end if;
    return own_turn + 1;
  end $$;

  -- Returns nothing if there is a run with this id.
  create function ${s}.create_run(new_id text, new_format int, new_definition text, new_version text, new_tenant text,
      new_labels text[], new_priority int, new_kind text, new_title text, new_trace text, new_input text,
      start_ms float8, new_pause text, new_forked_from text, new_decisions text, new_messages text, new_message_count int,
      step_keys text[], step_kinds text[], step_values text[])
    returns table (turn float8, is_parked boolean) language plpgsql as $$
  #variable_conflict use_column
  declare
    own_turn bigint := ${s}.next_turn(new_tenant, new_priority);
    start_at timestamptz := to_timestamp(start_ms / 1000.0);
    is_later boolean := coalesce(start_at > clock_timestamp(), false);
    has_slot boolean;
  begin
    insert into ${s}.kind (name, definition, labels) values (new_kind, new_definition, new_labels) on conflict do nothing;
    insert into ${s}.run (id, format, definition, version, tenant, labels, priority, kind, title, trace, input, state, turn,
        wake_at, pause, forked_from, decisions, messages, message_count)
      values (new_id, new_format, new_definition, new_version, new_tenant, new_labels, new_priority, new_kind, new_title, new_trace,
        new_input, case when is_later then 'waiting' else 'queued' end, own_turn,
        case when is_later then start_at end, case when is_later then new_pause end,
        new_forked_from, new_decisions, new_messages, new_message_count)
      on conflict (id) do nothing;
    if not found then return; end if;
    insert into ${s}.step (run_id, epoch, key, kind, value)
      select new_id, 0, one.key, one.kind, one.value
      from unnest(step_keys, step_kinds, step_values) with ordinality as one (key, kind, value, n) order by n;
    if is_later then
      return query select own_turn::float8, true;
      return;
    end if;
    has_slot := ${s}.take_slot(new_tenant);
    if not has_slot then update ${s}.run set parked = true where id = new_id; end if;
    return query select own_turn::float8, not has_slot;
  end $$;

  -- Writes the end of a claim, if it still holds the run: returns nothing otherwise, and else at least one row. Rows
  -- with an id are runs that may go to the queue now.
  create function ${s}.end_claim(run_id text, claim_epoch int, new_state text, new_error text, new_approvals text,
      new_result text, new_usage text, new_cost float8, new_pause text, wait_ms float8, seen_messages int)
    returns table (id text, kind text, epoch int, turn float8) language plpgsql as $$
  #variable_conflict use_column
  declare
    ended ${s}.run;
    given_state text := new_state;
  begin
    -- By its id alone: see \`Leases.claim\`.
    select * into ended from ${s}.run where run.id = run_id for update;
    if not found or ended.epoch <> claim_epoch or ended.state <> 'running' then return; end if;
    -- Someone has sent a message that the worker had not seen.
    if given_state = 'done' and ended.message_count > seen_messages then given_state := 'queued'; end if;
    update ${s}.run set
        state = case when cancel_reason is not null and given_state in ('queued', 'waiting') then 'cancelled' else given_state end,
        error = case when cancel_reason is not null and given_state in ('queued', 'waiting')
          then json_build_object('code', 'cancelled', 'message', cancel_reason)::text else coalesce(new_error, error) end,
        approvals = coalesce(new_approvals, '[]'), result = new_result, usage = coalesce(new_usage, usage),
        cost = coalesce(new_cost, cost), pause = new_pause,
        wake_at = case when cancel_reason is null then clock_timestamp() + wait_ms * interval '1 ms' end,
        enqueued = false, queued_at = clock_timestamp(), lease_until = null,
        ended_at = case when cancel_reason is not null or given_state in ('done', 'failed', 'cancelled')
          then clock_timestamp() end
      where run.id = run_id returning * into ended;
    if ended.state = 'queued' then
      return query select ended.id, ended.kind, ended.epoch, ended.turn::float8;
      return;
    end if;
    return query select null::text, null::text, null::int, null::float8
      union all select * from ${s}.release_slot(ended.tenant);
  end $$;

  -- Queues runs whose time to continue has come, or parks those whose tenant has no place.
  create function ${s}.wake_runs(most int)
    returns table (id text, kind text, epoch int, turn float8, is_parked boolean) language plpgsql as $$
  #variable_conflict use_column
  declare
    due ${s}.run;
    has_slot boolean;
  begin
    -- By tenant, so that two calls lock tenants in the same order.
    for due in
      with found as materialized (select run.id from ${s}.run where state = 'waiting' and wake_at <= clock_timestamp()
        and approvals = '[]' order by wake_at limit most for update skip locked)
      select run.* from ${s}.run join found on run.id = found.id order by run.tenant
    loop
      has_slot := ${s}.take_slot(due.tenant);
      -- A run that was started for later takes its turn now: earlier, it would pass everything that was queued since.
      if due.epoch = 0 then due.turn := ${s}.next_turn(due.tenant, due.priority); end if;
      update ${s}.run set state = 'queued', wake_at = null, turn = due.turn, parked = not has_slot, enqueued = false,
        queued_at = clock_timestamp() where run.id = due.id;
      return query select due.id, due.kind, due.epoch, due.turn::float8, not has_slot;
    end loop;
  end $$;

  -- Takes a model call. Returns how long to wait, and the scope of the limit or the word "circuit"; \`failures\` is null
  -- if no limit and no failure concerns the call.
  create function ${s}.take_model_call(scopes text[], model_name text)
    returns table (wait_ms float8, cause text, failures int) language plpgsql as $$
  #variable_conflict use_column
  declare
    now_at timestamptz := clock_timestamp();
    last_due timestamptz := now_at;
    last_scope text;
    due timestamptz;
    calls int;
    health ${s}.model;
    one ${s}.rate;
    is_limited boolean := false;
  begin
    select * into health from ${s}.model where name = model_name;
    if health.failures >= ${CIRCUIT.openAfter} then
      select * into health from ${s}.model where name = model_name for update;
      if health.open_until > now_at then
        return query select extract(epoch from health.open_until - now_at)::float8 * 1000, 'circuit', health.failures;
        return;
      end if;
      update ${s}.model set open_until = now_at + ${CIRCUIT.probeMs} * interval '1 ms', probed = true where name = model_name;
    end if;
    for one in select * from ${s}.rate where scope = any(scopes) order by scope for update loop
      is_limited := true;
      calls := greatest(1, floor(one.per_minute));
      select greatest(now_at, at + interval '1 minute' * calls / one.per_minute) into due
        from ${s}.model_call where scope = one.scope and seq = one.seq + 1 - calls;
      due := coalesce(due, now_at);
      insert into ${s}.model_call (scope, seq, at) values (one.scope, one.seq + 1, due);
      update ${s}.rate set seq = one.seq + 1 where scope = one.scope;
      delete from ${s}.model_call where scope = one.scope and seq <= one.seq + 1 - calls;
      if due > last_due then
        last_due := due;
        last_scope := one.scope;
      end if;
    end loop;
    return query select extract(epoch from last_due - now_at)::float8 * 1000, last_scope,
      case when is_limited then coalesce(health.failures, 0) else health.failures end;
  end $$;

  create function ${s}.report_model_call(model_name text, has_failed boolean, retry_after_ms float8)
    returns void language plpgsql as $$
  declare
    health ${s}.model;
    over int;
  begin
    if not has_failed then
      delete from ${s}.model where name = model_name;
      return;
    end if;
    insert into ${s}.model (name, failures) values (model_name, 0) on conflict do nothing;
    select * into health from ${s}.model where name = model_name for update;
    -- Calls that were under way when the circuit opened fail, too: that is not news.
    if not found or (health.open_until > clock_timestamp() and not health.probed) then return; end if;
    over := health.failures + 1 - ${CIRCUIT.openAfter};
    update ${s}.model set failures = health.failures + 1, probed = false,
      open_until = case when over >= 0 then clock_timestamp() + interval '1 ms' * greatest(retry_after_ms,
        least(${CIRCUIT.longestOpenMs}, ${CIRCUIT.firstOpenMs} * 2 ^ least(over, 30))) end
      where name = model_name;
  end $$;

  -- Changes a limit on model calls. Calls that were made count under the new one, those that are reserved do not:
  -- the runs that wait for them ask again.
  create function ${s}.set_rate(scope_name text, calls_per_minute float8) returns void language plpgsql as $$
  begin
    if calls_per_minute is null then
      delete from ${s}.rate where scope = scope_name;
      delete from ${s}.model_call where scope = scope_name;
    else
      insert into ${s}.rate (scope, per_minute) values (scope_name, calls_per_minute)
        on conflict (scope) do update set per_minute = calls_per_minute;
      delete from ${s}.model_call where scope = scope_name and at > clock_timestamp();
      update ${s}.rate set seq = coalesce((select max(seq) from ${s}.model_call where scope = scope_name), rate.seq)
        where scope = scope_name and exists (select from ${s}.model_call where scope = scope_name);
    end if;
    update ${s}.run set wake_at = clock_timestamp(), pause = null
      -- As text: Postgres refuses to read JSON that holds the character NUL, which a message may.
      where state = 'waiting' and wake_at is not null and pause like '%"code":"rate_limited"%';
  end $$;
  `;
}

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,49}$/;
// Any number that nothing else in the database uses: two programs that start at the same time migrate once.
const MIGRATION_LOCK = 7_203_914_001;

/** The format of the journal in the database: a run written in a newer one is left to newer workers. */
export const FORMAT = 1;

/** Each entry migrates a schema from its index to the next version. Entries are never changed once released. */
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

/** Migrates the schema to the version of this program. Throws for a newer one. */
export async function migrate(pool: Pool, schema: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    await client.query(`create schema if not exists ${schema}`);
    await client.query(`set local search_path to ${schema}`);
    await client.query("create table if not exists migration (version int primary key)");
    const { rows } = await client.query("select coalesce(max(version), 0) as version from migration");
    await applyFrom(client, Number(rows[0]?.version), schema);
  });
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
