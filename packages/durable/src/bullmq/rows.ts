import type { NewRun, Pause, Run, RunError, RunState, RunSummary } from "../engine/run.js";

/** The columns of a summary. Times are converted to milliseconds, so that no time zone or precision is lost. */
export const SUMMARY_COLUMNS = `id, definition, version, tenant, labels, priority, kind, title, trace, state, epoch, crashes,
  worker, approvals, decisions, messages, forked_from, error, usage, cost, cancel_reason, pause, extract(epoch from wake_at) * 1000 as wake_ms,
  extract(epoch from created_at) * 1000 as created_ms, extract(epoch from started_at) * 1000 as started_ms,
  extract(epoch from ended_at) * 1000 as ended_ms`;

export const RUN_COLUMNS = `${SUMMARY_COLUMNS}, input, result`;

export interface SummaryRow {
  readonly id: string;
  readonly definition: string;
  readonly version: string;
  readonly tenant: string;
  readonly labels: string[];
  readonly priority: number;
  readonly kind: string;
  readonly title: string | null;
  readonly trace: string | null;
  readonly state: RunState;
  readonly epoch: number;
  readonly crashes: number;
  readonly worker: string | null;
  readonly approvals: string;
  readonly decisions: string;
  readonly messages: string;
  readonly forked_from: string | null;
  readonly error: string | null;
  readonly usage: string | null;
  readonly cost: number | null;
  readonly cancel_reason: string | null;
  readonly pause: string | null;
  readonly wake_ms: string | null;
  readonly created_ms: string;
  readonly started_ms: string | null;
  readonly ended_ms: string | null;
}

export interface RunRow extends SummaryRow {
  readonly input: string;
  readonly result: string | null;
}

export function toSummary(row: SummaryRow): RunSummary {
  const { title, trace, worker, error, usage, cost, cancel_reason: cancelReason, started_ms, ended_ms } = row;
  return {
    id: row.id,
    definition: row.definition,
    version: row.version,
    tenant: row.tenant,
    labels: row.labels,
    priority: row.priority,
    state: row.state,
    epoch: row.epoch,
    crashes: row.crashes,
    createdAt: Math.round(Number(row.created_ms)),
    approvals: JSON.parse(row.approvals),
    decisions: JSON.parse(row.decisions),
    messages: JSON.parse(row.messages),
    ...(row.forked_from !== null && { forkedFrom: row.forked_from }),
    ...(title !== null && { title }),
    ...(trace !== null && { trace }),
    ...(worker !== null && { worker }),
    ...(started_ms !== null && { startedAt: Math.round(Number(started_ms)) }),
    ...(ended_ms !== null && { endedAt: Math.round(Number(ended_ms)) }),
    ...(error !== null && { error: JSON.parse(error) as RunError }),
    ...(usage !== null && { usage: JSON.parse(usage) }),
    ...(cost !== null && { cost }),
    ...(cancelReason !== null && { cancelReason }),
    ...waitOf(row),
  };
}

function waitOf(row: SummaryRow): Pick<RunSummary, "wait" | "expiresAt" | "failures" | "hasModelCall"> {
  const { reason, failures, hasModelCall }: Partial<Pause> = JSON.parse(row.pause ?? "{}");
  const until = row.state === "waiting" && row.wake_ms !== null ? Math.round(Number(row.wake_ms)) : undefined;
  return {
    ...(until !== undefined && reason && { wait: { until, reason } }),
    ...(until !== undefined && row.approvals !== "[]" && { expiresAt: until }),
    ...(failures && { failures }),
    ...(hasModelCall && { hasModelCall }),
  };
}

export function toRun(row: RunRow): Run {
  return {
    ...toSummary(row),
    input: JSON.parse(row.input),
    ...(row.state === "done" && row.result !== null && { result: JSON.parse(row.result) }),
  };
}

/** The queue of a run: a worker that can claim one run of a queue can claim all of them. */
export interface Kind {
  readonly name: string;
  readonly definition: string;
  readonly labels: readonly string[];
}

export function kindOf({ definition, labels }: Pick<NewRun, "definition" | "labels">): Kind {
  // Queue names may not contain ":", and labels may be long: they are encoded, with their length as separator.
  const suffix = labels.map((label) => `.${label.length}_${Buffer.from(label).toString("hex")}`).join("");
  return { name: `${definition}${suffix}`, definition, labels };
}
