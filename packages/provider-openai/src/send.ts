import { AttemptError, fetchSameOrigin, jsonText, type Send } from "@agent/core/provider";
import { errorMessage } from "@agent/core/toolkit";
import { LONGEST_TIMER_MS } from "@agent/internal";
import type OpenAI from "openai";
import type { OpenAIClient, OpenAISettings } from "./options.js";

/**
 * Sends through the SDK, which is loaded with the first request: it builds the requests, while answers are read by
 * our own reader, since servers that only resemble the API need a more tolerant one.
 */
export function sendWithSdk(settings: OpenAISettings): Send {
  if (settings.client) return sendThrough(settings.client);
  let loading: Promise<OpenAI> | undefined;
  return async (path, body, signal) => {
    loading ??= createClient(settings);
    const client = await loading;
    const method = body === undefined ? "get" : "post";
    const { req, url } = await client.buildRequest({ method, path, body });
    return await fetchSameOrigin(url, { ...req, signal });
  };
}

async function createClient({ apiKey, baseURL, headers }: OpenAISettings): Promise<OpenAI> {
  const { default: Client } = await import("openai").catch((error: unknown) => {
    throw new AttemptError(`the package openai cannot be loaded: ${errorMessage(error)}`, {
      retryable: false,
    });
  });
  return new Client({
    apiKey: apiKey || "none",
    baseURL,
    logLevel: "off",
    defaultHeaders: { ...(apiKey === "" && { Authorization: null }), ...headers },
  });
}

/** A client somebody made has its own `fetch`, proxy and login, so it sends by itself; retries and timeouts stay ours. */
function sendThrough(client: OpenAIClient): Send {
  return async (path, body, signal) => {
    const options = {
      signal,
      maxRetries: 0,
      timeout: LONGEST_TIMER_MS,
      fetchOptions: { redirect: "manual" },
    } as const;
    try {
      const sent = body === undefined ? client.get(path, options) : client.post(path, { ...options, body });
      return await sent.asResponse();
    } catch (error) {
      return asResponse(error);
    }
  };
}

/** The SDK throws for a status that is no success. Everything else is a failed connection and stays one. */
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
