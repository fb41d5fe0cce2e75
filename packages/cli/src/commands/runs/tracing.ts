import type { Telemetry } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import type { RunTracing } from "@agent/durable";
import { note } from "../../process/output.js";

// The global key under which @opentelemetry/api keeps what an SDK has registered, for every copy of it in the process.
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

export interface Tracing {
  /** For the agents: their model and tool calls. */
  readonly telemetry: Telemetry;
  /** For the worker: its claims. */
  readonly tracing: RunTracing;
}

/**
 * Spans for an OpenTelemetry SDK that was loaded before the command, as with `NODE_OPTIONS=--import …`. Without one
 * nothing is loaded.
 */
export async function loadTracing(): Promise<Tracing | undefined> {
  if (!(REGISTERED in globalThis)) return undefined;
  try {
    const { openTelemetry } = await import("@agent/core/otel");
    const { traceRuns } = await import("@agent/durable/otel");
    return { telemetry: openTelemetry(), tracing: traceRuns() };
  } catch (error) {
    note(`agent: no traces, although OpenTelemetry is loaded: ${errorMessage(error)}`);
    note("Install @opentelemetry/api where agent is installed: npm install --global @opentelemetry/api");
    return undefined;
  }
}
