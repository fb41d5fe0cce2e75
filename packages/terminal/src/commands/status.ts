import type { BackgroundJob, BackgroundJobs } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import type { CallLog, FinishedLoggedCall, LoggedCall } from "../chat/callLog.js";
import { runningJobs } from "../screen/statusRow.js";
import { formatDuration } from "../text/duration.js";
import { cutToWidth, textWidth } from "../text/width.js";

const SHOWN_FINISHED = 20;
const SHORTEST_TITLE = 12;

interface Row {
  readonly label: string;
  readonly title: string;
  readonly facts: string;
}

/** What `/status` shows: what runs now, what runs in the background, and what has ended. */
export function statusLines(log: CallLog, jobs: BackgroundJobs, columns: number): string[] {
  const now = Date.now();
  const section = (heading: string, rows: readonly Row[]): string[] =>
    rows.length === 0 ? [] : [heading, ...rows.map((row) => fit(row, columns))];
  const executing = log.running.map((call) => runningRow(call, now));
  const background = jobs.list().map((job) => jobRow(job, now));
  const lines = [
    ...section("Running", executing),
    ...section("Background", background),
    ...section("Finished", log.finished.slice(-SHOWN_FINISHED).map(finishedRow)),
  ];
  if (lines.length === 0) return ["No tool was called yet, and nothing runs in the background."];
  if (executing.length + runningJobs(jobs).length > 0)
    lines.push("/status end ID ends a running or background one.");
  return lines;
}

/** Everything `/status end` accepts now. */
export function endableIds(log: CallLog, jobs: BackgroundJobs): string[] {
  return [...log.running.map(({ number }) => `#${number}`), ...runningJobs(jobs).map(({ id }) => id)];
}

function runningRow(call: LoggedCall, now: number): Row {
  const facts = [`executing… ${formatDuration(now - call.startedAt)}`, pidOf(call)];
  return { ...callRow(call), facts: facts.filter(Boolean).join(" · ") };
}

function jobRow({ id, command, pids, startedAt, logFile, ended }: BackgroundJob, now: number): Row {
  const running = pids.length === 0 ? "working" : `pid ${pids.join(", ")}`;
  const state = ended === undefined ? running : escapeToLine(ended);
  const facts = [state, formatDuration(now - startedAt)];
  if (logFile !== undefined) facts.push(`output in ${escapeToLine(logFile)}`);
  return { label: escapeToLine(id), title: escapeToLine(command), facts: facts.join(" · ") };
}

function finishedRow(call: FinishedLoggedCall): Row {
  const facts = [call.words, formatDuration(call.durationMs), pidOf(call)];
  return { ...callRow(call), facts: `${call.ok ? "✓" : "✗"} ${facts.filter(Boolean).join(" · ")}` };
}

function pidOf({ pid }: LoggedCall): string {
  return pid === undefined ? "" : `pid ${pid}`;
}

function callRow({ number, name, title }: LoggedCall): Pick<Row, "label" | "title"> {
  return { label: `#${number}  ${escapeToLine(name)}`, title };
}

/** One line, if it fits: the call's title is shortened, its result is not. */
function fit({ label, title, facts }: Row, columns: number): string {
  const room = columns - textWidth(label) - textWidth(facts) - "      ".length;
  return `  ${label}  ${cutToWidth(title, Math.max(SHORTEST_TITLE, room))}  ${facts}`;
}
