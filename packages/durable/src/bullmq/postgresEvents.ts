import { invalidArgument } from "@agent/core/toolkit";
import type { Pool } from "pg";
import type { EventsOptions } from "../engine/engine.js";
import type { FollowedEvent } from "../engine/events.js";
import { isEnded } from "../engine/run.js";
import { sleep } from "../worker/sleep.js";
import type { Notices } from "./notices.js";
import type { RunQueries } from "./runQueries.js";

const READ_AT_ONCE = 500;
// How late events are when no notice arrives: through a pooler, or after a lost connection.
const POLL_MS = 1000;
// A follower outlives a restart of the database: so many reads in a row may fail, one a second.
const MAX_FAILED_READS = 60;
const CURSOR = /^\d{1,18}$/;

interface EventRow {
  readonly seq: string;
  readonly epoch: number;
  readonly at_ms: string;
  readonly body: string;
}

/** Reads a run's events in order, and waits for more. */
export async function* readEvents(
  id: string,
  { pool, schema, queries, notices }: { pool: Pool; schema: string; queries: RunQueries; notices: Notices },
  { after, follow = false, signal }: EventsOptions,
): AsyncGenerator<FollowedEvent> {
  if (after !== undefined && !CURSOR.test(after))
    throw invalidArgument("after", "a cursor of an earlier event", after);
  let position = after ?? "0";
  let reported: string | undefined;
  let failures = 0;
  const read = async () => {
    // The state before the events: a run that had ended then has no more of them.
    const run = await queries.getSummary(id);
    if (!run) return undefined;
    const { rows } = await pool.query<EventRow>(
      `select seq, epoch, extract(epoch from at) * 1000 as at_ms, body from ${schema}.event
       where run_id = $1 and seq > $2 order by seq limit ${READ_AT_ONCE}`,
      [id, position],
    );
    return { run, rows };
  };
  let wake = new AbortController();
  const onChange = (): void => wake.abort();
  const stopListening = follow ? notices.on(id, onChange) : undefined;
  signal?.addEventListener("abort", onChange);
  try {
    while (!signal?.aborted) {
      wake = new AbortController();
      let found: Awaited<ReturnType<typeof read>>;
      try {
        found = await read();
        failures = 0;
      } catch (error) {
        failures++;
        if (!follow || failures > MAX_FAILED_READS) throw error;
        await sleep(POLL_MS, wake.signal);
        continue;
      }
      if (!found) return;
      const { run, rows } = found;
      for (const { seq, epoch, at_ms, body } of rows) {
        position = seq;
        yield { cursor: seq, at: Math.round(Number(at_ms)), epoch, event: JSON.parse(body) };
      }
      if (rows.length === READ_AT_ONCE) continue;
      const state = `${run.state} ${run.epoch}`;
      if (follow && state !== reported) {
        reported = state;
        yield { cursor: position, run };
      }
      if (!follow || isEnded(run.state)) return;
      await sleep(POLL_MS, wake.signal);
    }
  } finally {
    stopListening?.();
    signal?.removeEventListener("abort", onChange);
  }
}
