import { AgentError } from "@agent/core";
import type { RetryPolicy } from "@agent/core/provider";
import {
  checkOptions,
  describeValue,
  isRecord,
  type OptionChecks,
  quote,
  type ValueCheck,
} from "@agent/core/toolkit";

const DEFAULT_TIMEOUT_MS = 5 * 60 * 1000;
// What the conversation decides. Set here they would be overwritten without a word.
const OWN_FIELDS = ["model", "messages", "tools", "stream"];
// Headers and parameters that carry a credential, whatever a gateway calls them.
const SECRET_NAME = /auth|key|token|secret|cookie/i;

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

const CHECKS: OptionChecks<OpenAIProviderOptions> = {
  model: checkModel,
  apiKey: checkKey,
  baseURL: checkURL,
  headers: checkHeaders,
  timeoutMs: atLeast(1),
  maxRetries: atLeast(0),
  retryDelayMs: atLeast(0),
  maxRetryDelayMs: atLeast(0),
  body: checkBody,
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
  checkOptions("OpenAIProvider", options, CHECKS);
  const {
    model,
    apiKey: key = process.env.OPENAI_API_KEY ?? "",
    baseURL = process.env.OPENAI_BASE_URL || undefined,
    headers = {},
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxRetries = 3,
    retryDelayMs = 500,
    maxRetryDelayMs = 60_000,
    body = {},
  } = options;
  // Once more: these may be absent, or come from the environment.
  checkModel("model", model);
  checkKey("apiKey", key);
  if (baseURL !== undefined) checkURL("baseURL", baseURL);
  const apiKey = key.trim();
  if (apiKey === "" && baseURL === undefined) {
    throw invalid("there is no API key. Set OPENAI_API_KEY, or pass apiKey or baseURL");
  }
  return {
    model,
    apiKey,
    baseURL,
    headers: { ...headers },
    timeoutMs,
    retries: { maxRetries, baseDelayMs: retryDelayMs, maxDelayMs: maxRetryDelayMs },
    body: { ...body },
    secrets: [apiKey, ...headerSecrets(headers), ...addressSecrets(baseURL)],
  };
}

/** What follows the scheme in a header that carries a credential; of `Basic` also the password inside. */
function headerSecrets(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => SECRET_NAME.test(name))
    .flatMap(([, value]) => {
      const [, scheme = "", credential = ""] = /^(?:([\w-]+)\s+)?(.*)$/s.exec(value.trim()) ?? [];
      if (scheme.toLowerCase() !== "basic") return [credential];
      const password = Buffer.from(credential, "base64")
        .toString()
        .replace(/^[^:]*:/, "");
      return [credential, password];
    });
}

/** Gateways take a key in the address, too: `https://host/v1?api-key=…`. */
function addressSecrets(baseURL: string | undefined): string[] {
  if (baseURL === undefined) return [];
  return [...new URL(baseURL).searchParams]
    .filter(([name]) => SECRET_NAME.test(name))
    .map(([, value]) => value);
}

function checkModel(name: string, value: unknown): void {
  if (typeof value !== "string" || value === "") {
    throw invalid(`${name} must be a non-empty string, got ${describeValue(value)}`);
  }
}

function atLeast(least: number): ValueCheck {
  return (name, value) => {
    if (typeof value === "number" && value >= least) return;
    throw invalid(`${name} must be a number of at least ${least}, got ${describeValue(value)}`);
  };
}

function checkKey(name: string, value: unknown): void {
  if (typeof value !== "string") throw invalid(`${name} must be a string, got ${typeof value}`);
  // Said here in plain words: the error of the HTTP client would repeat the key.
  if (!/^[\x21-\x7e]*$/.test(value.trim())) {
    throw invalid(`${name} holds a space, a line break or another character that no HTTP header can carry`);
  }
}

function checkURL(name: string, value: unknown): void {
  if (typeof value !== "string") throw invalid(`${name} must be a string, got ${describeValue(value)}`);
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalid(
      `${name} must be an address such as "http://localhost:11434/v1", got ${describeValue(value)}`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid(`${name} must not hold a user name or a password. Pass apiKey or headers instead`);
  }
}

function checkHeaders(name: string, value: unknown): void {
  for (const [header, content] of entriesOf(name, value)) {
    if (typeof content !== "string") {
      throw invalid(`${name}[${quote(header)}] must be a string, got ${typeof content}`);
    }
    try {
      new Headers([[header, content]]);
    } catch {
      throw invalid(`${name}[${quote(header)}] is not a header that HTTP can carry`);
    }
  }
}

function checkBody(name: string, value: unknown): void {
  const own = entriesOf(name, value).find(([field]) => OWN_FIELDS.includes(field));
  if (own !== undefined) throw invalid(`${name} must not hold "${own[0]}": the conversation decides it`);
}

function entriesOf(name: string, value: unknown): [string, unknown][] {
  if (isRecord(value)) return Object.entries(value);
  throw invalid(`${name} must be an object, got ${describeValue(value)}`);
}

function invalid(problem: string): AgentError {
  return new AgentError("invalid_argument", `OpenAIProvider: ${problem}${/[.?]$/.test(problem) ? "" : "."}`);
}
