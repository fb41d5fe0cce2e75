import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A span as it arrives in OTLP's JSON form. */
export interface CollectedSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly status?: { readonly code?: number };
}

interface CollectedMetric {
  readonly name: string;
  readonly histogram?: { readonly dataPoints: readonly { readonly count: number; readonly sum: number }[] };
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[];
  }[];
}

interface MetricsRequest {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly CollectedMetric[] }[];
  }[];
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  readonly metrics: readonly CollectedMetric[];
  close(): Promise<void>;
}

/** Simulates an OpenTelemetry collector: accepts OTLP over HTTP and keeps it in memory. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const metrics: CollectedMetric[] = [];
  const server = createServer(async (request, response) => {
    const body = await json(request);
    if (request.url === "/v1/traces") {
      for (const { scopeSpans } of (body as TraceRequest).resourceSpans) {
        spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      }
    }
    if (request.url === "/v1/metrics") {
      for (const { scopeMetrics } of (body as MetricsRequest).resourceMetrics) {
        metrics.push(...scopeMetrics.flatMap((scope) => scope.metrics));
      }
    }
    response.setHeader("content-type", "application/json").end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
