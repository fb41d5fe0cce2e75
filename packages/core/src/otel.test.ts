import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fakeTool, registryWith } from "../test/fixtures.js";
import { Agent } from "./agent.js";
import { type OpenTelemetryOptions, openTelemetry } from "./otel.js";
import type { ChatProvider, ChatResponse } from "./providers/interface.js";
import { type ScriptedAnswer, scriptedProvider } from "./providers/replay.js";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

const usage = { inputTokens: 100, outputTokens: 20, cachedTokens: 60, cacheWriteTokens: 5 };
const answer: ChatResponse = { content: "Done.", toolCalls: [], finishReason: "stop", usage };

/** An agent whose spans and metrics stay in memory; two tools: one that starts a child agent, one that fails. */
function observed(answers: readonly ScriptedAnswer[], options: OpenTelemetryOptions = {}) {
  const spans = new InMemorySpanExporter();
  const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: figures, exportIntervalMillis: 60_000 });
  const telemetry = openTelemetry({
    tracerProvider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
    meterProvider: new MeterProvider({ readers: [reader] }),
    ...options,
  });
  const registry = registryWith(
    fakeTool("delegate", async (_args, call) => {
      const answered = await call?.startAgent?.({ message: "Look.", label: "scout" });
      return answered?.text ?? "";
    }),
    fakeTool("fail", () => {
      throw new Error("no");
    }),
  );
  const provider: ChatProvider = { ...scriptedProvider(answers), id: "acme", model: "acme-1" };
  return {
    agent: new Agent(provider, { telemetry, registry }),
    spans: () => spans.getFinishedSpans(),
    async metrics() {
      await reader.forceFlush();
      return figures
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
    },
  };
}

test("nests spans as the work is: agent, model, tool, child agent", async () => {
  const { agent, spans } = observed([{ calls: [{ name: "delegate" }] }, "Found.", answer], {
    agentName: "helper",
    attributes: { "gen_ai.conversation.id": "c-1" },
  });
  await agent.chat("Go.");
  const all = spans();
  const names = new Map(all.map((span) => [span.spanContext().spanId, span.name]));
  const parentOf = (name: string) =>
    all.filter((span) => span.name === name).map((span) => names.get(span.parentSpanContext?.spanId ?? ""));
  expect(parentOf("invoke_agent helper")).toEqual([undefined]);
  expect(parentOf("execute_tool delegate")).toEqual(["invoke_agent helper"]);
  expect(parentOf("invoke_agent scout")).toEqual(["execute_tool delegate"]);
  expect(parentOf("chat acme-1").sort()).toEqual([
    "invoke_agent helper",
    "invoke_agent helper",
    "invoke_agent scout",
  ]);
  expect(new Set(all.map((span) => span.spanContext().traceId)).size).toBe(1);
  expect(all.every(({ attributes }) => attributes["gen_ai.conversation.id"] === "c-1")).toBe(true);
});

test("follows the conventions for attributes, and keeps no content unless asked for", async () => {
  const { agent, spans } = observed([answer]);
  await agent.chat("my secret plan");
  const chat = spans().find(({ name }) => name === "chat acme-1");
  expect(chat?.attributes).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "acme",
    "gen_ai.request.model": "acme-1",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.usage.cache_read.input_tokens": 60,
    "gen_ai.usage.cache_creation.input_tokens": 5,
  });
  expect(JSON.stringify(spans().map(({ attributes }) => attributes))).not.toContain("secret plan");
});

test("keeps content if the program asks for it", async () => {
  const { agent, spans } = observed([{ calls: [{ name: "fail", args: { a: 1 } }] }, answer], {
    captureContent: true,
  });
  await agent.chat("my plan");
  const kept = Object.assign({}, ...spans().map(({ attributes }) => attributes));
  expect(kept["gen_ai.tool.call.arguments"]).toBe('{"a":1}');
  expect(kept["gen_ai.tool.call.result"]).toBe("Error executing fail: no");
  expect(JSON.parse(kept["gen_ai.input.messages"])[0]).toEqual({ role: "user", content: "my plan" });
});

test("marks the spans of a tool that fails and of a provider that fails", async () => {
  const { agent, spans } = observed([{ calls: [{ name: "fail" }] }]);
  await expect(agent.chat("Go.")).rejects.toThrow("asked for one more");
  const failed = spans().filter(({ status }) => status.code === 2);
  expect(failed.map(({ name, attributes }) => [name, attributes["error.type"]])).toEqual([
    ["execute_tool fail", "error"],
    ["chat acme-1", "replay_mismatch"],
    ["invoke_agent", "replay_mismatch"],
  ]);
});

