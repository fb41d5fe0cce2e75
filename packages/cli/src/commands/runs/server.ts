import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { isAgentError } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import type { RunAccess, RunEngine } from "@agent/durable";
import { templatePath } from "../../process/templates.js";
import { answerApi, HttpError } from "./api.js";

const MAX_BODY_BYTES = 64 * 1024;
// A base to parse request paths with: the host in it does not matter.
const ORIGIN = "http://127.0.0.1";
const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

export interface ServerOptions {
  /** The URL of the queue's own board, if there is one. */
  readonly board?: string;
  /** Only the runs of this tenant are shown and can be changed. Default: all runs. */
  readonly tenant?: string;
  /** The version of the program, for runs that are started on the page. Absent: none can be started. */
  readonly version?: string;
}

/** The permissions of a token: view; also decide about calls; or everything. */
export const ROLES = ["viewer", "approver", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** Serves the page and its data. Anyone may load the page, which contains no data; data requests need the token. */
export function createRunsServer(
  engine: RunEngine,
  tokens: Readonly<Partial<Record<Role, string>>>,
  options: ServerOptions,
): Server {
  const page = readFileSync(templatePath("runs.html"), "utf8");
  const policy = contentPolicy(page);
  const runs = options.tenant === undefined ? engine : engine.forTenant(options.tenant);
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // DNS rebinding: a foreign page can make a browser send requests here under the page's own host name.
    if (!LOOPBACK.test(request.headers.host ?? ""))
      throw new HttpError(403, "This page is served on loopback only.");
    const path = request.url ?? "/";
    if (!URL.canParse(path, ORIGIN)) throw new HttpError(400, "The address cannot be read.");
    const url = new URL(path, ORIGIN);
    if (url.pathname === "/" && request.method === "GET") {
      response.writeHead(200, {
        ...HEADERS,
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policy,
      });
      response.end(page);
      return;
    }
    const isMetrics = url.pathname === "/metrics";
    if (!url.pathname.startsWith("/api/") && !isMetrics) throw new HttpError(404, "There is nothing here.");
    const role = ROLES.find((one) => isToken(request.headers.authorization, tokens[one]));
    if (!role) throw new HttpError(401, "The token is missing or wrong.");
    if (isMetrics) {
      const text = await metricsText(runs, options.tenant === undefined ? engine : undefined);
      response.writeHead(200, { ...HEADERS, "content-type": "text/plain; version=0.0.4; charset=utf-8" });
      response.end(text);
      return;
    }
    const body = request.method === "POST" ? await readBody(request) : undefined;
    const closed = new AbortController();
    response.once("close", () => closed.abort());
    const answer = await answerApi(runs, {
      method: request.method ?? "GET",
      url,
      body,
      signal: closed.signal,
      options,
      role,
      // Workers and limits are shared by all tenants.
      ...(options.tenant === undefined && { engine }),
    });
    if ("stream" in answer) await sendStream(response, answer.stream);
    else sendJson(response, 200, answer.json);
  };
  return createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, statusOf(error), { error: errorMessage(error) });
    });
  });
}

function statusOf(error: unknown): number {
  if (error instanceof HttpError) return error.status;
  return isAgentError(error, "invalid_argument") ? 400 : 500;
}

const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...HEADERS, "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

/** Streams each value as one line of JSON, with backpressure. */
async function sendStream(response: ServerResponse, values: AsyncIterable<unknown>): Promise<void> {
  response.writeHead(200, { ...HEADERS, "content-type": "application/x-ndjson" });
  response.flushHeaders();
  await pipeline(values, toLines, response);
}

async function* toLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new HttpError(413, `A request holds at most ${MAX_BODY_BYTES} bytes.`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new HttpError(400, "The request is not JSON.");
  }
}

function isToken(header: string | undefined, token: string | undefined): boolean {
  if (token === undefined) return false;
  const given = Buffer.from(header ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Only the page's own script and style run, whatever a run's text contains. */
function contentPolicy(page: string): string {
  const hashes = (tag: string): string =>
    [...page.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))]
      .map(([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`)
      .join(" ");
  return [
    "default-src 'none'",
    `script-src ${hashes("script")}`,
    `style-src ${hashes("style")}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const HOUR_MS = 3_600_000;

/** The runs as Prometheus metrics. `engine` is absent if only the runs of one tenant are visible. */
async function metricsText(runs: RunAccess, engine: RunEngine | undefined): Promise<string> {
  const [counts, { waiting: undecided }, [hour]] = await Promise.all([
    runs.count(),
    runs.count({ undecided: true }),
    runs.activity(Date.now() - HOUR_MS, HOUR_MS),
  ]);
  const lines = [
    ...gauge("agent_runs", "Runs by state.", labelled("state", counts)),
    ...gauge("agent_runs_undecided", "Runs that wait for a decision.", [["", undecided]]),
    ...gauge(
      "agent_runs_ended_last_hour",
      "Runs that ended within the last hour.",
      labelled("state", {
        done: hour?.done ?? 0,
        failed: hour?.failed ?? 0,
        cancelled: hour?.cancelled ?? 0,
      }),
    ),
    ...gauge("agent_runs_cost_dollars_last_hour", "What those have cost.", [["", hour?.cost ?? 0]]),
    ...gauge(
      "agent_runs_queue_wait_seconds",
      "How long runs waited for a worker, on average of the last hour.",
      [["", (hour?.averageWaitMs ?? 0) / 1000]],
    ),
  ];
  if (!engine) return `${lines.join("\n")}\n`;
  const [workers, paused, rates] = await Promise.all([
    engine.workers(),
    engine.getPaused(),
    engine.getRates(),
  ]);
  const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
  lines.push(
    ...gauge("agent_runs_workers", "Workers with a recent heartbeat.", [["", workers.length]]),
    ...gauge("agent_runs_worker_slots", "How many runs the workers can have.", [
      ["", sum(workers.map(({ concurrency }) => concurrency))],
    ]),
    ...gauge("agent_runs_paused", "Tenants whose runs are paused; * for all.", [["", paused.length]]),
    ...gauge("agent_runs_model_calls_per_minute_limit", "Limits on model calls.", labelled("target", rates)),
  );
  return `${lines.join("\n")}\n`;
}

type Sample = readonly [labels: string, value: number];

function gauge(name: string, help: string, samples: readonly Sample[]): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...samples.map(([labels, value]) => `${name}${labels} ${value}`),
  ];
}

function labelled(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([name, value]) => {
    const escaped = name.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
    return [`{${label}="${escaped}"}`, value];
  });
}
