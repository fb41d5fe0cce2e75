/**
 * The changes that concern a run and its tenant's places in the queue, as functions of the database: each is one round
 * trip and one commit, and locks in one order, the run before its tenant. A tenant with a limit has so many places;
 * runs beyond it are parked: they are in no queue, so they do not slow other tenants down, however many there are.
 */
export function sqlFunctions(s: string): string {
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

  -- Returns nothing if there is a run with this id.
  create function ${s}.create_run(new_id text, new_format int, new_definition text, new_version text, new_tenant text,
      new_labels text[], new_priority int, new_kind text, new_title text, new_trace text, new_input text)
    returns table (turn float8, is_parked boolean) language plpgsql as $$
  #variable_conflict use_column
  declare
    running_turn bigint;
    own_turn bigint;
    has_slot boolean;
  begin
    insert into ${s}.kind (name, definition, labels) values (new_kind, new_definition, new_labels) on conflict do nothing;
    -- Virtual time: after the tenant's own last run, but never before what runs now, so that tenants take turns.
    select coalesce(max(run.turn), 0) into running_turn from ${s}.run where state = 'running';
    own_turn := running_turn;
    if new_priority <= 0 then
      select greatest(running_turn, coalesce(max(run.turn), 0)) into own_turn from ${s}.run
        where tenant = new_tenant and state in ('queued', 'running');
    end if;
    if new_priority < 0 then own_turn := own_turn + 10000; end if;
    insert into ${s}.run (id, format, definition, version, tenant, labels, priority, kind, title, trace, input, state, turn)
      values (new_id, new_format, new_definition, new_version, new_tenant, new_labels, new_priority, new_kind, new_title, new_trace,
        new_input, 'queued', own_turn + 1)
      on conflict (id) do nothing;
    if not found then return; end if;
    has_slot := ${s}.take_slot(new_tenant);
    if not has_slot then update ${s}.run set parked = true where id = new_id; end if;
    return query select (own_turn + 1)::float8, not has_slot;
  end $$;

  -- Writes the end of a claim, if it still holds the run: returns nothing otherwise, and else at least one row. Rows
  -- with an id are runs that may go to the queue now.
  create function ${s}.end_claim(run_id text, claim_epoch int, new_state text, new_error text, new_approvals text,
      new_result text, new_usage text, new_cost float8)
    returns table (id text, kind text, epoch int, turn float8) language plpgsql as $$
  #variable_conflict use_column
  declare
    ended ${s}.run;
  begin
    -- By its id alone: see \`Leases.claim\`.
    select * into ended from ${s}.run where run.id = run_id for update;
    if not found or ended.epoch <> claim_epoch or ended.state <> 'running' then return; end if;
    update ${s}.run set
        state = case when cancel_reason is not null and new_state in ('queued', 'waiting') then 'cancelled' else new_state end,
        error = case when cancel_reason is not null and new_state in ('queued', 'waiting')
          then json_build_object('code', 'cancelled', 'message', cancel_reason)::text else coalesce(new_error, error) end,
        approvals = coalesce(new_approvals, '[]'), result = new_result, usage = coalesce(new_usage, usage),
        cost = coalesce(new_cost, cost),
        enqueued = false, queued_at = clock_timestamp(), lease_until = null,
        ended_at = case when cancel_reason is not null or new_state in ('done', 'failed', 'cancelled')
          then clock_timestamp() end
      where run.id = run_id returning * into ended;
    if ended.state = 'queued' then
      return query select ended.id, ended.kind, ended.epoch, ended.turn::float8;
      return;
    end if;
    return query select null::text, null::text, null::int, null::float8
      union all select * from ${s}.release_slot(ended.tenant);
  end $$;
  `;
}
