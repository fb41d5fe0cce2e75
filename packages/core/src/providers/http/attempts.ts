import { errorMessage, escapeInvisible, truncateUtf8 } from "@agent/internal";
import { AgentError, type AgentErrorDetails, abortedError, isAgentError } from "../../errors.js";
import { checkFunction, checkObject, checkPositive, checkSignal } from "../../toolkit/hostOptions/checks.js";
import type { ChatRequest } from "../interface.js";
import { type IdleTimeout, startIdleTimeout } from "./idleTimeout.js";
import { AttemptError, type Retryable, type RetryPolicy, withRetries } from "./retry.js";

const MAX_MESSAGE_BYTES = 2000;

export interface AttemptOptions {
  /** The model's name, for the error message. */
  readonly model: string;
  /** The operation, for the error message. Default: `answer`. */
  readonly task?: string;
  /** The maximum silence of the server before an attempt fails. */
  readonly timeoutMs: number;
  readonly retries: RetryPolicy;
  /** Removes keys from a text: what `createRedactor` returns. */
  readonly redact: (text: string) => string;
}

/**
 * Runs the attempts of one request. `attempt` makes the request with `idle.signal`, calls `idle.reset` whenever data
 * arrives, and throws an `AttemptError` for an answer it cannot use. Rejects as specified by `ChatProvider.respond`:
 * with an `AgentError` without keys, without control characters and of bounded length.
 */
export async function runAttempts<T>(
  options: AttemptOptions,
  request: Pick<ChatRequest, "signal" | "onRetry">,
  attempt: (idle: IdleTimeout) => Promise<T>,
): Promise<T> {
  checkObject("options", options);
  checkPositive("options.timeoutMs", options.timeoutMs);
  checkObject("options.retries", options.retries);
  checkFunction("options.redact", options.redact);
  checkObject("request", request);
  checkSignal("request.signal", request.signal);
  checkFunction("attempt", attempt);
  const { signal, onRetry } = request;
  const presentable = (message: string): string =>
    escapeInvisible(truncateUtf8(options.redact(message), MAX_MESSAGE_BYTES));

  async function once(): Promise<T> {
    const idle = startIdleTimeout(options.timeoutMs, signal);
    try {
      return await attempt(idle);
    } catch (error) {
      if (signal.aborted) throw abortedError(signal);
      if (idle.expired !== undefined) throw new AttemptError(idle.expired, { retryable: "later" });
      const failure = connectionError(error);
      failure.message = presentable(failure.message);
      throw failure;
    } finally {
      idle.stop();
    }
  }

  try {
    return await withRetries(once, options.retries, signal, onRetry);
  } catch (error) {
    if (isAgentError(error)) throw error;
    const overflow = error instanceof AttemptError && error.overflow;
    throw new AgentError(
      overflow ? "context_overflow" : "provider_failed",
      `${options.model} could not ${options.task ?? "answer"}: ${presentable(errorMessage(error))}`,
      { ...detailsOf(error), cause: options.redact(kindOf(error)) },
    );
  }
}

function detailsOf(error: unknown): AgentErrorDetails {
  if (!(error instanceof AttemptError)) return {};
  const { status, retryAfterMs, requestId, retryable } = error;
  return {
    retryable: retryable !== false,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(requestId !== undefined && { requestId }),
  };
}

/** The error's kind, for `cause`. The error itself may hold the request, and with it the key. */
function kindOf(error: unknown): string {
  const cause = error instanceof AttemptError ? (error.cause ?? error) : error;
  if (typeof cause === "string") return cause;
  const { name, code } = (cause ?? {}) as { name?: unknown; code?: unknown };
  return typeof code === "string" ? `${name} (${code})` : String(name ?? "Error");
}

const MOST_CAUSES = 4;

/** Connection failures that a retry does not fix: the pattern in an error's cause, and what to do about it. */
const LASTING: readonly { sign: RegExp; hint: string; retryable?: Retryable }[] = [
  { sign: /^bad port$/, hint: "HTTP clients refuse this port; let the server listen on another one." },
  {
    sign: /HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW/,
    hint: "The server's answer has more headers than an HTTP client reads. Check baseURL.",
  },
  { sign: /WRONG_VERSION_NUMBER/, hint: "The server does not speak HTTPS. Let baseURL begin with http://." },
  {
    sign: /HPE_INVALID_(CONSTANT|VERSION)/,
    hint: "The program at this address is not an HTTP server. Check baseURL.",
  },
  {
    sign: /SELF_SIGNED|CERT_|UNABLE_TO_(GET|VERIFY)|ALTNAME_INVALID|HOSTNAME_MISMATCH|INVALID_CA/,
    hint: "The server's certificate is not trusted. If it should be, name its authority in NODE_EXTRA_CA_CERTS.",
  },
  // A name server that has just lost its own connection gives the same answer, so one retry is worth it.
  { sign: /ENOTFOUND/, hint: "Check the host in baseURL, and the network.", retryable: "once" },
];

/** An attempt that ended without an answer: the connection failed or the body was cut. */
function connectionError(error: unknown): AttemptError {
  if (error instanceof AttemptError) return error;
  const causes = causesOf(error);
  // The names that Node's HTTP client and `fetch` use for a connection that closes inside the body.
  const isLost = /^(aborted|terminated)$/.test(errorMessage(error));
  const failure = isLost ? "the connection was lost before the answer was complete" : errorMessage(error);
  const reasons = causes.map(({ text }) => text).filter((text) => !failure.includes(text));
  const message = describe([failure, ...reasons]);
  const lasting = LASTING.find(({ sign }) =>
    causes.some(({ code, text }) => sign.test(code) || sign.test(text)),
  );
  if (lasting) {
    return new AttemptError(`${message}. ${lasting.hint}`, {
      retryable: lasting.retryable ?? false,
      cause: error,
    });
  }
  // No tool of this turn has run, so asking again is safe.
  return new AttemptError(message, { retryable: true, cause: error });
}

/** The causes of an error, the nearest first. */
function causesOf(error: unknown): { code: string; text: string }[] {
  const causes: { code: string; text: string }[] = [];
  for (let cause = (error as Error)?.cause; cause instanceof Error; cause = cause.cause) {
    if (causes.length >= MOST_CAUSES - 1) break;
    const code = String((cause as NodeJS.ErrnoException).code ?? "");
    causes.push({ code, text: cause.message || code || cause.name });
  }
  return causes;
}

function describe(parts: readonly string[]): string {
  return [...new Set(parts.map((part) => part.replace(/\.$/, "")))].join(": ");
}
