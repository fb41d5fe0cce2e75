import type { RunSummary } from "@agent/durable";
import { escapeToLine, shorten } from "@agent/internal";
import { formatCost, formatDuration } from "@agent/terminal/host";
import { CliError } from "../../process/errors.js";

/** The state of a run, in one line. */
export function stateText({
  state,
  approvals,
  wait,
  expiresAt,
  error,
}: Pick<RunSummary, "state" | "approvals" | "wait" | "expiresAt" | "error">): string {
  const calls = approvals.map(({ name }) => name).join(", ");
  if (wait)
    return `waiting until ${new Date(wait.until).toISOString()}: ${escapeToLine(wait.reason.message)}`;
  const limit = expiresAt === undefined ? "" : `, denied at ${new Date(expiresAt).toISOString()}`;
  if (state === "waiting") return `waiting for a decision about ${calls}${limit}`;
  return error ? `${state.replace("_", " ")}: ${escapeToLine(error.message)}` : state.replace("_", " ");
}

const TITLE_LENGTH = 120;

/** A task in one line, for lists. */
export function titleOf(task: string): string {
  return shorten(task.replace(/\s+/g, " "), TITLE_LENGTH);
}

export function tokensText({ usage }: RunSummary): string {
  return usage ? `${usage.inputTokens + usage.outputTokens} tokens` : "";
}

export function costText({ cost, usage }: RunSummary): string {
  return cost === undefined ? "" : formatCost(cost, usage?.costIsEstimate);
}

/** How long a run has existed, or took. */
export function ageText({ createdAt, endedAt }: RunSummary): string {
  return formatDuration((endedAt ?? Date.now()) - createdAt);
}

export function unknownRun(id: string): CliError {
  return new CliError(`There is no run "${id}". List them with: agent runs list`);
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30d`, `12h`, `90m` in milliseconds. */
export function parseAge(text: string, flag: string): number {
  const [, amount = "", unit = ""] = /^(\d+)(s|m|h|d)$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (UNITS[unit] ?? Number.NaN);
  if (amount !== "" && milliseconds >= 0) return milliseconds;
  throw new CliError(`${flag} must be a time such as 30d, 12h or 90m, got "${text}".`);
}

/** A whole number of at least 1. */
export function parseCount(text: string, flag: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new CliError(`${flag} must be a whole number of at least 1, got "${text}".`);
}
