import type { ChatProvider } from "@agent/core";
import type { CheckResult } from "../types.js";

/** The answer the kit's server should give, independent of any API. */
export interface SampleAnswer {
  readonly text?: string;
  /** Reasoning that the server shows. */
  readonly reasoning?: string;
  /** State the server expects back, byte for byte, with the next request: a signature, an encrypted text. */
  readonly signature?: string;
  readonly calls?: readonly SampleToolCall[];
  /** `length` if the answer was cut off by its limit. */
  readonly finish?: "stop" | "length";
  readonly usage?: { readonly input: number; readonly output: number; readonly cached: number };
}

export interface SampleToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The wire format of the API under test. The kit's server uses it to write its answers. */
export interface ProviderDialect {
  /** The body of an answer that is not streamed. */
  whole(answer: SampleAnswer): unknown;
  /** The same answer as server-sent events, each as raw text, including the end marker. */
  events(answer: SampleAnswer): readonly string[];
  /** The body of an error. */
  error(message: string): unknown;
  /** Whether a request asks for a stream. Default: its body has `stream: true`. */
  isStream?(request: { readonly url: string; readonly body: Readonly<Record<string, unknown>> }): boolean;
  /** Features that the API supports. Default: all of them. Checks of the others are skipped. */
  readonly carries?: {
    readonly signature?: boolean;
    readonly reasoning?: boolean;
    readonly cached?: boolean;
  };
}

/** The server for a provider in a test. */
export interface ProviderTarget {
  /** An address on the loopback interface, without a path. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
}

/** The provider under test. */
export interface ProviderSubject {
  /** For the report. */
  readonly name: string;
  /** Creates a provider that sends its requests to the target. */
  create(target: ProviderTarget): ChatProvider;
  readonly dialect: ProviderDialect;
}

export interface ProviderReport {
  readonly provider: string;
  /** False if any check failed. */
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
}
