import type { Telemetry } from "@agent/core";
import { openTelemetry } from "@agent/core/otel";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

export interface Exporting {
  readonly telemetry: Telemetry;
  /** Sends the remaining spans and metrics, then stops. */
  shutdown(): Promise<void>;
}

/** Sends the spans and metrics of an agent to an OTLP collector, such as `http://localhost:4318`. */
export function exportTo(collector: string): Exporting {
  // Spans find their parent through the asynchronous context: without a context manager each span would be a separate trace.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${collector}/v1/traces` }))],
  });
  const exporter = new OTLPMetricExporter({ url: `${collector}/v1/metrics` });
  const meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  return {
    telemetry: openTelemetry({ agentName: "assistant", tracerProvider, meterProvider }),
    async shutdown() {
      await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
      context.disable();
    },
  };
}
