import { AttemptError, bodyError, parseJson, statusError } from "@agent/core/provider";
import { errorMessage, isRecord } from "@agent/core/toolkit";

/** The error to throw for an error part of a stream. */
export function modelError(error: unknown): AttemptError {
  if (isRecord(error) && isRecord(error.error)) return bodyError(error.error);
  return bodyError(isRecord(error) || typeof error === "string" ? error : errorMessage(error));
}

/**
 * Converts an error that a model threw to the error of an attempt. An `APICallError` contains the server's response, by
 * which core decides whether a retry can help. Any other error is returned unchanged and counts as a failed connection.
 */
export async function attemptError(error: unknown, redact: (text: string) => string): Promise<unknown> {
  if (error instanceof AttemptError || !(error instanceof Error)) return error;
  const { statusCode: status, responseBody: body, responseHeaders: headers } = error as Error & ApiCallError;
  if (typeof status !== "number") return error;
  if (status >= 400) {
    return await statusError(new Response(body ?? "", { status, headers: safeHeaders(headers) }), {}, redact);
  }
  const inside = errorInside(body);
  if (inside !== undefined) return bodyError(inside);
  const isPage = /^\s*</.test(body ?? "");
  const words = isPage ? "the answer is a web page, not JSON. Check the model's baseURL." : error.message;
  return new AttemptError(words, { retryable: !isPage });
}

interface ApiCallError {
  readonly statusCode?: unknown;
  readonly responseBody?: string;
  readonly responseHeaders?: unknown;
}

function safeHeaders(headers: unknown): Record<string, string> {
  const retry = isRecord(headers) ? Object.entries(headers).filter(([name]) => /^retry-/i.test(name)) : [];
  return Object.fromEntries(retry.map(([name, value]) => [name, String(value)]));
}

function errorInside(body: string | undefined): unknown {
  try {
    const parsed = parseJson(body ?? "");
    return isRecord(parsed) ? (parsed.error ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}
