import { check, checkOptions, errorMessage } from "@agent/core/toolkit";
import {
  context,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import type { RunClaim } from "./engine/engine.js";
import type { RunTracing } from "./worker/tracing.js";

const SCOPE = "@agent/durable";
const TRACE_KEY = "trace";
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

export interface TraceRunsOptions {
  /** Default: the one registered globally. */
  readonly tracerProvider?: TracerProvider;
}

/**
 * Creates spans of runs, for `startWorker`: one per claim. All claims of a run are in one trace, that of `startRun`'s
 * `trace` or else of the first claim; each is linked to the claim before it, whichever worker had that. The agent's
 * spans are inside, with `openTelemetry()` of `@agent/core/otel`.
 */
export function traceRuns(options: TraceRunsOptions = {}): RunTracing {
  checkOptions("traceRuns", options, { tracerProvider: check.object });
  const { tracerProvider = trace.getTracerProvider() } = options;
  const tracer = tracerProvider.getTracer(SCOPE);
  return {
    async inClaim(claim, work) {
      const earlier = await readTraces(claim);
      const parent = parse(claim.run.trace) ?? earlier[0];
      const last = earlier.at(-1);
      const links: Link[] = last ? [{ context: last }] : [];
      const { id, definition, tenant } = claim.run;
      const attributes = {
        "agent.run.id": id,
        "agent.run.definition": definition,
        "agent.run.tenant": tenant,
        "agent.run.claim": claim.epoch,
        "agent.run.worker": claim.worker,
      };
      const span = tracer.startSpan(
        `run ${definition}`,
        { kind: SpanKind.CONSUMER, attributes, links },
        parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT,
      );
      try {
        const own = format(span.spanContext());
        await claim.append([{ key: TRACE_KEY, kind: "result", value: own }], []);
        const ending = await context.with(trace.setSpan(context.active(), span), work);
        span.setAttribute("agent.run.state", ending.state);
        if ("error" in ending) span.setStatus({ code: SpanStatusCode.ERROR, message: ending.error.message });
        return ending;
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) });
        throw error;
      } finally {
        span.end();
      }
    },
  };
}

/** The W3C `traceparent` of the active span, for `startRun`'s `trace`. */
export function activeTrace(): string | undefined {
  const span = trace.getActiveSpan();
  return span && format(span.spanContext());
}

async function readTraces(claim: RunClaim): Promise<readonly SpanContext[]> {
  if (claim.epoch === 1) return [];
  const entries = await claim.journal();
  return entries.flatMap(({ key, value }) => (key === TRACE_KEY ? (parse(value) ?? []) : []));
}

function format({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

function parse(text: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags] = (typeof text === "string" && TRACEPARENT.exec(text)) || [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? "0", 16), isRemote: true };
}
