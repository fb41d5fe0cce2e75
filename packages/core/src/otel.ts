import { errorMessage } from "@agent/internal";
import {
  type Attributes,
  diag,
  type Histogram,
  type MeterProvider,
  metrics,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { isAgentError } from "./errors.js";
import type { SetAttributes, Telemetry, TelemetrySpan } from "./loop/telemetry.js";
import { checkOptions, type OptionChecks } from "./toolkit/hostOptions/checkOptions.js";
import { checkBoolean, checkObject, checkText } from "./toolkit/hostOptions/checks.js";

const SCOPE = "@agent/core";

// The boundaries that OpenTelemetry's conventions for generative AI give for these two histograms.
const TOKEN_BUCKETS = [
  1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
];
const SECONDS_BUCKETS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

// Each attribute value creates a time series, so metrics only get attributes with few values.
const METRIC_ATTRIBUTES = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.agent.name",
  "gen_ai.tool.name",
  "error.type",
];

export interface OpenTelemetryOptions<Context = unknown> {
  /** The agent's name in traces: `gen_ai.agent.name`. */
  readonly agentName?: string;
  /**
   * Added to every span, such as `{ "gen_ai.conversation.id": id }`; or a function that makes them from the `context` of the
   * message, such as the tenant. There is no context for work outside of a message, such as `compact`. If the function
   * throws, the span has only the other attributes.
   */
  readonly attributes?: Attributes | ((context: Context | undefined) => Attributes);
  /**
   * Also records what users, models and tools wrote: messages, arguments, results. Default `false`, since it may be
   * sensitive.
   */
  readonly captureContent?: boolean;
  /** Default: the one registered globally. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the one registered globally. */
  readonly meterProvider?: MeterProvider;
}

const OPTIONS: OptionChecks<OpenTelemetryOptions> = {
  agentName: checkText,
  attributes: (name, value) => {
    if (typeof value !== "function") checkObject(name, value);
  },
  captureContent: checkBoolean,
  tracerProvider: checkObject,
  meterProvider: checkObject,
};

/**
 * Creates spans and metrics by OpenTelemetry's conventions for generative AI, for `new Agent(provider, { telemetry })`.
 * They are exported by the program's OpenTelemetry SDK; without one nothing is recorded. Needs `@opentelemetry/api`.
 *
 * @example
 * ```ts
 * import { Agent } from "@agent/core";
 * import { openTelemetry } from "@agent/core/otel";
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const agent = new Agent(scriptedProvider(["Hello."]), { telemetry: openTelemetry({ agentName: "greeter" }) });
 * await agent.chat("Hi.");
 * ```
 */
export function openTelemetry<Context = unknown>(options: OpenTelemetryOptions<Context> = {}): Telemetry {
  checkOptions("openTelemetry", options, OPTIONS);
  const { agentName, captureContent = false } = options;
  const tracer = (options.tracerProvider ?? trace).getTracer(SCOPE);
  // Created with the first span: unlike a tracer, a meter created before the SDK is registered records nothing.
  let histograms: Histograms | undefined;
  return {
    inSpan(described, work) {
      histograms ??= createHistograms(options.meterProvider ?? metrics.getMeterProvider());
      const record = histograms;
      const attributes = {
        ...ownAttributes(options.attributes, described.context as Context | undefined),
        ...spanAttributes(described, agentName),
      };
      const kind = described.operation === "chat" ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const startedAt = performance.now();
      return tracer.startActiveSpan(spanName(described, agentName), { kind, attributes }, async (span) => {
        const known: Attributes = { ...attributes };
        const set: SetAttributes = (added, content) => {
          Object.assign(known, added);
          span.setAttributes({ ...added, ...(captureContent && content?.()) } as Attributes);
          if (added["error.type"] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
        };
        try {
          return await work(set);
        } catch (error) {
          // A message with pending calls has not failed.
          if (isAgentError(error, "suspended")) {
            set({ "agent.suspended": true });
            throw error;
          }
          set({ "error.type": errorType(error) });
          span.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage(error) });
          throw error;
        } finally {
          span.end();
          recordMetrics(record, described.operation, known, (performance.now() - startedAt) / 1000);
        }
      });
    },
  };
}

function ownAttributes<Context>(
  attributes: OpenTelemetryOptions<Context>["attributes"],
  context: Context | undefined,
): Attributes | undefined {
  if (typeof attributes !== "function") return attributes;
  try {
    return attributes(context);
  } catch (error) {
    // The work that is observed must not fail because of it.
    diag.error("The attributes of a span could not be made:", error);
    return undefined;
  }
}

interface Histograms {
  readonly tokens: Histogram;
  readonly seconds: Histogram;
}

function createHistograms(provider: MeterProvider): Histograms {
  const meter = provider.getMeter(SCOPE);
  return {
    tokens: meter.createHistogram("gen_ai.client.token.usage", {
      description: "Number of input and output tokens used.",
      unit: "{token}",
      advice: { explicitBucketBoundaries: TOKEN_BUCKETS },
    }),
    seconds: meter.createHistogram("gen_ai.client.operation.duration", {
      description: "GenAI operation duration.",
      unit: "s",
      advice: { explicitBucketBoundaries: SECONDS_BUCKETS },
    }),
  };
}

function spanName({ operation, name }: TelemetrySpan, agentName: string | undefined): string {
  const subject = operation === "invoke_agent" ? name || agentName : name;
  return subject ? `${operation} ${subject}` : operation;
}

function spanAttributes(
  { operation, name, attributes }: TelemetrySpan,
  agentName: string | undefined,
): Attributes {
  // A child agent has its own name.
  const agent = operation === "invoke_agent" ? name || agentName : undefined;
  return {
    "gen_ai.operation.name": operation,
    ...(agent && { "gen_ai.agent.name": agent }),
    ...(operation === "execute_tool" && { "gen_ai.tool.name": name }),
    ...(attributes as Attributes),
  };
}

function recordMetrics(
  { tokens, seconds }: Histograms,
  operation: TelemetrySpan["operation"],
  attributes: Attributes,
  duration: number,
): void {
  const kept = Object.fromEntries(METRIC_ATTRIBUTES.map((name) => [name, attributes[name]]));
  seconds.record(duration, kept);
  // An agent's span repeats the usage of its requests; counting it would count tokens twice.
  if (operation !== "chat") return;
  for (const type of ["input", "output"]) {
    const used = attributes[`gen_ai.usage.${type}_tokens`];
    if (typeof used === "number") tokens.record(used, { ...kept, "gen_ai.token.type": type });
  }
}

function errorType(error: unknown): string {
  if (isAgentError(error)) return error.code;
  return error instanceof Error ? error.name : "_OTHER";
}
