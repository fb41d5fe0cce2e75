import { invalidArgument } from "@agent/core/toolkit";
import type { Pool } from "pg";
import type { EventsOptions } from "../engine/engine.js";
import type { FollowedEvent } from "../engine/events.js";
import { isEnded, type RunState, type RunSummary } from "../engine/run.js";
import { sleep } from "../worker/sleep.js";
import { followTopic, type Notices } from "./notices.js";
import type { RunQueries } from "./runQueries.js";

const READ_AT_ONCE = 500;
// How late events are when no notice arrives: through a pooler, or after a lost connection.
const POLL_MS = 1000;
// A follower outlives a restart of the database: so many reads in a row may fail, one a second.
const MAX_FAILED_READS = 60;
// Must be well below the time after which the run's worker assumes that no one follows.
const FOLLOW_EVERY_MS = 2000;
const CURSOR = /^\d{1,18}$/;

/** The run as it stood when its events were read, and one of them: none at all if `seq` is `null`. */
interface EventRow {
  readonly run_state: RunState;
  readonly run_epoch: number;
  readonly seq: string | null;
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
  let followedAt = -Infinity;
  const read = async (): Promise<readonly EventRow[]> => {
    // One statement sees one moment: a run that had ended then has no more events than these.
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
