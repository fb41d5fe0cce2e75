import type { ProviderOptions } from "@agent/core";
import { type CheckedOptions, readProviderOptions } from "@agent/core/provider";

const OWN_FIELDS = ["model", "contents", "systemInstruction", "tools"];

export const KEY_VARIABLES: readonly string[] = ["GEMINI_API_KEY", "GOOGLE_API_KEY"];
export const BASE_URL_VARIABLE = "GOOGLE_GEMINI_BASE_URL";
export const OWN_ADDRESS = "https://generativelanguage.googleapis.com";

/** Options of `GoogleProvider`. `body` holds fields such as `generationConfig` and `safetySettings`. */
export type GoogleProviderOptions = ProviderOptions;

/** The options with their defaults. Throws `invalid_argument`, naming the option; a key is never echoed. */
export function googleSettings(options: GoogleProviderOptions): CheckedOptions {
  const checked = readProviderOptions<GoogleProviderOptions>(options, {
    owner: "GoogleProvider",
    keyVariables: KEY_VARIABLES,
    baseURLVariable: BASE_URL_VARIABLE,
    baseURL: OWN_ADDRESS,
    ownFields: OWN_FIELDS,
    checks: {},
  });
  // The API lists model names with this prefix.
  return { ...checked, model: checked.model.replace(/^models\//, "") };
}
