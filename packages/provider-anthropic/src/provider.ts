import type {
  ChatProvider,
  ChatRequest,
  ChatResponse,
  Effort,
  ModelInfo,
  ModelPrice,
  ProviderFactory,
} from "@agent/core";
import { askWire, HttpEndpoint, listModelPages, modelFacts, recordsIn } from "@agent/core/provider";
import { MODELS, MODELS_DATE } from "./models.js";
import {
  type AnthropicProviderOptions,
  type AnthropicSettings,
  anthropicSettings,
  BASE_URL_VARIABLE,
  KEY_VARIABLE,
  OPTIONS,
  OWN_ADDRESS,
} from "./options.js";
import { MessagesWire } from "./wire.js";

const API_VERSION = "2023-06-01";
const ACCEPTED: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
]);
const HINTS: Readonly<Record<number, string>> = {
  401: `Check the API key (apiKey, or ${KEY_VARIABLE}).`,
  403: "The key may not use this model.",
  404: "Check baseURL and the name of the model.",
};

/**
 * Claude models on Anthropic's Messages API: prompt caching, thinking that is sent back with its signature, images,
 * PDFs and structured answers, without an SDK.
 *
 * @example
 * ```ts
 * import { Agent } from "@agent/core";
 * import { AnthropicProvider } from "@agent/provider-anthropic";
 *
 * const agent = new Agent(new AnthropicProvider({ model: "claude-sonnet-5-5", apiKey: "sk-ant-…" }));
 * ```
 */
export class AnthropicProvider implements ChatProvider {
  readonly id = "anthropic";
  readonly model: string;
  readonly address: string;
  readonly contextTokens: number | undefined;
  readonly price: ModelPrice | undefined;
  readonly efforts: readonly Effort[] | undefined;
  readonly nativeOutput = true;
  readonly #endpoint: HttpEndpoint;
  readonly #wire: MessagesWire;

  constructor(options: AnthropicProviderOptions) {
    const settings = anthropicSettings(options);
    const { contextTokens, price, efforts } = settings.facts;
    this.model = settings.model;
    this.address = settings.baseURL;
    // The answer counts as part of the context.
    this.contextTokens = contextTokens && contextTokens - settings.maxTokens;
    this.price = price;
    this.efforts = efforts;
    this.#endpoint = endpointOf(settings);
    this.#wire = new MessagesWire(settings);
  }

  accepts(mediaType: string): boolean {
    return ACCEPTED.has(mediaType);
  }

  respond(request: ChatRequest): Promise<ChatResponse> {
    return askWire(this.#endpoint, this.#wire, request);
  }
}

/** The models the API lists for this key. */
async function listAnthropicModels(
  options: Omit<AnthropicProviderOptions, "model">,
  signal?: AbortSignal,
): Promise<readonly ModelInfo[]> {
  const settings = anthropicSettings({ ...options, model: "The server" });
  return await listModelPages(
    endpointOf(settings),
    {
      first: "/v1/models?limit=1000",
      read: ({ data }) => recordsIn(data).flatMap(modelInfo),
      next: ({ has_more: hasMore, last_id: last }) =>
        hasMore === true && typeof last === "string"
          ? `/v1/models?limit=1000&after_id=${encodeURIComponent(last)}`
          : undefined,
    },
    signal,
  );
}

function modelInfo(entry: Readonly<Record<string, unknown>>): ModelInfo[] {
  const { id, display_name: name, max_input_tokens: tokens, max_tokens: output } = entry;
  if (typeof id !== "string") return [];
  return [
    {
      id,
      ...(typeof name === "string" && { name }),
      ...(typeof tokens === "number" && { contextTokens: tokens }),
      ...(typeof output === "number" && { outputTokens: output }),
    },
  ];
}

function endpointOf(settings: AnthropicSettings): HttpEndpoint {
  const { apiKey, headers } = settings;
  return new HttpEndpoint({
    ...settings,
    headers: { ...(apiKey !== "" && { "x-api-key": apiKey }), "anthropic-version": API_VERSION, ...headers },
    hints: HINTS,
  });
}

/** The export by which hosts load this provider by name. */
export const provider: ProviderFactory<AnthropicProviderOptions> = {
  name: "anthropic",
  keyVariables: [KEY_VARIABLE],
  baseURLVariable: BASE_URL_VARIABLE,
  baseURL: OWN_ADDRESS,
  defaultModel: "claude-sonnet-5-5",
  options: OPTIONS,
  knownModels: { date: MODELS_DATE, facts: (model) => modelFacts(MODELS, model) },
  createProvider: (options) => new AnthropicProvider(options),
  listModels: (options = {}, { signal } = {}) => listAnthropicModels(options, signal),
};
