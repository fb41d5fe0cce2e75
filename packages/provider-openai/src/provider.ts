import type { ChatProvider, ChatRequest, ChatResponse } from "@agent/core";
import {
  AttemptError,
  checkRequest,
  createRedactor,
  fetchSameOrigin,
  type IdleTimeout,
  parseJson,
  readEvents,
  readText,
  runAttempts,
  statusError,
} from "@agent/core/provider";
import { errorMessage, quote } from "@agent/core/toolkit";
import type OpenAI from "openai";
import { readCompletion, StreamedCompletion, type WireCompletion } from "./completion.js";
import { type CheckedOptions, checkedOptions, type OpenAIProviderOptions } from "./options.js";

// What is looked through for secrets. Far more than a quotation shows.
const MAX_QUOTED_CHARACTERS = 4096;

const CURES: Readonly<Record<number, string>> = {
  401: "Check the API key (apiKey, or OPENAI_API_KEY).",
  404: "Check baseURL and the name of the model.",
};

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
    const { model, timeoutMs, retries } = this.#options;
    return await runAttempts({ model, timeoutMs, retries, redact: this.#redact }, request, (idle) =>
      request.onText ? this.#stream(request, request.onText, idle) : this.#complete(request, idle),
    );
  }

  async #complete(request: ChatRequest, idle: IdleTimeout): Promise<ChatResponse> {
    const response = await this.#send({ ...this.#body(request), stream: false }, idle);
    return readCompletion(this.#parse(await readText(bodyOf(response), idle.reset)));
  }

  async #stream(
    request: ChatRequest,
    onText: (text: string) => void,
    idle: IdleTimeout,
  ): Promise<ChatResponse> {
    const response = await this.#openStream(request, idle);
    const contentType = response.headers.get("content-type") ?? "";
    const answer = new StreamedCompletion();
    let anyData = false;
    const onData = (data: string): void => {
      anyData = true;
      const text = answer.add(this.#parse(data));
      if (text !== "") onText(text);
    };
    const endMarkCame = await readEvents(bodyOf(response), onData, idle.reset);
    // Asked only now: there are servers that call their events a web page.
    if (!anyData && /html/i.test(contentType)) {
      throw webPage(`its content-type is ${this.#quote(contentType)}`);
    }
    return answer.finish(endMarkCame);
  }

  async #openStream(request: ChatRequest, idle: IdleTimeout): Promise<Response> {
    const body = { ...this.#body(request), stream: true };
    if (!this.#asksForUsage) return await this.#send(body, idle);
    try {
      return await this.#send({ ...body, stream_options: { include_usage: true } }, idle);
    } catch (error) {
      const refused = error instanceof AttemptError && /^4(00|22) .*stream_options/s.test(error.message);
      if (!refused) throw error;
      this.#asksForUsage = false;
      return await this.#send(body, idle);
    }
  }

  async #send(body: object, idle: IdleTimeout): Promise<Response> {
    const client = await this.#connect();
    const { req, url } = await client.buildRequest({ method: "post", path: "/chat/completions", body });
    const response = await fetchSameOrigin(url, { ...req, signal: idle.signal });
    idle.reset();
    if (!response.ok) throw await statusError(response, CURES);
    return response;
  }

  #body({ messages, tools }: ChatRequest): object {
    // Messages and tools are in the wire format already. An empty list of tools is an error for several servers.
    return { ...this.#options.body, model: this.model, messages, ...(tools.length > 0 && { tools }) };
  }

  #connect(): Promise<OpenAI> {
    this.#client ??= import("openai").then(
      ({ default: Client }) => {
        const { apiKey, baseURL, headers } = this.#options;
        return new Client({
          apiKey: apiKey || "none",
          baseURL: baseURL ?? null,
          logLevel: "off",
          defaultHeaders: { ...(apiKey === "" && { Authorization: null }), ...headers },
        });
      },
      (error: unknown) => {
        throw new AttemptError(`the package openai cannot be loaded: ${errorMessage(error)}`, {
          retryable: false,
        });
      },
    );
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
