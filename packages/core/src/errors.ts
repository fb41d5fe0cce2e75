/** The codes of all errors that core throws. Branch on `code`; the message is for people. */
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
  | "repeated_calls"
  | "child_limit"
  | "output_invalid"
  | "suspended"
  | "provider_failed"
  | "context_overflow"
  | "session_invalid"
  | "unsupported"
  | "replay_mismatch";

/** The error of `@agent/core`. Recognise it by `isAgentError`, which also works across two copies of core. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** True for an `AgentError` of any copy of core, with the given code if there is one. */
export function isAgentError(error: unknown, code?: AgentErrorCode): error is AgentError {
  if (!(error instanceof Error) || error.name !== "AgentError" || !("code" in error)) return false;
  return code === undefined || error.code === code;
}

/** The error every aborted operation of the core rejects with. */
export function abortedError(signal: AbortSignal): AgentError {
  return new AgentError("aborted", "Aborted.", { cause: signal.reason });
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortedError(signal);
}
