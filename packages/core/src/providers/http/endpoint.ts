import { quote } from "@agent/internal";
import { checkFunction, checkObject, checkText, invalidArgument } from "../../toolkit/hostOptions/checks.js";
import { createRedactor } from "../../toolkit/text/text.js";
import type { ChatRequest } from "../interface.js";
import { runAttempts } from "./attempts.js";
import { checkResponse, type Hint, statusError } from "./failure.js";
import type { IdleTimeout } from "./idleTimeout.js";
import { parseJson } from "./json.js";
import type { CheckedOptions } from "./options.js";
import { fetchSameOrigin } from "./redirect.js";
import { AttemptError } from "./retry.js";
import { readEvents, readText } from "./sse.js";
import type { AnswerReader } from "./wire.js";

// The length of text that is searched for secrets: far more than a quotation shows, even if most of it is secrets.
const MAX_QUOTED_CHARACTERS = 64 * 1024;

/** Sends one request to a path below the base URL: a POST with the JSON text, or without one a GET. */
export type Send = (path: string, body: string | undefined, signal: AbortSignal) => Promise<Response>;

export interface EndpointOptions
  extends Pick<
    CheckedOptions,
    "model" | "baseURL" | "headers" | "fetch" | "timeoutMs" | "retries" | "secrets"
  > {
  /** What to do about a status: `{ 401: "Check the API key." }`. */
  readonly hints: Readonly<Record<number, Hint>>;
  /** Replaces `fetch` with the headers above. */
  readonly send?: Send;
}

/**
 * A server that answers JSON or streams of JSON events. `attempts` runs a request with retries and converts every
 * failure as specified by `ChatProvider.respond`; the other methods are for one attempt and throw `AttemptError`.
 */
export class HttpEndpoint {
  readonly #options: EndpointOptions;
  readonly #send: Send;
  readonly #redact = createRedactor(() => this.#options.secrets);

  constructor(options: EndpointOptions) {
    checkObject("options", options);
    checkText("options.baseURL", options.baseURL);
    this.#options = options;
    this.#send = options.send ?? fetchBelow(options);
  }

  attempts<T>(
    request: Pick<ChatRequest, "signal" | "onRetry">,
    attempt: (idle: IdleTimeout) => Promise<T>,
    task?: string,
  ): Promise<T> {
    const { model, timeoutMs, retries } = this.#options;
    const options = { model, timeoutMs, retries, redact: this.#redact, ...(task !== undefined && { task }) };
    return runAttempts(options, request, attempt);
  }

  /** The server's answer to one request. */
  async open(path: string, body: string | undefined, idle: IdleTimeout): Promise<Response> {
    checkText("path", path);
    checkIdle(idle);
    const response = await this.#send(path, body, idle.signal);
    idle.reset();
    if (!response.ok) throw await statusError(response, this.#options.hints, this.#redact);
    return response;
  }

  async readJson(response: Response, idle: IdleTimeout): Promise<unknown> {
    checkIdle(idle);
    return this.#parse(await readText(bodyOf(response), idle.reset));
  }

  /**
   * Passes each event of a stream to `reader`, and calls `onRead` after the events of one read. Resolves to whether the
   * end marker arrived.
   */
  async readStream(
    response: Response,
    idle: IdleTimeout,
    reader: Pick<AnswerReader, "add" | "addUnparsed">,
    onRead?: () => void,
  ): Promise<boolean> {
    checkIdle(idle);
    checkObject("reader", reader);
    checkFunction("reader.add", reader.add);
    const body = bodyOf(response);
    const contentType = response.headers.get("content-type") ?? "";
    let anyData = false;
    const onData = (data: string): void => {
      anyData = true;
      if (!reader.addUnparsed?.(data)) reader.add(this.#parse(data));
    };
    const onBytes = (isData: boolean): void => {
      idle.reset(isData);
      onRead?.();
    };
    const endMarkCame = await readEvents(body, onData, onBytes);
    // Check the content type only if no event came: some servers send events labelled as a web page.
    if (!anyData && /html/i.test(contentType)) {
      throw webPage(`its content-type is ${this.#quote(contentType)}`);
    }
    return endMarkCame;
  }

  #parse(text: string): unknown {
    try {
      return parseJson(text);
    } catch (error) {
      if (error instanceof AttemptError) throw error;
      if (/^\s*</.test(text)) throw webPage(`it begins with ${this.#quote(text)}`);
      // Most likely a proxy cut off the answer. The message quotes what arrived.
      throw new AttemptError(`the answer is not JSON: ${this.#quote(text)}`, { retryable: true });
    }
  }

  /** The beginning of a text without secrets. Redacts before cutting, which could leave half a secret. */
  #quote(text: string): string {
    return quote(this.#redact(text.slice(0, MAX_QUOTED_CHARACTERS)));
  }
}

function fetchBelow({ baseURL, headers, fetch }: EndpointOptions): Send {
  const postHeaders = { "content-type": "application/json", ...headers };
  const { origin, pathname, search } = new URL(baseURL);
  const start = `${origin}${pathname.replace(/\/$/, "")}`;
  return (path, body, signal) => {
    const url = search === "" ? `${start}${path}` : below(baseURL, path);
    if (body === undefined) return fetchSameOrigin(url, { headers, signal }, fetch);
    return fetchSameOrigin(url, { method: "POST", headers: postHeaders, body, signal }, fetch);
  };
}

/** A URL below the base URL, with the parameters of both. */
function below(baseURL: string, path: string): string {
  const url = new URL(baseURL);
  const [rest = "", query = ""] = path.split("?");
  url.pathname = `${url.pathname.replace(/\/$/, "")}${rest}`;
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  return url.href;
}

/** The error for an HTML page with a success status: the URL is not that of an API. */
function webPage(sign: string): AttemptError {
  return new AttemptError(
    `the answer is a web page, not JSON: ${sign}. Check baseURL; it often has to end in /v1.`,
    { retryable: false },
  );
}

function checkIdle(idle: IdleTimeout): void {
  if (typeof idle?.reset !== "function")
    throw invalidArgument("idle", "the object that attempts() passes", idle);
}

function bodyOf(response: Response): ReadableStream<Uint8Array> {
  checkResponse(response);
  if (response.body) return response.body;
  throw new AttemptError("the answer is empty", { retryable: true });
}
