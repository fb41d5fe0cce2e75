import type {
  ChatProvider,
  ChatRequest,
  ChatResponse,
  Effort,
  ModelInfo,
  ModelPrice,
  ProviderFactory,
} from "@agent/core";
import {
  AttemptError,
  askWire,
  HttpEndpoint,
  headerSecrets,
  isRecord,
  jsonText,
  listModelPages,
  modelFacts,
  recordsIn,
  type Send,
} from "@agent/core/provider";
import { errorMessage, LONGEST_TIMER_MS } from "@agent/internal";
import { ChatWire } from "./chat/wire.js";
import { MODELS, MODELS_DATE } from "./models.js";
import {
  BASE_URL_VARIABLE,
  KEY_VARIABLE,
  OPTIONS,
  type OpenAIClient,
  type OpenAIProviderOptions,
  type OpenAISettings,
  OWN_ADDRESS,
  openaiSettings,
} from "./options.js";
import { ResponsesWire } from "./responses/wire.js";

const HINTS: Readonly<Record<number, string>> = {
  401: `Check the API key (apiKey, or ${KEY_VARIABLE}).`,
  404: "Check baseURL and the name of the model.",
};

/**
 * OpenAI's models, and those of every server with its chat completions API or its Responses API.
 *
 * @example
 * ```ts
 * import { Agent } from "@agent/core";
 * import { OpenAIProvider } from "@agent/provider-openai";
 *
 * const agent = new Agent(new OpenAIProvider({ model: "gpt-5-mini", apiKey: "sk-…" }));
 * ```
 */
export class OpenAIProvider implements ChatProvider {
  readonly id: string;
  readonly model: string;
  readonly address: string;
  readonly contextTokens: number | undefined;
  readonly price: ModelPrice | undefined;
  readonly efforts: readonly Effort[] | undefined;
  readonly #endpoint: HttpEndpoint;
  readonly #wire: ChatWire | ResponsesWire;

  constructor(options: OpenAIProviderOptions) {
    const settings = openaiSettings(options);
    this.id = `openai-${settings.api}:${new URL(settings.baseURL).host}`;
    this.model = settings.model;
    this.address = settings.baseURL;
    this.contextTokens = settings.facts?.contextTokens;
    this.price = settings.facts?.price;
    this.efforts = settings.facts?.efforts;
    this.#endpoint = endpointOf(settings);
    this.#wire = settings.api === "chat" ? new ChatWire(settings) : new ResponsesWire(settings);
  }

  get nativeOutput(): boolean {
    return true;
  }

  accepts(mediaType: string): boolean {
    return this.#wire.accepts(mediaType);
  }

