import type { ProviderFactory } from "@agent/core";
import { modelFacts } from "@agent/core/provider";
import { MODELS, MODELS_DATE } from "./models.js";
import { BASE_URL_VARIABLE, type GoogleProviderOptions, KEY_VARIABLES, OWN_ADDRESS } from "./options.js";
import { GoogleProvider, listGoogleModels } from "./provider.js";

/** The entry by which a host that chooses providers by name finds this one. */
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
