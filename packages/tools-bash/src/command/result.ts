import type { ResultView } from "@agent/core";
import type { RefusedFile } from "@agent/core/sandbox";
import { escapeToLine } from "@agent/core/toolkit";
import { type Captured, presentCapture } from "../output/capture.js";
import type { Exceeded } from "../processes/watch.js";
import type { SandboxLevel } from "../sandbox/status.js";
import { type BackgroundWork, exceededSummary, type RunOutcome, type Suspected } from "./outcome.js";

/** The JSON result of `run_bash`. Names are stable; the comment of an optional field says when it is present. */
export interface RunBashResult {
  readonly stdout: string;
  readonly stderr: string;
  /** 128 + n if killed by signal n; -1 if the command was stopped by its timeout or the user, or is still running. */
  readonly exit_code: number;
  /** The signal that killed the shell. */
  readonly signal: string | null;
  readonly timed_out: boolean;
  readonly duration_ms: number;
  /** For each truncated stream: its length, and the file with the full output. */
  readonly truncated?: { readonly stdout?: TruncatedStream; readonly stderr?: TruncatedStream };
  /** If a limit was exceeded: its option name, its value, and what the command used. */
  readonly limit_exceeded?: Exceeded;
  /** If the command failed with a message about missing memory: the kernel's limit for one process, and the peak seen. */
  readonly limit_suspected?: Suspected;
  /** If the user cancelled the call. */
  readonly aborted?: true;
  /** If the user stopped this command, and not the whole turn. */
  readonly ended_by?: "user";
  /** If a user moved the command to the background: it is still running, and its output goes to `background_log`. */
  readonly moved_to_background?: true;
  /** If processes of the command are still running: the name of the job, by which a user can list and stop it. */
  readonly background_job?: string;
  readonly background_pids?: readonly number[];
  /** The file with their further output. */
  readonly background_log?: string;
  /** If a sandbox is configured: the one the command ran in. */
  readonly sandbox?: SandboxLevel;
  /** Processes that could not be killed. */
  readonly unkillable_pids?: readonly number[];
}

export interface TruncatedStream {
  readonly total_bytes: number;
  readonly file?: string;
}

const UNITS = { cpuSeconds: "s of CPU time", memoryMb: "MB", processes: "processes", fileMb: "MB" };

/** The limits a command ran with. */
export interface Allowance {
  readonly timeoutMs: number;
  /** The maximum that a call may request. */
  readonly longestMs: number;
  /** The level in force, if a sandbox is configured. */
  readonly sandbox?: SandboxLevel | undefined;
  /** Protected files that the command created. */
  readonly refused?: readonly RefusedFile[] | undefined;
  /** Notes for the user about git operations that the command did not finish. */
  readonly unfinished?: string | undefined;
  /** Connections of the command that were refused, by destination, each with its reason. */
  readonly refusedHosts?: ReadonlyMap<string, string> | undefined;
}

/** The JSON text for the model. */
export function presentOutcome(outcome: RunOutcome, allowance: Allowance): string {
  const { sandbox } = allowance;
  const { stdout, stderr, stoppedBy, background, unkillable } = outcome;
  const cut = {
    ...(stdout.truncated && { stdout: truncatedStream(stdout) }),
    ...(stderr.truncated && { stderr: truncatedStream(stderr) }),
  };
  const result: RunBashResult = {
    stdout: presentCapture("stdout", stdout),
    stderr: withNotice(presentCapture("stderr", stderr), ...noticesOf(outcome, allowance)),
    exit_code: outcome.exitCode,
    signal: outcome.signal,
    timed_out: stoppedBy === "timeout",
    duration_ms: outcome.durationMs,
    ...(Object.keys(cut).length > 0 && { truncated: cut }),
    ...(typeof stoppedBy === "object" && { limit_exceeded: stoppedBy }),
    ...(outcome.suspected && { limit_suspected: outcome.suspected }),
    ...(stoppedBy === "abort" && { aborted: true as const }),
    ...(stoppedBy === "user" && { ended_by: "user" as const }),
    ...(background?.isDetached && { moved_to_background: true as const }),
    ...(background && { background_job: background.jobId }),
    ...(background && background.pids.length > 0 && { background_pids: background.pids }),
    ...(background?.log !== undefined && { background_log: background.log }),
    ...(sandbox !== undefined && { sandbox }),
    ...(unkillable.length > 0 && { unkillable_pids: unkillable }),
  };
  return JSON.stringify(result);
}

/** The output for a display: its end, and the files with the full output. */
export function outputView(outcome: RunOutcome, allowance: Allowance): ResultView {
  const { stdout, stderr, exitCode } = outcome;
  const gap = stdout.text !== "" && stderr.text !== "" && !stdout.text.endsWith("\n") ? "\n" : "";
  const files = [
    { label: "stdout", ...stdout },
    { label: "stderr", ...stderr },
  ].flatMap(({ label, file, totalBytes }) =>
    file === undefined ? [] : [{ label, path: file, bytes: totalBytes }],
  );
  return {
    type: "output",
    text: withNotice(stdout.text + gap + stderr.text, ...noticesOf(outcome, allowance)),
    // Negative for a command that was stopped or is still running.
    ...(exitCode >= 0 && { exitCode }),
    ...(files.length > 0 && { files }),
  };
}