  respond(request: ChatRequest): Promise<ChatResponse> {
    return askWire(this.#endpoint, this.#wire, request);
  }
}

/** The models that a server lists under `/models`, with the context of a local server's running models. */
async function listOpenAIModels(
  options: Omit<OpenAIProviderOptions, "model">,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelInfo[]> {
  const settings = openaiSettings({ ...options, model: "The server" });
  let owner: unknown;
  const models = await listModelPages(
    endpointOf(settings),
    {
      first: "/models",
      read: ({ data }) => {
        const entries = recordsIn(data);
        owner ??= entries.map((entry) => entry.owned_by).find((one) => LOCAL_OWNERS.includes(one));
        return entries.flatMap(modelInfo);
      },
    },
    signal,
  );
  if (typeof owner !== "string" || settings.client) return models;
  const root = endpointOf({ ...settings, baseURL: new URL(settings.baseURL).origin });
  // The server may not offer the path. The list itself is complete.
  const contextOf = await runningContext(owner, root, signal).catch(() => () => undefined);
  return models.map((model) => {
    const contextTokens = contextOf(model.id) ?? model.contextTokens;
    return { ...model, ...(contextTokens !== undefined && { contextTokens }) };
  });
}

function endpointOf(settings: OpenAISettings): HttpEndpoint {
  const { client } = settings;
  const headers = requestHeaders(settings);
  return new HttpEndpoint({
    ...settings,
    headers,
    get secrets() {
      return secretsOf(settings, headers);
    },
    hints: HINTS,
    ...(client && { send: sendThrough(client) }),
  });
}

/** The export by which hosts load this provider by name. */
export const provider: ProviderFactory<OpenAIProviderOptions> = {
  name: "openai",
  keyVariables: [KEY_VARIABLE],
  baseURLVariable: BASE_URL_VARIABLE,
  baseURL: OWN_ADDRESS,
  defaultModel: "gpt-5-mini",
  options: OPTIONS,
  knownModels: { date: MODELS_DATE, facts: (model) => modelFacts(MODELS, model) },
  createProvider: (options) => new OpenAIProvider(options),
  listModels: (options = {}, { signal } = {}) => listOpenAIModels(options, signal),
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The headers of every request, as OpenAI's SDK sends them, except those that describe the SDK itself. Written here,
 * because loading the SDK would take longer than the rest of the start; a test compares the two.
 */
export function requestHeaders(
  { apiKey, headers }: Pick<OpenAISettings, "apiKey" | "headers">,
  env: Environment = globalThis.process?.env ?? {},
): Record<string, string> {
  const organization = env.OPENAI_ORG_ID?.trim();
  const project = env.OPENAI_PROJECT_ID?.trim();
  return Object.fromEntries([
    ["accept", "application/json"],
    ...(organization ? [["openai-organization", organization]] : []),
    ...(project ? [["openai-project", project]] : []),
    ...(apiKey === "" ? [] : [["authorization", `Bearer ${apiKey}`]]),
    ...customHeaders(env.OPENAI_CUSTOM_HEADERS ?? ""),
    ...Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  ]);
}

/** Parses one `name: value` per line. */
function customHeaders(text: string): string[][] {
  return text.split("\n").flatMap((line) => {
    const colon = line.indexOf(":");
    return colon < 0 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]];
  });
}

/**
 * The values to redact in every message: the keys of the options, of the headers that are really sent (the environment
 * may add some), and of a ready client. Read for each message, because a client may fetch a new key before each
 * request.
 */
function secretsOf(
  { secrets, client }: OpenAISettings,
  headers: Readonly<Record<string, string>>,
): readonly string[] {
  return [...secrets, ...headerSecrets(headers), ...(client ? clientSecrets(client) : [])];
}

function clientSecrets(client: OpenAIClient): string[] {
  const { apiKey } = client;
  return [...(typeof apiKey === "string" ? [apiKey] : []), ...headerSecrets(clientHeaders(client))];
}

/** The headers that the client was created with, in any of the forms that the SDK accepts or converts them to. */
function clientHeaders(client: OpenAIClient): Record<string, string> {
  const { _options: options } = client as { readonly _options?: unknown };
  const given = isRecord(options) ? options.defaultHeaders : undefined;
  const headers = isRecord(given) && given.values instanceof Headers ? given.values : given;
  const entries = headers instanceof Headers || Array.isArray(headers) ? [...headers] : entriesOf(headers);
  const texts = entries.filter((entry) => Array.isArray(entry) && typeof entry[1] === "string");
  return Object.fromEntries(texts) as Record<string, string>;
}

function entriesOf(headers: unknown): [string, unknown][] {
  return isRecord(headers) ? Object.entries(headers) : [];
}

/**
 * Sends requests through the caller's client, which has its own `fetch`, proxy and login. Retries and timeouts stay with
 * this provider. The body is passed as an object, because Azure's client reads the model's name from it.
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
      `the server redirects with status ${status}. It must not get the conversation or the key; if you trust it, set the client's baseURL to it.`,
      { retryable: false },
    );
  }
  return new Response(jsonText({ error: details ?? errorMessage(error) }), {
    status,
    headers: headers instanceof Headers ? headers : {},
  });
}

const MILLION = 1_000_000;

/** Who llama.cpp and Ollama say owns their models. */
const LOCAL_OWNERS: readonly unknown[] = ["llamacpp", "library"];

/** The fields for the context size on compatible servers: LM Studio, vLLM, OpenRouter and Together, Groq, Mistral. */
const CONTEXT_FIELDS = [
  "loaded_context_length",
  "max_model_len",
  "context_length",
  "context_window",
  "max_context_length",
];

/** A model as a server lists it under `/models`, with the facts that the server states. */
function modelInfo(entry: Readonly<Record<string, unknown>>): ModelInfo[] {
  const { id, name, top_provider: top, pricing } = entry;
  if (typeof id !== "string") return [];
  const contextTokens = CONTEXT_FIELDS.map((field) => entry[field]).find(isCount);
  const outputTokens = isRecord(top) ? top.max_completion_tokens : undefined;
  const price = readPrice(pricing);
  return [
    {
      id,
      ...(typeof name === "string" && { name }),
      ...(contextTokens !== undefined && { contextTokens }),
      ...(isCount(outputTokens) && { outputTokens }),
      ...(price && { price }),
    },
  ];
}

/** OpenRouter's prices: dollars per token, as text. Negative if the model of the name varies. */
function readPrice(pricing: unknown): ModelPrice | undefined {
  if (!isRecord(pricing)) return undefined;
  const dollars = (field: string): number => {
    const text = pricing[field];
    return typeof text === "string" && text !== "" ? round(Number(text) * MILLION) : Number.NaN;
  };
  const [input, output] = [dollars("prompt"), dollars("completion")];
  if (!(input >= 0) || !(output >= 0)) return undefined;
  const [cachedInput, cacheWrite] = [dollars("input_cache_read"), dollars("input_cache_write")];
  return {
    input,
    output,
    ...(cachedInput >= 0 && { cachedInput }),
    ...(cacheWrite >= 0 && { cacheWrite }),
  };
}

/** Removes the error of floating-point multiplication. */
function round(dollars: number): number {
  return Number(dollars.toPrecision(12));
}

/**
 * The context size that llama.cpp and Ollama run a model with. It is not in their `/models`, and the maximum of the
 * model is often larger: the server would truncate a longer conversation without an error.
 */
async function runningContext(
  owner: string,
  endpoint: HttpEndpoint,
  signal: AbortSignal,
): Promise<(model: string) => number | undefined> {
  const ask = (path: string): Promise<unknown> =>
    endpoint.attempts(
      { signal },
      async (idle) => await endpoint.readJson(await endpoint.open(path, undefined, idle), idle),
      "state its context",
    );
  if (owner === "llamacpp") {
    const props = await ask("/props");
    const settings = isRecord(props) ? props.default_generation_settings : undefined;
    const tokens = isRecord(settings) ? settings.n_ctx : undefined;
    return () => (isCount(tokens) ? tokens : undefined);
  }
  const running = await ask("/api/ps");
  const loaded = recordsIn(isRecord(running) ? running.models : undefined);
  return (model) => {
    const tokens = loaded.find(({ name }) => name === model)?.context_length;
    return isCount(tokens) ? tokens : undefined;
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}
