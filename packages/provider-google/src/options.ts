import type { ModelFacts, ProviderOptions } from "@agent/core";
import { type CheckedOptions, modelFacts, readProviderOptions } from "@agent/core/provider";
import { MODELS } from "./models.js";

const OWN_FIELDS = ["model", "contents", "systemInstruction", "tools"];

export const KEY_VARIABLES: readonly string[] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];
export const BASE_URL_VARIABLE = "GOOGLE_GEMINI_BASE_URL";
export const OWN_ADDRESS = "https://generativelanguage.googleapis.com";

/** Options of `GoogleProvider`. `body` holds fields such as `generationConfig` and `safetySettings`. */
export type GoogleProviderOptions = ProviderOptions;

export interface GoogleSettings extends CheckedOptions {
  readonly facts: ModelFacts;
}

/** The options with their defaults. Throws `invalid_argument`, naming the option; a key is never echoed. */
export function googleSettings(options: GoogleProviderOptions): GoogleSettings {
  const checked = readProviderOptions<GoogleProviderOptions>(options, {
    owner: "GoogleProvider",
    keyVariables: KEY_VARIABLES,
    baseURLVariable: BASE_URL_VARIABLE,
    baseURL: OWN_ADDRESS,
    ownFields: OWN_FIELDS,
  });
  // The API lists model names with this prefix.
  const model = checked.model.replace(/^models\//, "");
  const { price, ...facts } = modelFacts(MODELS, model) ?? {};
  const isOwn = new URL(checked.baseURL).origin === OWN_ADDRESS;
  // A gateway may have its own prices.
  return { ...checked, model, facts: { ...facts, ...(price && isOwn && { price }) } };
}