test("measures durations of every operation and tokens of every request once", async () => {
  const { agent, metrics } = observed([{ calls: [{ name: "fail" }] }, answer]);
  await agent.chat("Go.");
  const found = await metrics();
  const pointsOf = (name: string): DataPoint<Histogram>[] =>
    found.flatMap((metric) =>
      metric.dataPointType === DataPointType.HISTOGRAM && metric.descriptor.name === name
        ? metric.dataPoints
        : [],
    );
  const durations = pointsOf("gen_ai.client.operation.duration");
  expect(
    durations.map(({ attributes, value }) => [attributes["gen_ai.operation.name"], value.count]).sort(),
  ).toEqual([
    ["chat", 2],
    ["execute_tool", 1],
    ["invoke_agent", 1],
  ]);
  const tokens = pointsOf("gen_ai.client.token.usage");
  expect(tokens.map(({ attributes, value }) => [attributes["gen_ai.token.type"], value.sum])).toEqual([
    ["input", 100],
    ["output", 20],
  ]);
  expect(tokens[0]?.value.buckets.boundaries.slice(0, 3)).toEqual([1, 4, 16]);
});

test("works without an SDK and records nothing", async () => {
  const agent = new Agent(scriptedProvider(["Hello."]), { telemetry: openTelemetry() });
  expect(await agent.chat("Hi.")).toBe("Hello.");
});

test("refuses invalid options", () => {
  expect(() => openTelemetry({ agentNam: "x" } as never)).toThrow('Did you mean "agentName"?');
});

test("gives spans the attributes from the context of the message, and the server's address", async () => {
  const spans = new InMemorySpanExporter();
  const telemetry = openTelemetry({
    tracerProvider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
    attributes: (given) => ({ "app.tenant": (given as { tenant: string }).tenant }),
  });
  const provider: ChatProvider = {
    ...scriptedProvider(["Hello."]),
    id: "openai-responses:api.openai.com",
    address: "https://api.openai.com/v1",
  };
  await new Agent(provider, { telemetry }).chat("Hi.", { context: { tenant: "acme" } });
  for (const { attributes } of spans.getFinishedSpans()) {
    expect(attributes).toMatchObject({
      "app.tenant": "acme",
      "gen_ai.provider.name": "openai",
      "server.address": "api.openai.com",
      "server.port": 443,
    });
  }
  expect(spans.getFinishedSpans()).toHaveLength(2);
});

test("answers a message whose attributes cannot be made, and compacts without a context", async () => {
  const spans = new InMemorySpanExporter();
  const telemetry = openTelemetry({
    tracerProvider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
    attributes: (context: { readonly tenant: string } | undefined) => {
      if (!context) throw new Error("no tenant");
      return { "app.tenant": context.tenant };
    },
  });
  const agent = new Agent(scriptedProvider(["Hello.", "Again.", "A summary."]), { telemetry });
  expect(await agent.chat("Hi.", { context: { tenant: "acme" } })).toBe("Hello.");
  expect(await agent.chat("Hi.")).toBe("Again.");
  expect(await agent.compact()).toBe(true);
  const tenants = spans.getFinishedSpans().map(({ attributes }) => attributes["app.tenant"]);
  expect(tenants.slice(0, 4)).toEqual(["acme", "acme", undefined, undefined]);
  expect(tenants.length).toBeGreaterThan(4);
});

test("does not report a message that waits for a decision as an error", async () => {
  const spans = new InMemorySpanExporter();
  const agent = new Agent(scriptedProvider([{ calls: [{ name: "t" }] }]), {
    telemetry: openTelemetry({
      tracerProvider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
    }),
    tools: [fakeTool("t")],
    approve: () => "suspend",
  });
  await expect(agent.chat("Go.")).rejects.toMatchObject({ code: "suspended" });
  const agentSpan = spans.getFinishedSpans().find(({ name }) => name === "invoke_agent");
  expect(agentSpan?.status.code).toBe(0);
  expect(agentSpan?.attributes).toMatchObject({ "agent.suspended": true });
  expect(agentSpan?.attributes["error.type"]).toBeUndefined();
});
