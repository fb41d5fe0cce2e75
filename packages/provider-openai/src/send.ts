import { AttemptError, jsonText, type Send } from "@agent/core/provider";
import { errorMessage, LONGEST_TIMER_MS } from "@agent/internal";
import type { OpenAIClient } from "./options.js";

/**
 * Sends requests through the caller's client, which has its own `fetch`, proxy and login. Retries and timeouts stay with
 * this provider. The body is passed as an object, because Azure's client reads the model's name from it.
 */
export function sendThrough(client: OpenAIClient): Send {
  return async (path, body, signal) => {
    const options = {
      signal,
      maxRetries: 0,
      timeout: LONGEST_TIMER_MS,
      fetchOptions: { redirect: "manual" },
    } as const;
    try {
      const sent =
        body === undefined
          ? client.get(path, options)
          : client.post(path, { ...options, body: JSON.parse(body) });
      return await sent.asResponse();
    } catch (error) {
      return asResponse(error);
    }
  };
}

/** Converts the error that the SDK throws for a status to a response. Rethrows others: the connection failed. */
function asResponse(error: unknown): Response {
  const {
    status,
    headers,
    error: details,
  } = error as { status?: unknown; headers?: unknown; error?: unknown };
  if (typeof status !== "number") throw error;
  if (status < 400) {
    throw new AttemptError(
      `the server redirects with status ${status}. It must not get the conversation or the key; if you trust it, let the client's baseURL lead there.`,
      { retryable: false },
    );
  }
  return new Response(jsonText({ error: details ?? errorMessage(error) }), {
    status,
    headers: headers instanceof Headers ? headers : {},
  });
}