/** A short summary for a display; `ok` only for exit code 0. */
export function summarize(outcome: RunOutcome, timeoutMs: number): { ok: boolean; summary: string } {
  const { stoppedBy, exitCode, signal } = outcome;
  if (stoppedBy === "timeout") return { ok: false, summary: `timed out after ${timeoutMs} ms` };
  if (stoppedBy === "abort") return { ok: false, summary: "aborted" };
  if (stoppedBy === "user") return { ok: false, summary: "stopped by the user" };
  if (stoppedBy) return { ok: false, summary: exceededSummary(stoppedBy) };
  if (outcome.background?.isDetached) {
    return { ok: true, summary: `moved to the background as ${outcome.background.jobId}` };
  }
  const died = signal === null ? "" : ` (${signal})`;
  const left = outcome.background ? `, left running as ${outcome.background.jobId}` : "";
  return { ok: exitCode === 0, summary: `exit code ${exitCode}${died}${left}` };
}

/** Notices for the reader besides the output. */
function noticesOf(outcome: RunOutcome, allowance: Allowance): (string | undefined)[] {
  return [
    stopNotice(outcome.stoppedBy, allowance) ??
      detachNotice(outcome.background) ??
      suspicionNotice(outcome.suspected),
    refusedNotice(allowance.refused),
    allowance.unfinished,
    hostsNotice(allowance.refusedHosts),
  ];
}

function stopNotice(stoppedBy: RunOutcome["stoppedBy"], allowance: Allowance): string | undefined {
  if (stoppedBy === undefined) return undefined;
  if (stoppedBy === "timeout") {
    return `[timed out after ${allowance.timeoutMs} ms; the command and everything it started were stopped. ${moreTime(allowance)}]`;
  }
  if (stoppedBy === "abort") return "[aborted; the command and everything it started were stopped.]";
  if (stoppedBy === "user") {
    return "[stopped by the user; the command and everything it started were stopped. Do not run it again unless the user asks.]";
  }
  const { limit, used, allowed } = stoppedBy;
  return `[${exceededSummary(stoppedBy)}: ${used} ${UNITS[limit]} used, ${allowed} allowed (limits.${limit}). The command and everything it started were stopped.]`;
}

function detachNotice(background: BackgroundWork | undefined): string | undefined {
  if (!background?.isDetached) return undefined;
  const log = background.log === undefined ? "" : ` What it prints from now on goes to ${background.log}.`;
  return `[moved to the background by the user as ${background.jobId}; it has not ended.${log}]`;
}

/** How the model can get more time, if there is a way. */
function moreTime({ timeoutMs, longestMs, sandbox }: Allowance): string {
  // A sandbox ends together with its command.
  const orBackground = sandbox === "bubblewrap" ? "" : ', or append " &" to let it run on in the background';
  if (timeoutMs >= longestMs) {
    return `No command may take longer (limits.timeoutMs)${orBackground.replace(", or", ";")}.`;
  }
  const more = Math.min(timeoutMs * 4, longestMs);
  return `If it needs more time, pass a longer "timeout", such as ${more} (at most ${longestMs})${orBackground}.`;
}

function suspicionNotice(suspected: Suspected | undefined): string | undefined {
  if (suspected === undefined) return undefined;
  const seen =
    suspected.peak_seen === 0
      ? "it ended before it was looked at"
      : `${suspected.peak_seen} MB were seen in use`;
  return `[probably the memory limit: one process may have ${suspected.per_process} MB of data here (limits.memoryMb); ${seen}.]`;
}

function refusedNotice(refused: readonly RefusedFile[] = []): string | undefined {
  const [renamed, left] = [true, false].map((isRenamed) =>
    refused
      .filter((file) => file.isRenamed === isRenamed)
      .map(({ path }) => escapeToLine(path))
      .join(", "),
  );
  if (!renamed && !left) return undefined;
  const names = [renamed, left].filter(Boolean).join(", ");
  return `[commands in the sandbox may not make ${names}: other programs run it, or follow it, without asking.${renamed ? ' It was renamed to end in ".refused".' : ""}${left ? ` It was not possible to rename ${left}: look at it before you use this directory.` : ""}]`;
}

function hostsNotice(hosts: ReadonlyMap<string, string> = new Map()): string | undefined {
  if (hosts.size === 0) return undefined;
  const reasons = [...hosts].map(([destination, reason]) => `${destination}: ${reason}`);
  return `[connections that the sandbox refused: ${reasons.join(" ")}]`;
}

/** Add notices after truncation, each on its own line, so that no notice is truncated. */
function withNotice(text: string, ...notices: readonly (string | undefined)[]): string {
  const lines = notices.filter((notice) => notice !== undefined).map((notice) => `${notice}\n`);
  if (lines.length === 0) return text;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${lines.join("")}`;
}

function truncatedStream({ totalBytes, file }: Captured): TruncatedStream {
  return { total_bytes: totalBytes, ...(file !== undefined && { file }) };
}
