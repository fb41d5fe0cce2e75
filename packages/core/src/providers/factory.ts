import type { JsonSchema } from "../tools/tool.js";
import type { ChatProvider, Effort, ModelPrice } from "./interface.js";

/** The options that every provider of the `@agent/provider-*` packages takes. Each may take more. */
export interface ProviderOptions {
  readonly model: string;
  /** Default: the first of the factory's `keyVariables` that is set. */
  readonly apiKey?: string;
  /** Another address that speaks the same API: a proxy, a gateway, your own server. */
  readonly baseURL?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the requests in place of the global `fetch`: through a proxy, or with a log. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** The longest silence of the server before a request fails. Default: five minutes, which Node's `fetch` never exceeds. */
  readonly timeoutMs?: number;
  /** How often a failed request is repeated. Default 3. */
  readonly maxRetries?: number;
  /** The first wait before a repetition; it doubles. Default 500. */
  readonly retryDelayMs?: number;
  /** The longest wait. A server that asks for more ends the request. Default 60000. */
  readonly maxRetryDelayMs?: number;
  /** More fields for the body of each request, as the API names them. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Facts about a model: from its server, or from the table in a provider package. */
export interface ModelFacts {
  /** The context window in tokens. */
  readonly contextTokens?: number;
  /** The longest answer in tokens. */
  readonly outputTokens?: number;
  readonly price?: ModelPrice;
  readonly efforts?: readonly Effort[];
  /** Whether it takes images. */
  readonly images?: boolean;
}

/** A model as its server lists it, with the facts that the server states. */
export interface ModelInfo extends ModelFacts {
  /** The value for the option `model`. */
  readonly id: string;
  /** The display name. */
  readonly name?: string;
}

/**
 * What a provider package exports under the name `provider`, so that a host can load it by its name without knowing
 * it: `const { provider } = await import("@agent/provider-anthropic")`.
 */
export interface ProviderFactory<Options extends ProviderOptions = ProviderOptions> {
  /** The provider's name in settings: `anthropic`, as in `anthropic/claude-sonnet-5-5`. */
  readonly name: string;
  /** Environment variables for the key. The first that is set counts; a host offers the first one to the user. */
  readonly keyVariables: readonly string[];
  /** The environment variable that replaces `baseURL`. */
  readonly baseURLVariable: string;
  /** Where requests go unless an option or a variable says otherwise. */
  readonly baseURL: string;
  /** The model for a user who named none. */
  readonly defaultModel: string;
  /** JSON Schemas of the options that only this provider has, by name: `{ maxTokens: { type: "integer" } }`. */
  readonly options?: Readonly<Record<string, JsonSchema>>;
  /** Facts about models that the package carries, as of `date`. A server's own list is more recent. */
  readonly knownModels?: { readonly date: string; readonly facts: (model: string) => ModelFacts | undefined };
  /** Sends nothing yet. Throws `invalid_argument` for a wrong option, or if there is no key where one is needed. */
  createProvider(options: Options): ChatProvider;
  /**
   * The models the server lists for this key, so it also proves the key. Rejects with an `AgentError`
   * (`provider_failed`) that holds no key.
   */
  listModels(
    options?: Omit<Options, "model">,
    request?: { readonly signal?: AbortSignal },
  ): Promise<readonly ModelInfo[]>;
}
