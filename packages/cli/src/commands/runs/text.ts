import type { Run, RunEngine, RunSummary } from "@agent/durable";
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
  if (wait) return `waiting until ${timeText(wait.until)}: ${escapeToLine(wait.reason.message)}`;
  const limit = expiresAt === undefined ? "" : `, denied at ${timeText(expiresAt)}`;
  if (state === "waiting") return `waiting for a decision about ${calls}${limit}`;
  return error ? `${state.replace("_", " ")}: ${escapeToLine(error.message)}` : state.replace("_", " ");
}

/** A time in the local time zone: of today without its date. */
export function timeText(time: number): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return date.toDateString() === new Date().toDateString()
    ? `${minutes}:${two(date.getSeconds())}`
    : `${day} ${minutes}`;
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

const SHORTEST_START = 4;
const PAGE = 500;
const GENERATED = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The run with this id, or the only one whose generated id begins with it. An id that someone chose must be whole: without
 * `order-1`, a command about it must not change `order-17`.
 */
export async function findRun(engine: RunEngine, id: string): Promise<Run> {
  const exact = await engine.get(id);
  if (exact) return exact;
  const found = id.length < SHORTEST_START ? [] : await idsThatBegin(engine, id);
  const [only, other] = found;
  const run = only === undefined || other !== undefined ? undefined : await engine.get(only);
  if (run) return run;
  if (other !== undefined)
    throw new CliError(`Several runs begin with "${id}", such as ${only} and ${other}. Give more of the id.`);
  throw new CliError(`There is no run "${id}". List them with: agent runs list`);
}

/** At most two generated ids: the search also finds titles and error messages. */
async function idsThatBegin(engine: RunEngine, start: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await engine.list({ text: start, limit: PAGE, ...(after !== undefined && { after }) });
    found.push(...page.map(({ id }) => id).filter((id) => id.startsWith(start) && GENERATED.test(id)));
    after = page.at(-1)?.id;
    if (found.length > 1 || page.length < PAGE || after === undefined) return found.slice(0, 2);
  }
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
