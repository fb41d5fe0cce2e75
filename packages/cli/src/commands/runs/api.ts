import { setTimeout as sleep } from "node:timers/promises";
import { formatRule, parseRule } from "@agent/core/host";
import { errorMessage, isRecord } from "@agent/core/toolkit";
import {
  type Approval,
  type Decision,
  RUN_STATES,
  type Run,
  type RunAccess,
  type RunEngine,
  type RunQuery,
  startRun,
} from "@agent/durable";
import { spellOut } from "@agent/internal";
import { approvalLines, denial, PLAIN_STYLE } from "@agent/terminal/host";
import { directoryLabel, TASK, type TaskInput } from "./definition.js";
import type { Role, ServerOptions } from "./server.js";
import { titleOf } from "./text.js";

const LIST_LIMIT = 100;
/** The number of runs the inbox shows per page, with their full calls. */
const INBOX_LIMIT = 50;
const MOST_BULK = 500;
const MOST_WORKERS = 200;
/** The minimum interval between two polls for a page, and its multiple of the duration of a poll. */
const WATCH_MS = 2000;
const REST = 4;
/** Ages on the page are updated this often, even if nothing has changed. */
const TICK_MS = 15_000;
const BUCKETS = 60;
const MINUTE_MS = 60_000;
const LONGEST_MINUTES = 7 * 24 * 60;
const RUN_PATH = /^\/api\/runs\/([\w-]{1,100})(?:\/(events|decide|cancel|retry|send))?$/;

/** A failure that is answered with an HTTP status and a message. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ApiRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  readonly options: ServerOptions;
  readonly role: Role;
  /** The access to workers and limits, if the page may show them. */
  readonly engine?: RunEngine;
}

export type ApiAnswer = { readonly json: unknown } | { readonly stream: AsyncIterable<unknown> };

/** Answers a request of the page about the runs it has access to. Throws `HttpError`. */
export async function answerApi(engine: RunAccess, request: ApiRequest): Promise<ApiAnswer> {
  const { pathname, searchParams } = request.url;
  if (request.method !== "GET" && request.method !== "POST")
    throw new HttpError(405, "This takes a GET or a POST.");
  if (request.method === "POST") checkRole(request);
  if (pathname === "/api/pause") return { json: await pause(request) };
  if (pathname === "/api/runs") {
    if (request.method === "POST") return { json: await start(engine, request) };
    return { json: { ...(await listRuns(engine, searchParams, request.options)), now: Date.now() } };
  }
  if (pathname === "/api/watch") return { stream: watch(engine, request) };
  if (pathname === "/api/bulk") return { json: await changeMany(engine, request) };
  if (pathname === "/api/activity") return { json: await activity(engine, searchParams) };
  const [, id, part] = RUN_PATH.exec(pathname) ?? [];
  if (id === undefined) throw new HttpError(404, "There is nothing here.");
  const run = await engine.get(id);
  if (!run) throw new HttpError(404, `There is no run ${id}.`);
  if (part === undefined) return { json: { run: withQuestions(run), role: request.role } };
  if (part === "events") {
    const after = searchParams.get("after");
    const options = { follow: true, signal: request.signal, ...(after !== null && { after }) };
    return { stream: engine.events(id, options) };
  }
  if (request.method !== "POST") throw new HttpError(405, "This takes a POST.");
  const applied = await change(engine, id, part, request.body);
  if (!applied) throw new HttpError(409, `Too late: the run is ${(await engine.get(id))?.state ?? "gone"}.`);
  return { json: { ok: true } };
}

/** Throws unless the token allows this change. */
function checkRole({ role, url: { pathname }, body }: ApiRequest): void {
  const isDecision =
    pathname.endsWith("/decide") || (pathname === "/api/bulk" && isRecord(body) && body.action === "decide");
  if (role === "admin" || (role === "approver" && isDecision)) return;
  throw new HttpError(403, `The role ${role} may not do this.`);
}

/** Pauses or resumes claiming of the runs of a tenant, or of all. */
async function pause({ method, body, engine }: ApiRequest): Promise<unknown> {
  if (method !== "POST") throw new HttpError(405, "This takes a POST.");
  if (!engine) throw new HttpError(403, "Runs cannot be paused on the page of one tenant.");
  const { tenant, paused } = isRecord(body) ? body : {};
  if (typeof paused !== "boolean") throw new HttpError(400, '"paused" must be true or false.');
  await engine.setPaused(textOf(tenant) || "*", paused);
  return { paused: await engine.getPaused() };
}

/** The run with each pending call as a question; invisible characters are escaped. */
function withQuestions({ approvals, ...run }: Run): unknown {
  return { ...run, approvals: approvals.map(toQuestion) };
}

