import type { JsonSchema, ModelFacts, ProviderOptions } from "@agent/core";
import { type CheckedOptions, modelFacts, readProviderOptions } from "@agent/core/provider";
import { MODELS } from "./models.js";

const OWNER = "AnthropicProvider";
const OWN_FIELDS = ["model", "messages", "system", "tools", "stream"];
const CACHE = ["5m", "1h", false] as const;

export const OPTIONS: Readonly<Record<string, JsonSchema>> = {
  maxTokens: { type: "integer", minimum: 1 },
  cache: { enum: CACHE },
};

const DEFAULT_MAX_TOKENS = 32_000;

export const KEY_VARIABLE = "ANTHROPIC_API_KEY";
export const BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL";
export const OWN_ADDRESS = "https://api.anthropic.com";

/** How long the server keeps a cached prompt; `false` for no caching. */
export type CacheLifetime = (typeof CACHE)[number];

export interface AnthropicProviderOptions extends ProviderOptions {
  /** The maximum tokens of an answer, thinking included. Default 32000, or the limit of the model if that is lower. */
  readonly maxTokens?: number;
  /** How long the server keeps the conversation in its prompt cache. Default `"5m"`; `false` turns caching off. */
  readonly cache?: CacheLifetime;
}

export interface AnthropicSettings extends CheckedOptions {
  readonly maxTokens: number;
  readonly cache: CacheLifetime;
  readonly facts: ModelFacts;
}

/** The options with their defaults. Throws `invalid_argument`, naming the option; a key is never echoed. */
export function anthropicSettings(options: AnthropicProviderOptions): AnthropicSettings {
  const checked = readProviderOptions<AnthropicProviderOptions>(options, {
    owner: OWNER,
    keyVariables: [KEY_VARIABLE],
    baseURLVariable: BASE_URL_VARIABLE,
    baseURL: OWN_ADDRESS,
    ownFields: OWN_FIELDS,
    options: OPTIONS,
  });
  const { price, ...facts } = modelFacts(MODELS, checked.model) ?? {};
  const isOwn = new URL(checked.baseURL).origin === OWN_ADDRESS;
  return {
    ...checked,
    // A model refuses a higher `max_tokens` than its limit.
    maxTokens: options.maxTokens ?? Math.min(DEFAULT_MAX_TOKENS, facts.outputTokens ?? DEFAULT_MAX_TOKENS),
    // A gateway may have its own prices.
    facts: { ...facts, ...(price && isOwn && { price }) },
    cache: options.cache ?? "5m",
  };
}
