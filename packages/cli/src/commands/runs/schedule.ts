import { OVERLAPS, type Overlap, type Schedule, scheduleRun } from "@agent/durable";
import { didYouMean, escapeToLine } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { columns, note, print, printLine } from "../../process/output.js";
import { readVersion } from "../../process/version.js";
import { enterDirectory } from "../../settings/workingDirectory.js";
import { directoryLabel, TASK, type TaskInput } from "./definition.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { titleOf } from "./text.js";

export interface ScheduleFlags extends EngineFlags {
  readonly cwd?: string;
  readonly timeZone?: string;
  readonly overlap?: string;
  readonly tenant?: string;
  readonly label?: readonly string[];
  readonly anywhere?: boolean;
  readonly title?: string;
  readonly json?: boolean;
}

/** `agent runs schedule`: starts a task repeatedly. */
export async function scheduleCommand(
  id: string,
  cron: string,
  words: readonly string[],
  flags: ScheduleFlags,
): Promise<ExitCode> {
  enterDirectory(flags.cwd);
  const task = words.join(" ").trim();
  if (task === "") throw new CliError("There is no task.");
  const input: TaskInput = { task };
  const labels = [...(flags.label ?? []), ...(flags.anywhere ? [] : [directoryLabel()])].sort();
  const run = {
    definition: TASK,
    version: readVersion(),
    tenant: flags.tenant ?? "default",
    labels,
    priority: 0,
    input,
    title: titleOf(flags.title ?? task),
  };
  const overlap = checkedOverlap(flags.overlap ?? "skip");
  const timeZone = flags.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return await withEngine(flags, async (engine) => {
    const schedule = await scheduleRun(engine, { id, cron, timeZone, overlap, run });
    if (flags.json) print(`${JSON.stringify({ v: 1, schedule })}\n`);
    else {
      printLine(`${id}: next at ${new Date(schedule.nextAt).toISOString()}`);
      note("Workers start its runs while they run: agent runs work");
    }
    return EXIT.done;
  });
}

/** `agent runs schedules`. */
export async function listSchedulesCommand(flags: ScheduleFlags): Promise<ExitCode> {
  return await withEngine(flags, async (engine) => {
    const schedules = await engine.getSchedules();
    if (flags.json) print(`${JSON.stringify({ v: 1, schedules }, undefined, 2)}\n`);
    else if (schedules.length === 0)
      printLine('No schedules. Add one: agent runs schedule daily "0 9 * * *" "…"');
    else print(columns(schedules.map(rowOf), ["SCHEDULE", "TIMES", "NEXT", "OVERLAP", "LAST RUN", "TASK"]));
    return EXIT.done;
  });
}

function rowOf({ id, cron, timeZone, nextAt, overlap, last, run }: Schedule): string[] {
  const times = `${cron} ${timeZone ?? "UTC"}`;
  const next = new Date(nextAt).toISOString();
  return [id, times, next, overlap, last?.runId ?? "", escapeToLine(run.title ?? "").slice(0, 60)];
}

/** `agent runs unschedule`. */
export async function unscheduleCommand(id: string, flags: ScheduleFlags): Promise<ExitCode> {
  return await withEngine(flags, async (engine) => {
    if (!(await engine.removeSchedule(id))) {
      throw new CliError(`There is no schedule "${id}". List them with: agent runs schedules`);
    }
    if (flags.json) print(`${JSON.stringify({ v: 1, id, removed: true })}\n`);
    else printLine(`${id}: removed`);
    return EXIT.done;
  });
}

function checkedOverlap(text: string): Overlap {
  const overlap = OVERLAPS.find((one) => one === text);
  if (overlap) return overlap;
  throw new CliError(`--overlap has no "${text}". ${didYouMean(text, OVERLAPS)}`);
}
