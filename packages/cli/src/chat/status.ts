import type { BackgroundJob, BackgroundJobs } from "@agent/core";
import { escapeToLine } from "@agent/core/toolkit";
import { formatDuration } from "../display/duration.js";
import { cutToWidth } from "../display/width.js";
import type { CallLog, LoggedCall } from "./callLog.js";

const SHOWN_FINISHED = 20;
const TITLE_WIDTH = 44;

/** What `/status` shows: what runs now, what runs in the background, and what has ended. */
export function statusLines(log: CallLog, jobs: BackgroundJobs, now: number): string[] {
  const executing = log.running.map((call) =>
    row(call, `executing… ${formatDuration(now - call.startedAt)}`),
  );
  const background = jobs.list().map((job) => {
    const { id, command, pids, startedAt, logFile, ended } = job;
    const details = [
      ended === undefined ? `pid ${pids.join(", ") || "none"}` : escapeToLine(ended),
      formatDuration(now - startedAt),
      ...(logFile === undefined ? [] : [`output in ${escapeToLine(logFile)}`]),
    ];
    return `  ${escapeToLine(id)}  ${shorten(escapeToLine(command))}  ${details.join(" · ")}`;
  });
  const finished = log.finished.slice(-SHOWN_FINISHED).map((call) => {
    const details = [
      ...(call.words === "" ? [] : [call.words]),
      formatDuration(call.durationMs),
      ...(call.pid === undefined ? [] : [`pid ${call.pid}`]),
    ];
    return row(call, `${call.ok ? "✓" : "✗"} ${details.join(" · ")}`);
  });
  const lines = [
    ...section("Running", executing),
    ...section("Background", background),
    ...section("Finished", finished),
  ];
  if (lines.length === 0) return ["No tool was called yet, and nothing runs in the background."];
  if (executing.length + running(jobs).length > 0)
    lines.push("/status end ID ends a running or background one.");
  return lines;
}

/** Everything `/status end` accepts now. */
export function endableIds(log: CallLog, jobs: BackgroundJobs): string[] {
  return [...log.running.map(({ number }) => `#${number}`), ...running(jobs).map(({ id }) => id)];
}

function running(jobs: BackgroundJobs): readonly BackgroundJob[] {
  return jobs.list().filter((job) => job.ended === undefined);
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines];
}

function row(call: LoggedCall, state: string): string {
  return `  #${call.number}  ${escapeToLine(call.name)}  ${shorten(call.title)}  ${state}`;
}

function shorten(text: string): string {
  return cutToWidth(text, TITLE_WIDTH);
}
