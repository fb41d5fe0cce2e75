import type { ProviderFactory } from "@agent/core";
import { modelFacts } from "@agent/core/provider";
import { MODELS, MODELS_DATE } from "./models.js";
import {
  BASE_URL_VARIABLE,
  KEY_VARIABLE,
  OPTIONS,
  type OpenAIProviderOptions,
  OWN_ADDRESS,
} from "./options.js";
import { listOpenAIModels, OpenAIProvider } from "./provider.js";

/** The entry by which a host that chooses providers by name finds this one. */
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