function toQuestion(call: Approval): unknown {
  const { name, args, preview } = call;
  const shown = preview && preview.changes.length > 0 ? (preview.shows ?? []) : [];
  const rest = Object.fromEntries(Object.entries(args).filter(([key]) => !shown.includes(key)));
  const changes = preview?.changes.map((file) => ({
    ...file,
    path: spellOut(file.path),
    hunks: file.hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(spellOut) })),
  }));
  const { caution, always, ...description } = call.description;
  return {
    ...call,
    // The page renders these itself; its text contains no invisible characters.
    description: {
      ...description,
      title: spellOut(description.title),
      needs: description.needs.map((need) => ({
        ...need,
        path: spellOut(need.path),
        reason: spellOut(need.reason),
      })),
      ...(caution !== undefined && { caution: spellOut(caution) }),
      // A rule is sent back as it is offered, so one with invisible characters is not offered.
      ...(always && { always: always.filter(({ pattern }) => spellOut(pattern) === pattern) }),
    },
    ...(changes && { preview: { changes } }),
    question: approvalLines(
      { name, args: rest, description: { ...description, needs: [] } },
      PLAIN_STYLE,
    ).join("\n"),
  };
}

/**
 * The list, the counts and the plots for one page, whenever they change. One poll at a time, with a pause in between: a
 * slow database is polled less often.
 */
async function* watch(engine: RunAccess, request: ApiRequest): AsyncGenerator<unknown> {
  const { signal, options, role } = request;
  const { searchParams: query } = request.url;
  let last = "";
  let sentAt = 0;
  let plots: { readonly value: unknown; readonly until: number } | undefined;
  while (!signal.aborted) {
    const begun = performance.now();
    const list = query.has("inbox") ? await listInbox(engine, query) : await listRuns(engine, query, options);
    const fleet = await describeFleet(request);
    if (query.has("minutes") && (plots === undefined || performance.now() > plots.until)) {
      const before = performance.now();
      const value = await activity(engine, query);
      const now = performance.now();
      plots = { value, until: now + Math.max(TICK_MS, 10 * (now - before)) };
    }
    const value = { ...list, ...fleet, role, activity: plots?.value };
    const text = JSON.stringify(value);
    const took = performance.now() - begun;
    if (text !== last || performance.now() - sentAt > TICK_MS) {
      last = text;
      sentAt = performance.now();
      yield { ...value, now: Date.now() };
    }
    await sleep(Math.max(WATCH_MS, REST * took), undefined, { signal }).catch(() => undefined);
  }
}

/** The workers, limits, pauses and schedules; nothing on the page of one tenant. */
async function describeFleet({ engine }: ApiRequest): Promise<Record<string, unknown>> {
  if (!engine) return { workers: [] };
  const [workers, rates, limits, paused, schedules] = await Promise.all([
    engine.workers(),
    engine.getRates(),
    engine.getAllLimits(),
    engine.getPaused(),
    engine.getSchedules(),
  ]);
  const shown = schedules.map(({ id, cron, timeZone, nextAt, last }) => ({
    id,
    cron,
    timeZone,
    nextAt,
    last,
  }));
  return { workers: workers.slice(0, MOST_WORKERS), rates, limits, paused, schedules: shown };
}

/** The runs that wait for a decision, with their calls. */
async function listInbox(engine: RunAccess, query: URLSearchParams): Promise<Record<string, unknown>> {
  const filter = { ...tenantOf(query), undecided: true };
  const [runs, { waiting: undecided }] = await Promise.all([
    engine.list({ ...filter, limit: INBOX_LIMIT }),
    engine.count(filter),
  ]);
  const rows = runs.map(({ id, title, tenant, approvals }) => ({
    id,
    title,
    tenant,
    approvals: approvals.map(toQuestion),
  }));
  return { runs: rows, undecided, ...nextPage(runs, INBOX_LIMIT) };
}

async function start(engine: RunAccess, { body, options }: ApiRequest): Promise<unknown> {
  const { version, tenant: only } = options;
  if (version === undefined) throw new HttpError(403, "Runs cannot be started on this page.");
  const { task, title, labels, tenant, startAt, maxCost } = isRecord(body) ? body : {};
  if (typeof task !== "string" || task.trim() === "") throw new HttpError(400, '"task" says what to do.');
  if (maxCost !== undefined && !(typeof maxCost === "number" && maxCost > 0)) {
    throw new HttpError(400, '"maxCost" must be a number of dollars above 0.');
  }
  const given = Array.isArray(labels) ? labels.map(String).filter((label) => label !== "") : [];
  const input: TaskInput = { task: task.trim(), ...(maxCost !== undefined && { maxCost }) };
  const id = await startRun(engine, { name: TASK, version }, input, {
    title: titleOf(textOf(title) || task),
    labels: given.length > 0 ? given : [directoryLabel()],
    tenant: only ?? (textOf(tenant) || "default"),
    ...(startAt !== undefined && { startAt: startAt as number }),
  });
  return { id };
}

