import type OpenAI from "openai";
import type { ChatCompletionCreateParamsBase } from "openai/resources/chat/completions";
import { abortedError } from "../abort.js";
import { AgentError, isAgentError } from "../errors.js";
import { positiveOption, textOption } from "../optionChecks.js";
import { errorMessage } from "../toolkit/describe.js";
import { truncateUtf8 } from "../toolkit/truncate.js";
import { escapeInvisible } from "../toolkit/visible.js";
import { readCompletion, StreamedCompletion } from "./completion.js";
import type { ChatProvider, ChatRequest, ChatResponse } from "./interface.js";
import { AttemptError, type RetryPolicy, retryAfterMs, withRetries } from "./retry.js";
import { type SilenceTimer, silenceTimer } from "./silence.js";

const DEFAULT_TIMEOUT_MS = 5 * 60 * 1000;
const MAX_MESSAGE_BYTES = 2000;
// What servers say when the conversation is too long; only OpenAI's own has a code for it.
const OVERFLOW =
  /context[ _](length|window|size)|maximum context|too many tokens|prompt is too long|input is too long/i;

export interface OpenAIProviderOptions {
  readonly model: string;
  /** Default: `OPENAI_API_KEY`. May be absent where `baseURL` leads to a server that wants none. */
  readonly apiKey?: string;
  /** Any OpenAI-compatible endpoint. Default: `OPENAI_BASE_URL`, then OpenAI's own. */
  readonly baseURL?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest silence of the server before the request fails. Default: five minutes. */
  readonly timeoutMs?: number;
  /** How often a failed request is repeated. Default 3. */
  readonly maxRetries?: number;
  /** The first wait before a repetition; it doubles. Default 500. */
  readonly retryDelayMs?: number;
  /** The longest wait. A server that asks for more ends the request. Default 60000. */
  readonly maxRetryDelayMs?: number;
  /** More fields for the request's body: `temperature`, `max_completion_tokens`, `reasoning_effort` … */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Talks to any OpenAI-compatible chat completions endpoint. The SDK is loaded with the first request. */
export class OpenAIProvider implements ChatProvider {
  readonly model: string;
  readonly #options: OpenAIProviderOptions;
  readonly #apiKey: string;
  readonly #baseURL: string | undefined;
  readonly #timeoutMs: number;
  readonly #policy: RetryPolicy;
  #client: Promise<OpenAI> | undefined;
  // Turned off for a server that refuses the field; it only tells the token count of streamed answers.
  #asksForUsage = true;

  constructor(options: OpenAIProviderOptions) {
    this.model = textOption("model", options?.model);
    if (this.model === "") throw new AgentError("invalid_argument", "model must not be empty.");
    this.#options = options;
    this.#baseURL = options.baseURL ?? (process.env.OPENAI_BASE_URL || undefined);
    this.#apiKey = options.apiKey ?? process.env.OPENAI_API_KEY ?? "";
    if (this.#apiKey === "" && this.#baseURL === undefined) {
      throw new AgentError(
        "invalid_argument",
        "There is no API key. Set OPENAI_API_KEY, or pass apiKey or baseURL.",
      );
    }
    this.#timeoutMs = positiveOption("timeoutMs", options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    this.#policy = {
      maxRetries: options.maxRetries ?? 3,
      baseDelayMs: options.retryDelayMs ?? 500,
      maxDelayMs: options.maxRetryDelayMs ?? 60_000,
    };
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    try {
      return await withRetries(() => this.#attempt(request), this.#policy, request.signal, request.onRetry);
    } catch (error) {
      if (isAgentError(error)) throw error;
      const message = this.#presentable(errorMessage(error));
      const code = OVERFLOW.test(message) ? "context_overflow" : "provider_failed";
      throw new AgentError(code, `${this.model} could not answer: ${message}`, { cause: withoutKey(error) });
    }
  }

