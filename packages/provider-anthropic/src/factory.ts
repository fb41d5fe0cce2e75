import type { ProviderFactory } from "@agent/core";
import { modelFacts } from "@agent/core/provider";
import { MODELS, MODELS_DATE } from "./models.js";
import {
  type AnthropicProviderOptions,
  BASE_URL_VARIABLE,
  KEY_VARIABLE,
  OPTIONS,
  OWN_ADDRESS,
} from "./options.js";
import { AnthropicProvider, listAnthropicModels } from "./provider.js";

/** The entry by which a host that chooses providers by name finds this one. */
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
