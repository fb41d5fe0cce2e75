import type { ChatMessage } from "./providers/interface.js";

/** The codes of all errors that core throws. Branch on `code`; the message is for humans. */
export type AgentErrorCode =
  | "invalid_argument"
  | "tool_invalid"
  | "tool_duplicate"
  | "pack_invalid"
  | "pack_failed"
  | "unknown_tool"
  | "busy"
  | "aborted"
  | "turn_limit"
  | "budget_exceeded"
  | "repeated_calls"
  | "child_limit"
  | "output_invalid"
  | "message_denied"
  | "suspended"
  | "provider_failed"
  | "context_overflow"
  | "session_invalid"
  | "unsupported"
  | "replay_mismatch";

/** Details of a failure, as far as known, for programs that decide about a retry or report the failure. */
export interface AgentErrorDetails {
  /** The HTTP status that the model's server answered with. */
  readonly status?: number;
  /** How long the server asked to wait before the next request. */
  readonly retryAfterMs?: number;
  /** Whether the same request may succeed later: an overloaded server, a rate limit, a lost connection. */
  readonly retryable?: boolean;
  /** The server's own id of the request, for its support. */
  readonly requestId?: string;
  /** The `id` of the provider. */
  readonly provider?: string;
}

/** The error of `@agent/core`. Recognise it by `isAgentError`, which also works across two copies of core. */
export class AgentError extends Error implements AgentErrorDetails {
  override readonly name = "AgentError";
  readonly code: AgentErrorCode;
  declare readonly status?: number;
  declare readonly retryAfterMs?: number;
  declare readonly retryable?: boolean;
  declare readonly requestId?: string;
  declare readonly provider?: string;
  /** The conversation of a child agent that failed: `startAgent` continues it with `history`. Not enumerable. */
  declare readonly messages?: readonly ChatMessage[];

  constructor(
    code: AgentErrorCode,
    message: string,
    { cause, ...details }: AgentErrorDetails & { readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    Object.assign(this, details);
  }
}

/** Returns the same error with the name of its provider, unless it has one. */
export function withProvider(error: AgentError, provider: string | undefined): AgentError {
  if (provider === undefined || error.provider !== undefined) return error;
  return Object.assign(error, { provider });
}

/** Returns the same error with the conversation of the child agent that failed with it. */
export function withMessages(error: unknown, messages: readonly ChatMessage[]): unknown {
  // A log that prints the error must not print a whole conversation.
  return isAgentError(error)
    ? Object.defineProperty(error, "messages", { value: messages, configurable: true })
    : error;
}

/** Returns whether the error is an `AgentError` of any copy of core, with this code if one is given. */
export function isAgentError(error: unknown, code?: AgentErrorCode): error is AgentError {
  if (!(error instanceof Error) || error.name !== "AgentError" || !("code" in error)) return false;
  return code === undefined || error.code === code;
}

/** The error that every aborted operation of core rejects with. */
export function abortedError(signal: AbortSignal): AgentError {
  return new AgentError("aborted", "Aborted.", { cause: signal.reason });
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortedError(signal);
}