  async #attempt(request: ChatRequest): Promise<ChatResponse> {
    const client = await this.#connect();
    const timer = silenceTimer(this.#timeoutMs, request.signal);
    try {
      return request.onText
        ? await this.#stream(client, request, request.onText, timer)
        : await this.#complete(client, request, timer);
    } catch (error) {
      if (request.signal.aborted) throw abortedError(request.signal);
      if (timer.expired)
        throw new AttemptError(`no answer within ${this.#timeoutMs} ms`, { retryable: false });
      throw this.#failure(error);
    } finally {
      timer.stop();
    }
  }

  async #complete(client: OpenAI, request: ChatRequest, timer: SilenceTimer): Promise<ChatResponse> {
    const body = { ...this.#body(request), stream: false as const };
    return readCompletion(await client.chat.completions.create(body, { signal: timer.signal }));
  }

  async #stream(
    client: OpenAI,
    request: ChatRequest,
    onText: (text: string) => void,
    timer: SilenceTimer,
  ): Promise<ChatResponse> {
    const body = {
      ...this.#body(request),
      stream: true as const,
      ...(this.#asksForUsage && { stream_options: { include_usage: true } }),
    };
    const answer = new StreamedCompletion();
    for await (const chunk of await client.chat.completions.create(body, { signal: timer.signal })) {
      timer.heard();
      const text = answer.add(chunk);
      if (text !== "") onText(text);
    }
    // The SDK ends an aborted stream as if it were complete.
    timer.signal.throwIfAborted();
    return answer.finish();
  }

  #body({ messages, tools }: ChatRequest): ChatCompletionCreateParamsBase {
    // Our messages and tools are the wire format already; readonly is all that differs.
    const base = {
      ...this.#options.body,
      model: this.model,
      messages,
    } as unknown as ChatCompletionCreateParamsBase;
    // An empty list is an error for several servers.
    return tools.length === 0 ? base : { ...base, tools: tools as unknown as OpenAI.ChatCompletionTool[] };
  }

  /** What went wrong with one attempt, and whether another may help. */
  #failure(error: unknown): AttemptError {
    if (error instanceof AttemptError) return error;
    const { status, headers, code } = error as { status?: number; headers?: Headers; code?: string | null };
    const message = status === undefined ? connectionMessage(error) : errorMessage(error);
    if (status === 400 && this.#asksForUsage && /stream_options/.test(message)) {
      this.#asksForUsage = false;
      return new AttemptError(message, { retryable: true, retryAfterMs: 0, cause: error });
    }
    // No status: the connection failed or the body was cut. No tool of this turn has run, so asking again is safe.
    const temporary =
      status === undefined || status >= 500 || (status === 429 && code !== "insufficient_quota");
    return new AttemptError(code === "context_length_exceeded" ? `maximum context: ${message}` : message, {
      retryable: temporary,
      retryAfterMs: retryAfterMs(headers),
      cause: error,
    });
  }

  #connect(): Promise<OpenAI> {
    this.#client ??= import("openai").then(
      ({ default: Client }) =>
        new Client({
          apiKey: this.#apiKey || "none",
          baseURL: this.#baseURL ?? null,
          maxRetries: 0,
          timeout: Math.min(this.#timeoutMs, 2 ** 31 - 1),
          ...(this.#options.headers && { defaultHeaders: this.#options.headers }),
        }),
    );
    return this.#client;
  }

  #presentable(message: string): string {
    const short = truncateUtf8(message, MAX_MESSAGE_BYTES);
    return escapeInvisible(this.#apiKey.length >= 4 ? short.replaceAll(this.#apiKey, "[key]") : short);
  }
}

/** `fetch failed` says nothing; its causes do. */
function connectionMessage(error: unknown): string {
  const parts = [errorMessage(error)];
  for (let cause = (error as Error)?.cause; cause instanceof Error && parts.length < 4; cause = cause.cause) {
    parts.push(cause.message || (cause as NodeJS.ErrnoException).code || cause.name);
  }
  return [...new Set(parts.map((part) => part.replace(/\.$/, "")))].join(": ");
}

/** The SDK's errors carry the request's headers, and with them the key: only the kind of error is kept. */
function withoutKey(error: unknown): unknown {
  const cause = error instanceof AttemptError ? error.cause : error;
  const { name = "Error", status } = (cause ?? {}) as { name?: string; status?: number };
  return status === undefined ? name : `${name} (status ${status})`;
}
