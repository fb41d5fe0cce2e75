import { defineTool } from "@agent/core";
import { openTelemetry } from "@agent/core/otel";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { beforeAll, expect, test } from "vitest";
import { follow, openEngine, scripted, workWith } from "../test/helpers.js";
import { startRun } from "./engine/startRun.js";
import { activeTrace, traceRuns } from "./otel.js";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});

function collect() {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  return { exporter, tracerProvider };
}

test("records the claims of a run as one trace from any starter, linked across workers, with the agent inside", async () => {
  const { exporter, tracerProvider } = collect();
  const engine = openEngine();
  const input = { type: "object", properties: {} } as const;
  const tool = defineTool({ name: "write", description: "Writes.", input, execute: () => "wrote" });
  const options = ({ approve }: { approve: never }) => ({
    approve,
    telemetry: openTelemetry({ tracerProvider }),
  });
  const definition = scripted([{ calls: [{ name: "write" }] }], [tool], options as never);
  const tracer = tracerProvider.getTracer("test");
  const id = await tracer.startActiveSpan("request", async (span) => {
    const started = await startRun(engine, definition, {}, { trace: activeTrace() ?? "" });
    span.end();
    return started;
  });
  const first = await workWith(engine, definition, { tracing: traceRuns({ tracerProvider }) });
  await follow(engine, id, "waiting");
  await first.close();
  await engine.decide(id, (await engine.get(id))?.approvals[0]?.key ?? "", "allow");
  const again = { ...definition, create: scripted(["Done."], [tool], options as never).create };
  const second = await workWith(engine, again, { tracing: traceRuns({ tracerProvider }) });
  await follow(engine, id);
  await second.close();
  const spans = exporter.getFinishedSpans();
  const request = spans.find(({ name }) => name === "request");
  const claims = spans.filter(({ name }) => name === "run scripted");
  expect(claims.map(({ attributes }) => attributes["agent.run.state"])).toEqual(["waiting", "done"]);
  for (const claim of claims) {
    expect(claim.spanContext().traceId).toBe(request?.spanContext().traceId);
    expect(claim.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  }
  expect(claims[1]?.links.map((link) => link.context.spanId)).toEqual([claims[0]?.spanContext().spanId]);
  const tools = spans.filter(({ name }) => name.startsWith("execute_tool"));
  expect(tools.at(-1)?.spanContext().traceId).toBe(request?.spanContext().traceId);
});

test("starts a trace with the first claim if there is none to join, and ignores nonsense", async () => {
  const { exporter, tracerProvider } = collect();
  const engine = openEngine();
  const definition = scripted(["Done."]);
  await workWith(engine, definition, { tracing: traceRuns({ tracerProvider }) });
  const id = await startRun(engine, definition, {}, { trace: "nonsense" });
  await follow(engine, id);
  const [span] = exporter.getFinishedSpans();
  expect(span?.parentSpanContext).toBeUndefined();
  expect(trace.getActiveSpan()).toBeUndefined();
  expect(activeTrace()).toBeUndefined();
});