/** Cancels or retries several runs. A run that can no longer be changed is only counted. */
async function changeMany(engine: RunAccess, { method, body }: ApiRequest): Promise<unknown> {
  if (method !== "POST") throw new HttpError(405, "This takes a POST.");
  const { action, ids, calls, decision } = isRecord(body) ? body : {};
  if (action === "decide") return await decideMany(engine, calls, decision);
  if (action !== "cancel" && action !== "retry") {
    throw new HttpError(400, '"action" must be "cancel" or "retry".');
  }
  if (!Array.isArray(ids) || ids.length > MOST_BULK || !ids.every((id) => typeof id === "string")) {
    throw new HttpError(400, `"ids" must be a list of at most ${MOST_BULK} ids of runs.`);
  }
  let changed = 0;
  for (const id of new Set<string>(ids)) if (await change(engine, id, action, {})) changed++;
  return { changed, unchanged: new Set(ids).size - changed };
}

/** Decides about several calls in the same way. */
async function decideMany(engine: RunAccess, calls: unknown, decision: unknown): Promise<unknown> {
  const isCall = (one: unknown): one is { readonly id: string; readonly key: string } =>
    isRecord(one) && typeof one.id === "string" && typeof one.key === "string";
  if (!Array.isArray(calls) || calls.length > MOST_BULK || !calls.every(isCall)) {
    throw new HttpError(
      400,
      `"calls" must be a list of at most ${MOST_BULK} calls, each with "id" and "key".`,
    );
  }
  const read = readDecision(decision);
  let changed = 0;
  for (const { id, key } of calls) if (await engine.decide(id, key, read)) changed++;
  return { changed, unchanged: calls.length - changed };
}

/** The id for requesting the next page, if this page is full. */
function nextPage(runs: readonly { readonly id: string }[], limit: number): { readonly next?: string } {
  const last = runs.at(-1);
  return last && runs.length === limit ? { next: last.id } : {};
}

async function listRuns(
  engine: RunAccess,
  query: URLSearchParams,
  { board, tenant }: ServerOptions,
): Promise<Record<string, unknown>> {
  const state = RUN_STATES.find((one) => one === query.get("state"));
  const [label, text, after] = ["label", "text", "after"].map((name) => query.get(name) || undefined);
  const filter: RunQuery = { ...tenantOf(query), ...(label && { label }), ...(text && { text }) };
  const [runs, counts, { waiting: undecided }] = await Promise.all([
    engine.list({ ...filter, ...(state && { state }), ...(after && { after }), limit: LIST_LIMIT }),
    engine.count(filter),
    engine.count({ ...tenantOf(query), undecided: true }),
  ]);
  // Arguments and decisions can be long: the page requests them for one run at a time.
  const rows = runs.map(({ decisions: _, approvals, ...run }) => ({
    ...run,
    waitsFor: approvals.map(({ name }) => name),
  }));
  return {
    runs: rows,
    counts,
    undecided,
    ...nextPage(runs, LIST_LIMIT),
    ...(board !== undefined && { board }),
    ...(tenant !== undefined && { tenant }),
  };
}

async function activity(engine: RunAccess, query: URLSearchParams): Promise<unknown> {
  const minutes = Number(query.get("minutes") ?? 60);
  if (!(minutes > 0 && minutes <= LONGEST_MINUTES)) {
    throw new HttpError(400, `minutes must be a number from 1 to ${LONGEST_MINUTES}.`);
  }
  const bucketMs = (minutes * MINUTE_MS) / BUCKETS;
  const since = Date.now() - minutes * MINUTE_MS;
  return { bucketMs, buckets: await engine.activity(since, bucketMs, tenantOf(query)) };
}

function tenantOf(query: URLSearchParams): { readonly tenant?: string } {
  const tenant = query.get("tenant");
  return tenant ? { tenant } : {};
}

async function change(engine: RunAccess, id: string, part: string, body: unknown): Promise<boolean> {
  const given = isRecord(body) ? body : {};
  if (part === "cancel") return await engine.cancel(id, textOf(given.reason) || "on the page of runs");
  if (part === "retry") return await engine.retry(id);
  if (part === "send") {
    const message = textOf(given.message).trim();
    if (message === "") throw new HttpError(400, '"message" says what to send.');
    return await engine.send(id, message);
  }
  const key = textOf(given.key);
  if (key === "") throw new HttpError(400, '"key" says which call is meant.');
  return await engine.decide(id, key, readDecision(given.decision));
}

function readDecision(value: unknown): Decision {
  if (value === "allow" || value === "always") return value;
  if (isRecord(value) && typeof value.deny === "string") return { deny: denial(value.deny) };
  if (isRecord(value) && typeof value.always === "string") {
    try {
      return { always: formatRule(parseRule(value.always)) };
    } catch (error) {
      throw new HttpError(400, errorMessage(error));
    }
  }
  throw new HttpError(
    400,
    '"decision" must be "allow", "always", { "always": "rule" } or { "deny": "reason" }.',
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
