/** A span of work, named and described by OpenTelemetry's conventions for generative AI. */
export interface TelemetrySpan {
  readonly operation: "invoke_agent" | "chat" | "execute_tool";
  /** The name of the invoked agent, model or tool. */
  readonly name: string;
  readonly attributes: TelemetryAttributes;
  /** What the caller of `chat` passed as `context`. */
  readonly context?: unknown;
}

export type TelemetryAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * Adds attributes that are known only later. `error.type` marks the span as failed although its work resolves.
 * `content` is text written by users and models; it is built only if it is recorded.
 */
export type SetAttributes = (attributes: TelemetryAttributes, content?: () => TelemetryAttributes) => void;

/** Receives the agent's work as nested spans. `@agent/core/otel` implements it with OpenTelemetry. */
export interface Telemetry {
  /** Runs `work` inside the span and ends the span when the promise settles. */
  inSpan<T>(span: TelemetrySpan, work: (set: SetAttributes) => Promise<T>): Promise<T>;
}

/** The default: creates no spans. */
export const NO_TELEMETRY: Telemetry = {
  inSpan: (_span, work) => work(() => undefined),
};
