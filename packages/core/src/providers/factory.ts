import type { JsonSchema } from "../tools/tool.js";
import type { ChatProvider, Effort, ModelPrice } from "./interface.js";

/** The options of every provider in the `@agent/provider-*` packages. Each may have more. */
export interface ProviderOptions {
  readonly model: string;
  /** Default: the first of the factory's `keyVariables` that is set. */
  readonly apiKey?: string;
  /** Another URL with the same API: a proxy, a gateway, your own server. */
  readonly baseURL?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the global `fetch`, for example to use a proxy or to log requests. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /**
   * The maximum silence of the server before a request fails. Default: five minutes, which Node's `fetch` never
   * exceeds.
   */
  readonly timeoutMs?: number;
  /** The maximum number of retries. Default 3. */
  readonly maxRetries?: number;
  /** The first delay before a retry; it doubles. Default 500. */
  readonly retryDelayMs?: number;
  /** The maximum delay. If the server asks for more, the request fails. Default 60000. */
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
  /** Whether it accepts images. */
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
 * The `provider` export of a provider package, so that a host can load it by name: `const { provider } = await
 * import("@agent/provider-anthropic")`.
 */
export interface ProviderFactory<Options extends ProviderOptions = ProviderOptions> {
  /** The provider's name in settings: `anthropic`, as in `anthropic/claude-sonnet-5-5`. */
  readonly name: string;
  /** Environment variables for the key, in order of precedence; a host shows the first one to the user. */
  readonly keyVariables: readonly string[];
  /** The environment variable that replaces `baseURL`. */
  readonly baseURLVariable: string;
  /** The base URL unless an option or a variable sets another. */
  readonly baseURL: string;
  /** The default model. */
  readonly defaultModel: string;
  /** JSON Schemas of the options that only this provider has, by name: `{ maxTokens: { type: "integer" } }`. */
  readonly options?: Readonly<Record<string, JsonSchema>>;
  /** Facts about models that the package carries, as of `date`. A server's own list is more recent. */
  readonly knownModels?: { readonly date: string; readonly facts: (model: string) => ModelFacts | undefined };
  /**
   * Creates the provider. Sends nothing yet. Throws `invalid_argument` for an invalid option, or if a required key is
   * missing.
   */
  createProvider(options: Options): ChatProvider;
  /**
   * Lists the server's models for this key, which also verifies the key. Rejects with an `AgentError`
   * (`provider_failed`) that contains no key.
   */
  listModels(
    options?: Omit<Options, "model">,
    request?: { readonly signal?: AbortSignal },
  ): Promise<readonly ModelInfo[]>;
}
