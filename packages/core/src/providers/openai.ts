import type OpenAI from "openai";
import { AgentError, isAgentError } from "../errors.js";
import { abortedError } from "../toolkit/abort.js";
import { errorMessage, quote } from "../toolkit/describe.js";
import { createRedactor } from "../toolkit/redact.js";
import { truncateUtf8 } from "../toolkit/truncate.js";
import { escapeInvisible } from "../toolkit/visible.js";
import { readCompletion, StreamedCompletion, type WireCompletion } from "./completion.js";
import { connectionError } from "./connection.js";
import { statusError } from "./failure.js";
import type { ChatProvider, ChatRequest, ChatResponse } from "./interface.js";
import { parseJson } from "./json.js";
import { type CheckedOptions, checkedOptions, type OpenAIProviderOptions } from "./openaiOptions.js";
import { fetchSameOrigin } from "./redirect.js";
import { checkRequest } from "./request.js";
import { AttemptError, withRetries } from "./retry.js";
import { type SilenceTimer, silenceTimer } from "./silence.js";
import { readEvents, readText } from "./sse.js";

export type { OpenAIProviderOptions } from "./openaiOptions.js";

const MAX_MESSAGE_BYTES = 2000;
// What is looked through for secrets. Far more than a quotation shows.
const MAX_QUOTED_CHARACTERS = 4096;

/**
 * Talks to any OpenAI-compatible chat completions endpoint. The SDK is loaded with the first request; it builds
 * the requests, while answers are read here: servers that only resemble the API need a more tolerant reader.
 */
export class OpenAIProvider implements ChatProvider {
  readonly model: string;
  readonly #options: CheckedOptions;
  readonly #redact = createRedactor(() => this.#options.secrets);
  #client: Promise<OpenAI> | undefined;
  // Turned off for a server that refuses the field; it only tells the token count of streamed answers.
  #asksForUsage = true;

  constructor(options: OpenAIProviderOptions) {
    this.#options = checkedOptions(options);
    this.model = this.#options.model;
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    checkRequest(request);
    const { signal, onRetry } = request;
    try {
      const client = await this.#connect();
      return await withRetries(() => this.#attempt(client, request), this.#options.retries, signal, onRetry);
    } catch (error) {
      if (isAgentError(error)) throw error;
      const overflow = error instanceof AttemptError && error.overflow;
      throw new AgentError(
        overflow ? "context_overflow" : "provider_failed",
        `${this.model} could not answer: ${this.#presentable(errorMessage(error))}`,
        { cause: kindOf(error) },
      );
    }
  }

  async #attempt(client: OpenAI, request: ChatRequest): Promise<ChatResponse> {
    const timer = silenceTimer(this.#options.timeoutMs, request.signal);
    try {
      return request.onText
        ? await this.#stream(client, request, request.onText, timer)
        : await this.#complete(client, request, timer);
    } catch (error) {
      if (request.signal.aborted) throw abortedError(request.signal);
      if (timer.expired !== undefined) throw new AttemptError(timer.expired, { retryable: false });
      const failure = connectionError(error);
      failure.message = this.#presentable(failure.message);
      throw failure;
    } finally {
      timer.stop();
    }
  }

  async #complete(client: OpenAI, request: ChatRequest, timer: SilenceTimer): Promise<ChatResponse> {
    const response = await this.#send(client, { ...this.#body(request), stream: false }, timer);
    return readCompletion(this.#parse(await readText(bodyOf(response), timer.heard)));
  }

  async #stream(
    client: OpenAI,
    request: ChatRequest,
    onText: (text: string) => void,
    timer: SilenceTimer,
  ): Promise<ChatResponse> {
    const response = await this.#openStream(client, request, timer);
    const contentType = response.headers.get("content-type") ?? "";
    const answer = new StreamedCompletion();
    let anyData = false;
    const onData = (data: string): void => {
      anyData = true;
      const text = answer.add(this.#parse(data));
      if (text !== "") onText(text);
    };
    const endMarkCame = await readEvents(bodyOf(response), onData, timer.heard);
    // Asked only now: there are servers that call their events a web page.
    if (!anyData && /html/i.test(contentType)) {
      throw webPage(`its content-type is ${this.#quote(contentType)}`);
    }
    return answer.finish(endMarkCame);
  }

  async #openStream(client: OpenAI, request: ChatRequest, timer: SilenceTimer): Promise<Response> {
    const body = { ...this.#body(request), stream: true };
    if (!this.#asksForUsage) return await this.#send(client, body, timer);
    try {
      return await this.#send(client, { ...body, stream_options: { include_usage: true } }, timer);
    } catch (error) {
      const refused = error instanceof AttemptError && /^4(00|22) .*stream_options/s.test(error.message);
      if (!refused) throw error;
      this.#asksForUsage = false;
      return await this.#send(client, body, timer);
    }
  }

  async #send(client: OpenAI, body: object, timer: SilenceTimer): Promise<Response> {
    const { req, url } = await client.buildRequest({ method: "post", path: "/chat/completions", body });
    const response = await fetchSameOrigin(url, { ...req, signal: timer.signal });
    timer.heard();
    if (!response.ok) throw await statusError(response);
    return response;
  }

  #body({ messages, tools }: ChatRequest): object {
    // Messages and tools are in the wire format already. An empty list of tools is an error for several servers.
    return { ...this.#options.body, model: this.model, messages, ...(tools.length > 0 && { tools }) };
  }

  #connect(): Promise<OpenAI> {
    this.#client ??= import("openai").then(({ default: Client }) => {
      const { apiKey, baseURL, headers } = this.#options;
      return new Client({
        apiKey: apiKey || "none",
        baseURL: baseURL ?? null,
        logLevel: "off",
        defaultHeaders: { ...(apiKey === "" && { Authorization: null }), ...headers },
      });
    });
    return this.#client;
  }

  #parse(text: string): WireCompletion | null {
    try {
      return parseJson(text) as WireCompletion | null;
    } catch (error) {
      if (error instanceof AttemptError) throw error;
      if (/^\s*</.test(text)) throw webPage(`it begins with ${this.#quote(text)}`);
      // Cut off by a proxy, most likely: what came tells.
      throw new AttemptError(`the answer is not JSON: ${this.#quote(text)}`, { retryable: true });
    }
  }

  /** The beginning of a text, without secrets: replaced before the cut, which could leave half of one. */
  #quote(text: string): string {
    return quote(this.#redact(text.slice(0, MAX_QUOTED_CHARACTERS)));
  }

  /** A message without secrets, bounded, and without what could control a terminal. */
  #presentable(message: string): string {
    return escapeInvisible(truncateUtf8(this.#redact(message), MAX_MESSAGE_BYTES));
  }
}

/** A page for people, with a status that says all is well: the address is not that of an API. */
function webPage(sign: string): AttemptError {
  return new AttemptError(
    `the answer is a web page, not JSON: ${sign}. Check baseURL; it often has to end in /v1.`,
    { retryable: false },
  );
}

function bodyOf(response: Response): ReadableStream<Uint8Array> {
  if (response.body) return response.body;
  throw new AttemptError("the answer is empty", { retryable: true });
}

/** What kind of error it was. The error itself may carry the request, and with it the key. */
function kindOf(error: unknown): string {
  const cause = error instanceof AttemptError ? (error.cause ?? error) : error;
  if (typeof cause === "string") return cause;
  const { name, code } = (cause ?? {}) as { name?: unknown; code?: unknown };
  return typeof code === "string" ? `${name} (${code})` : String(name ?? "Error");
}
