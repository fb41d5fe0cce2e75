import { AgentError } from "../errors.js";
import { describeValue, quote } from "../toolkit/describe.js";
import { didYouMean } from "../toolkit/nearest.js";
import type { RetryPolicy } from "./retry.js";

const DEFAULT_TIMEOUT_MS = 5 * 60 * 1000;
// What the conversation decides. Set here they would be overwritten without a word.
const OWN_FIELDS = ["model", "messages", "tools", "stream"];
// Headers that carry a credential, whatever a gateway calls them.
const SECRET_HEADER = /auth|key|token|secret|cookie/i;

export interface OpenAIProviderOptions {
  readonly model: string;
  /** Default: `OPENAI_API_KEY`. May be absent where `baseURL` leads to a server that wants none. */
  readonly apiKey?: string;
  /** Any OpenAI-compatible endpoint. Default: `OPENAI_BASE_URL`, then OpenAI's own. */
  readonly baseURL?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest silence of the server before the request fails. Default: five minutes, which Node's `fetch` never exceeds. */
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

const KNOWN: Readonly<Record<keyof OpenAIProviderOptions, true>> = {
  model: true,
  apiKey: true,
  baseURL: true,
  headers: true,
  timeoutMs: true,
  maxRetries: true,
  retryDelayMs: true,
  maxRetryDelayMs: true,
  body: true,
};

export interface CheckedOptions {
  readonly model: string;
  /** Empty where the server wants none. */
  readonly apiKey: string;
  readonly baseURL: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly retries: RetryPolicy;
  readonly body: Readonly<Record<string, unknown>>;
  /** Values that must never appear in a message. */
  readonly secrets: readonly string[];
}

/** The options with their defaults. Throws `invalid_argument`, naming the option; a key is never echoed. */
export function checkedOptions(options: OpenAIProviderOptions): CheckedOptions {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw invalid(`options must be an object such as { model: "gpt-4o" }, got ${describeValue(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  if (unknown !== undefined) {
    throw invalid(`there is no option ${quote(unknown)}. ${didYouMean(unknown, Object.keys(KNOWN))}`);
  }
  const { model, headers: given = {}, body = {} } = options;
  const {
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxRetries = 3,
    retryDelayMs = 500,
    maxRetryDelayMs = 60_000,
  } = options;
  const { baseURL: address = process.env.OPENAI_BASE_URL || undefined } = options;
  const { apiKey: key = process.env.OPENAI_API_KEY ?? "" } = options;
  if (typeof model !== "string" || model === "") {
    throw invalid(`model must be a non-empty string, got ${describeValue(model)}`);
  }
  const baseURL = checkedURL(address);
  const apiKey = checkedKey(key);
  if (apiKey === "" && baseURL === undefined) {
    throw invalid("there is no API key. Set OPENAI_API_KEY, or pass apiKey or baseURL");
  }
  const headers = checkedHeaders(given);
  const credentials = Object.entries(headers).filter(([name]) => SECRET_HEADER.test(name));
  return {
    model,
    apiKey,
    baseURL,
    headers,
    timeoutMs: checkedNumber("timeoutMs", timeoutMs, 1),
    retries: {
      maxRetries: checkedNumber("maxRetries", maxRetries),
      baseDelayMs: checkedNumber("retryDelayMs", retryDelayMs),
      maxDelayMs: checkedNumber("maxRetryDelayMs", maxRetryDelayMs),
    },
    body: checkedBody(body),
    secrets: [apiKey, ...credentials.map(([, value]) => value.replace(/^bearer /i, ""))],
  };
}

function checkedNumber(name: string, value: unknown, least = 0): number {
  if (typeof value === "number" && value >= least) return value;
  throw invalid(`${name} must be a number of at least ${least}, got ${describeValue(value)}`);
}

function checkedKey(value: unknown): string {
  if (typeof value !== "string") throw invalid(`apiKey must be a string, got ${typeof value}`);
  const key = value.trim();
  // Said here in plain words: the error of the HTTP client would repeat the key.
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw invalid("apiKey holds a space, a line break or another character that no HTTP header can carry");
  }
  return key;
}

function checkedURL(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalid(`baseURL must be a string, got ${describeValue(value)}`);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalid(
      `baseURL must be an address such as "http://localhost:11434/v1", got ${describeValue(value)}`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid("baseURL must not hold a user name or a password. Pass apiKey or headers instead");
  }
  return value;
}

function checkedHeaders(value: unknown): Readonly<Record<string, string>> {
  const headers = checkedObject("headers", value);
  for (const [name, content] of Object.entries(headers)) {
    if (typeof content !== "string") {
      throw invalid(`headers[${quote(name)}] must be a string, got ${typeof content}`);
    }
    try {
      new Headers([[name, content]]);
    } catch {
      throw invalid(`headers[${quote(name)}] is not a header that HTTP can carry`);
    }
  }
  return headers as Record<string, string>;
}

function checkedBody(value: unknown): Readonly<Record<string, unknown>> {
  const body = checkedObject("body", value);
  const own = OWN_FIELDS.find((field) => field in body);
  if (own !== undefined) throw invalid(`body must not hold "${own}": the conversation decides it`);
  return body;
}

function checkedObject(name: string, value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw invalid(`${name} must be an object, got ${describeValue(value)}`);
}

function invalid(problem: string): AgentError {
  return new AgentError("invalid_argument", `OpenAIProvider: ${problem}${/[.?]$/.test(problem) ? "" : "."}`);
}
