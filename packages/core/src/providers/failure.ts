import { errorMessage } from "../toolkit/describe.js";
import { AttemptError, retryAfterMs } from "./retry.js";

// What servers say when the conversation is too long; only OpenAI's own has a code for it.
const OVERFLOW =
  /context[ _](length|window|size)|maximum (context|prompt)|too many tokens|(prompt|input) is too long|exceeds the maximum number of tokens/i;
const TEMPORARY = /server_error|overloaded|rate_limit|timeout|unavailable/i;
// The account is used up: asking again only makes it wait longer for nothing.
const QUOTA = "insufficient_quota";

/** What an SDK error or an error inside a body may carry. */
interface ErrorDetails {
  readonly message?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly headers?: Headers;
}

/** What went wrong with one attempt, and whether another may help. */
export function asAttemptError(error: unknown): AttemptError {
  if (error instanceof AttemptError) return error;
  const { status, code, type, headers } = (error ?? {}) as ErrorDetails;
  // No status: the connection failed or the body was cut. No tool of this turn has run, so asking again is safe.
  if (typeof status !== "number") {
    return new AttemptError(connectionMessage(error), { retryable: true, cause: error });
  }
  const message = errorMessage(error);
  return new AttemptError(message, {
    retryable: isTemporary(status) && code !== QUOTA && type !== QUOTA,
    overflow: isOverflow(status, code, message),
    retryAfterMs: retryAfterMs(headers),
    cause: error,
  });
}

/** An error that came inside an answer with status 200, or in the middle of a stream. */
export function bodyError(error: unknown): AttemptError {
  const { message, code, type, status } = (typeof error === "object" ? error : {}) as ErrorDetails;
  const text =
    typeof error === "string" ? error : typeof message === "string" ? message : JSON.stringify(error);
  // Gateways put the status they would have sent into "code", as a number or as text.
  const wouldBe = Number(status ?? code);
  const temporary = wouldBe >= 100 ? isTemporary(wouldBe) : TEMPORARY.test(`${code} ${type}`);
  return new AttemptError(text, {
    retryable: temporary && code !== QUOTA && type !== QUOTA,
    overflow: isOverflow(wouldBe >= 100 ? wouldBe : 400, code, text),
  });
}

function isTemporary(status: number): boolean {
  return status === 429 || status >= 500;
}

function isOverflow(status: number, code: unknown, message: string): boolean {
  if (code === "context_length_exceeded" || status === 413) return true;
  // A rate limit speaks of tokens too, but of tokens a minute.
  return status !== 429 && status < 500 && OVERFLOW.test(message);
}

/** `fetch failed` says nothing; its causes do. */
function connectionMessage(error: unknown): string {
  const parts = [errorMessage(error)];
  for (let cause = (error as Error)?.cause; cause instanceof Error && parts.length < 4; cause = cause.cause) {
    parts.push(cause.message || (cause as NodeJS.ErrnoException).code || cause.name);
  }
  return [...new Set(parts.map((part) => part.replace(/\.$/, "")))].join(": ");
}
