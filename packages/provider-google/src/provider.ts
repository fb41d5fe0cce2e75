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
  askWire,
  type CheckedOptions,
  type Hint,
  HttpEndpoint,
  listModelPages,
  modelFacts,
  recordsIn,
} from "@agent/core/provider";
import { MODELS, MODELS_DATE } from "./models.js";
import {
  BASE_URL_VARIABLE,
  type GoogleProviderOptions,
  googleSettings,
  KEY_VARIABLES,
  OWN_ADDRESS,
} from "./options.js";
import { GenerateContentWire } from "./wire.js";

const ACCEPTED: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/heic",
  "image/heif",
  "application/pdf",
  "audio/wav",
  "audio/mp3",
  "audio/mpeg",
  "audio/aac",
  "audio/ogg",
  "audio/flac",
]);
const CHECK_KEY = `Check the API key (apiKey, or ${KEY_VARIABLES[0]}).`;
const HINTS: Readonly<Record<number, Hint>> = {
  // The API's own answer to a wrong key, and to many other mistakes.
  400: { about: /API key/i, text: CHECK_KEY },
  401: CHECK_KEY,
  403: CHECK_KEY,
  404: "Check baseURL and the name of the model.",
};

/**
 * Gemini models on Google's generateContent API: thought signatures, images and structured answers, without an SDK.
 *
 * @example
 * ```ts
 * import { Agent } from "@agent/core";
 * import { GoogleProvider } from "@agent/provider-google";
 *
 * const agent = new Agent(new GoogleProvider({ model: "gemini-flash-latest", apiKey: "…" }));
 * ```
 */
export class GoogleProvider implements ChatProvider {
  readonly id = "google";
  readonly model: string;
  readonly address: string;
  readonly contextTokens: number | undefined;
  readonly price: ModelPrice | undefined;
  readonly efforts: readonly Effort[] | undefined;
  readonly nativeOutput = true;
  readonly #endpoint: HttpEndpoint;
  readonly #wire: GenerateContentWire;

  constructor(options: GoogleProviderOptions) {
    const settings = googleSettings(options);
    this.model = settings.model;
    this.address = settings.baseURL;
    this.contextTokens = settings.facts.contextTokens;
    this.price = settings.facts.price;
    this.efforts = settings.facts.efforts;
    this.#endpoint = endpointOf(settings);
    this.#wire = new GenerateContentWire(settings);
  }

  accepts(mediaType: string): boolean {
    return ACCEPTED.has(mediaType);
  }

  respond(request: ChatRequest): Promise<ChatResponse> {
    return askWire(this.#endpoint, this.#wire, request);
  }
}

/** The models that the API lists for this key, without those that cannot chat. */
async function listGoogleModels(
  options: Omit<GoogleProviderOptions, "model">,
  signal?: AbortSignal,
): Promise<readonly ModelInfo[]> {
  const settings = googleSettings({ ...options, model: "The server" });
  return await listModelPages(
    endpointOf(settings),
    {
      first: "/v1beta/models?pageSize=1000",
      read: ({ models }) => recordsIn(models).flatMap(modelInfo),
      next: ({ nextPageToken: token }) =>
        typeof token === "string" && token !== ""
          ? `/v1beta/models?pageSize=1000&pageToken=${encodeURIComponent(token)}`
          : undefined,
    },
    signal,
  );
}

function modelInfo(model: Readonly<Record<string, unknown>>): ModelInfo[] {
  const { name, displayName, inputTokenLimit, outputTokenLimit, supportedGenerationMethods: methods } = model;
  if (typeof name !== "string") return [];
  if (Array.isArray(methods) && !methods.includes("generateContent")) return [];
  return [
    {
      id: name.replace(/^models\//, ""),
      ...(typeof displayName === "string" && { name: displayName }),
      ...(typeof inputTokenLimit === "number" && { contextTokens: inputTokenLimit }),
      ...(typeof outputTokenLimit === "number" && { outputTokens: outputTokenLimit }),
    },
  ];
}

function endpointOf(settings: CheckedOptions): HttpEndpoint {
  const { apiKey, headers } = settings;
  return new HttpEndpoint({
    ...settings,
    headers: { ...(apiKey !== "" && { "x-goog-api-key": apiKey }), ...headers },
    hints: HINTS,
  });
}

/** The export by which hosts load this provider by name. */
export const provider: ProviderFactory<GoogleProviderOptions> = {
  name: "google",
  keyVariables: KEY_VARIABLES,
  baseURLVariable: BASE_URL_VARIABLE,
  baseURL: OWN_ADDRESS,
  defaultModel: "gemini-flash-latest",
  knownModels: { date: MODELS_DATE, facts: (model) => modelFacts(MODELS, model) },
  createProvider: (options) => new GoogleProvider(options),
  listModels: (options = {}, { signal } = {}) => listGoogleModels(options, signal),
};
