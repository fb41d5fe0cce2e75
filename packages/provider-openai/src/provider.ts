import type { ChatProvider, ChatRequest, ChatResponse, ModelInfo } from "@agent/core";
import { askWire, HttpEndpoint, listModelPages, recordsIn } from "@agent/core/provider";
import { ChatWire } from "./chat/wire.js";
import { requestHeaders } from "./headers.js";
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
  readonly #endpoint: HttpEndpoint;
  readonly #wire: ChatWire | ResponsesWire;

  constructor(options: OpenAIProviderOptions) {
    const settings = openaiSettings(options);
    this.id = `openai-${settings.api}:${new URL(settings.baseURL).host}`;
    this.model = settings.model;
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

/** The models that a server lists under `/models`. */
export async function listOpenAIModels(
  options: Omit<OpenAIProviderOptions, "model">,
  signal?: AbortSignal,
): Promise<readonly ModelInfo[]> {
  const settings = openaiSettings({ ...options, model: "The server" });
  return await listModelPages(
    endpointOf(settings),
    {
      first: "/models",
      read: ({ data }) => recordsIn(data).flatMap(({ id }) => (typeof id === "string" ? [{ id }] : [])),
    },
    signal,
  );
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
