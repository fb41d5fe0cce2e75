import { AttemptError, fetchSameOrigin, jsonText, type Send } from "@agent/core/provider";
import { errorMessage } from "@agent/core/toolkit";
import { LONGEST_TIMER_MS } from "@agent/internal";
import type OpenAI from "openai";
import type { OpenAIClient, OpenAISettings } from "./options.js";

/** The SDK's address, method and headers for requests to one path; they are the same for all of them. */
interface RequestForm {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends as the SDK does, which is loaded with the first request: it says how a request to a path looks, while answers
 * are read by our own reader, since servers that only resemble the API need a more tolerant one.
 */
export function sendWithSdk(settings: OpenAISettings): Send {
  if (settings.client) return sendThrough(settings.client);
  let loading: Promise<OpenAI> | undefined;
  const forms = new Map<string, RequestForm>();
  return async (path, body, signal) => {
    loading ??= createClient(settings);
    const form = forms.get(path) ?? (await buildForm(await loading, path, body));
    forms.set(path, form);
    const { url, method, headers } = form;
    return await fetchSameOrigin(url, { method, headers, signal, ...(body !== undefined && { body }) });
  };
}

async function buildForm(client: OpenAI, path: string, body: string | undefined): Promise<RequestForm> {
  const method = body === undefined ? "get" : "post";
  const { req, url } = await client.buildRequest({ method, path, ...(body !== undefined && { body: {} }) });
  return { url, method: method.toUpperCase(), headers: Object.fromEntries(new Headers(req.headers)) };
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

/**
 * A client somebody made has its own `fetch`, proxy and login, so it sends by itself; retries and timeouts stay ours.
 * It gets the body as an object: Azure's client reads the model's name out of it.
 */
function sendThrough(client: OpenAIClient): Send {
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
