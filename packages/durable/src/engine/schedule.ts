import { AgentError } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { Cron } from "croner";
import type { RunEngine } from "./engine.js";
import { isEnded, type NewRun } from "./run.js";

/** What happens when a schedule is due while its last run has not finished. */
export const OVERLAPS = ["skip", "allow", "cancel"] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** Starts runs repeatedly. */
export interface Schedule {
  /** 1 to 60 letters, digits, `_` or `-`. */
  readonly id: string;
  /** Five fields, or six with seconds first: `0 9 * * 1-5`. */
  readonly cron: string;
  /** An IANA name such as `Europe/Berlin`. Default: UTC. */
  readonly timeZone?: string;
  /** `skip` starts no run, `allow` starts another one, `cancel` cancels the earlier one first. */
  readonly overlap: Overlap;
  readonly run: Omit<NewRun, "id" | "startAt" | "fork" | "trace">;
  /** When it is due, in milliseconds since 1970. */
  readonly nextAt: number;
  /** The run it started last, and for which time. */
  readonly last?: { readonly runId: string; readonly at: number };
}

const ID = /^[\w-]{1,60}$/;

// Croner also accepts single dates and years, which eventually have no next time.
const CRON = /^\s*(?:@\w+|\S+(?:\s+\S+){4,5})\s*$/;

/** When a schedule is due after a time. Throws `invalid_argument` for invalid times or an invalid time zone. */
export function nextTime(times: Pick<Schedule, "cron" | "timeZone">, after: number): number {
  if (typeof times.cron !== "string" || !CRON.test(times.cron)) {
    throw new AgentError(
      "invalid_argument",
      'cron must have five fields, or six with seconds first: "0 9 * * 1-5". To start a run once, use startAt.',
    );
  }
  const next = timeAfter(times, after);
  if (next !== undefined) return next;
  throw new AgentError("invalid_argument", `The schedule "${times.cron}" is never due.`);
}

function timeAfter(
  { cron, timeZone }: Pick<Schedule, "cron" | "timeZone">,
  after: number,
): number | undefined {
  try {
    const next = new Cron(cron, { timezone: timeZone ?? "UTC", paused: true }).nextRun(new Date(after));
    return next?.getTime();
  } catch (error) {
    throw new AgentError("invalid_argument", `The schedule cannot be read: ${errorMessage(error)}`);
  }
}

/** Adds a schedule, or replaces the one with its id. Workers of the engine start its runs. */
export async function scheduleRun(
  engine: RunEngine,
  schedule: Omit<Schedule, "nextAt" | "last">,
): Promise<Schedule> {
  if (!ID.test(schedule.id)) {
    throw new AgentError(
      "invalid_argument",
      'The id of a schedule must be 1 to 60 letters, digits, "_" or "-".',
    );
  }
  if (!OVERLAPS.includes(schedule.overlap)) {
    throw new AgentError("invalid_argument", `overlap must be one of ${OVERLAPS.join(", ")}.`);
  }
  const planned = { ...schedule, nextAt: nextTime(schedule, Date.now()) };
  await engine.setSchedule(planned);
  return planned;
}

/**
 * Starts the runs of due schedules, and resolves to when the next one is due. Any number of workers may call it at the
 * same time: the id of a run is derived from its schedule and time, so it is started once. If several times were missed
 * while no worker was running, one run is started. A schedule that fails is passed to `onFault` and tried again with
 * the next call.
 */
export async function startDue(
  engine: RunEngine,
  now: number,
  onFault: (error: unknown) => void,
): Promise<number | undefined> {
  const times: number[] = [];
  for (const schedule of await engine.getSchedules()) {
    try {
      const next = schedule.nextAt <= now ? await start(engine, schedule, now) : schedule.nextAt;
      if (next !== undefined) times.push(next);
    } catch (error) {
      onFault(new Error(`Schedule "${schedule.id}": ${errorMessage(error)}`, { cause: error }));
    }
  }
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Starts the run of a schedule and resolves to when the next one is due; a schedule without a next time is removed. */
async function start(engine: RunEngine, schedule: Schedule, now: number): Promise<number | undefined> {
  const { id, overlap, run, nextAt, last } = schedule;
  const next = timeAfter(schedule, now);
  const advance = async (started: Schedule["last"]): Promise<number | undefined> => {
    if (next === undefined) await engine.removeSchedule(id);
    else await engine.advanceSchedule(id, nextAt, { nextAt: next, ...(started && { last: started }) });
    return next;
  };
  const runId = `${id}-${new Date(nextAt).toISOString().replace(/\W/g, "")}`;
  const earlier = last && last.runId !== runId ? await engine.get(last.runId) : undefined;
  const isOverlap = earlier !== undefined && !isEnded(earlier.state);
  if (isOverlap && overlap === "skip") return await advance(last);
  if (isOverlap && overlap === "cancel")
    await engine.cancel(earlier.id, `Schedule "${id}" starts the next run.`);
  await engine.create({ ...run, id: runId });
  return await advance({ runId, at: nextAt });
}
