import type { ChatProvider, ChatRequest, ChatResponse, Effort, ModelInfo, ModelPrice } from "@agent/core";
import { askWire, HttpEndpoint, listModelPages, recordsIn } from "@agent/core/provider";
import { ChatWire } from "./chat/wire.js";
import { requestHeaders } from "./headers.js";
import { LOCAL_OWNERS, modelInfo, runningContext } from "./listing.js";
import { KEY_VARIABLE, type OpenAIProviderOptions, type OpenAISettings, openaiSettings } from "./options.js";
import { ResponsesWire } from "./responses/wire.js";
import { secretsOf } from "./secrets.js";
import { sendThrough } from "./send.js";

const CURES: Readonly<Record<number, string>> = {
  401: `Check the API key (apiKey, or ${KEY_VARIABLE}).`,
  404: "Check baseURL and the name of the model.",
};

/**
 * OpenAI's models, and those of every server that speaks its chat completions API or its Responses API.
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
export async function listOpenAIModels(
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
    cures: CURES,
    ...(client && { send: sendThrough(client) }),
  });
}
