import { isRecord } from "@agent/core/toolkit";
import { type Decision, RUN_STATES, type Run, type RunAccess } from "@agent/durable";
import { approvalLines, denial } from "../../chat/approvalQuestion.js";
import { PLAIN_STYLE } from "../../display/style.js";
import type { ServerOptions } from "./server.js";

const LIST_LIMIT = 200;
const BUCKETS = 60;
const MINUTE_MS = 60_000;
const LONGEST_MINUTES = 7 * 24 * 60;
const RUN_PATH = /^\/api\/runs\/([\w-]{1,100})(?:\/(events|decide|cancel|retry))?$/;

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
  /** Aborts when the reader is gone. */
  readonly signal: AbortSignal;
  readonly options: ServerOptions;
}

export type ApiAnswer = { readonly json: unknown } | { readonly stream: AsyncIterable<unknown> };

/** Answers a request of the page about the runs it has access to. Throws `HttpError`. */
export async function answerApi(engine: RunAccess, request: ApiRequest): Promise<ApiAnswer> {
  const { pathname, searchParams } = request.url;
  if (request.method !== "GET" && request.method !== "POST")
    throw new HttpError(405, "This takes a GET or a POST.");
  if (pathname === "/api/runs") return { json: await listRuns(engine, searchParams, request.options) };
  if (pathname === "/api/activity") return { json: await activity(engine, searchParams) };
  const [, id, part] = RUN_PATH.exec(pathname) ?? [];
  if (id === undefined) throw new HttpError(404, "There is nothing here.");
  const run = await engine.get(id);
  if (!run) throw new HttpError(404, `There is no run ${id}.`);
  if (part === undefined) return { json: { run: withQuestions(run) } };
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

/** The run with each waiting call as a question in words; invisible characters are escaped. */
function withQuestions({ approvals, ...run }: Run): unknown {
  return {
    ...run,
    approvals: approvals.map((call) => ({
      ...call,
      question: approvalLines(call, PLAIN_STYLE).join("\n"),
    })),
  };
}

async function listRuns(
  engine: RunAccess,
  query: URLSearchParams,
  { board, tenant }: ServerOptions,
): Promise<unknown> {
  const state = RUN_STATES.find((one) => one === query.get("state"));
  const [label, text, after] = ["label", "text", "after"].map((name) => query.get(name) || undefined);
  const filter = { ...tenantOf(query), ...(label && { label }), ...(text && { text }) };
  const [runs, counts] = await Promise.all([
    engine.list({ ...filter, ...(state && { state }), ...(after && { after }), limit: LIST_LIMIT }),
    engine.count(filter),
  ]);
  // Arguments and decisions can be long: the page requests them for one run at a time.
  const rows = runs.map(({ decisions: _, approvals, ...run }) => ({
    ...run,
    waitsFor: approvals.map(({ name }) => name),
  }));
  return {
    runs: rows,
    counts,
    now: Date.now(),
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
  const key = textOf(given.key);
  if (key === "") throw new HttpError(400, '"key" says which call is meant.');
  return await engine.decide(id, key, readDecision(given.decision));
}

function readDecision(value: unknown): Decision {
  if (value === "allow" || value === "always") return value;
  if (isRecord(value) && typeof value.deny === "string") return { deny: denial(value.deny) };
  throw new HttpError(400, '"decision" must be "allow", "always" or { "deny": "reason" }.');
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
