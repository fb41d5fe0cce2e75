/** A provider that can be chosen by a short name. */
export interface KnownProvider {
  /** The name in settings: `provider: "anthropic"`, `--model anthropic/…`. */
  readonly name: string;
  readonly package: string;
  /**
   * The variables that may hold its key. Listed here too, so that a key can select a provider that is not loaded yet.
   */
  readonly keyVariables: readonly string[];
}

/** The known providers. Their order decides which key is used if several are set and no provider is named. */
export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  { name: "openai", package: "@agent/provider-openai", keyVariables: ["OPENAI_API_KEY"] },
  { name: "anthropic", package: "@agent/provider-anthropic", keyVariables: ["ANTHROPIC_API_KEY"] },
  {
    name: "google",
    package: "@agent/provider-google",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  },
];

/** The values of `provider`, besides the name of a package. */
export const PROVIDER_NAMES: readonly string[] = ["offline", ...KNOWN_PROVIDERS.map(({ name }) => name)];

/** The package of a provider: that of a known one, else the name itself. */
export function providerPackage(name: string): string {
  return KNOWN_PROVIDERS.find((known) => known.name === name)?.package ?? name;
}

/** Whether a text can name a provider: a known one, or a package such as `@me/agent-provider-x`. */
export function isProviderName(name: string): boolean {
  return PROVIDER_NAMES.includes(name) || /^(@[\w.-]+\/)?[\w.-]*provider[\w.-]*$/.test(name);
}

/**
 * Splits `anthropic/claude-x` into the provider and its model; a name whose first part is not a known provider is only
 * a model.
 */
export function splitModel(model: string): { readonly provider?: string; readonly model: string } {
  const slash = model.indexOf("/");
  const provider = model.slice(0, Math.max(0, slash));
  if (!KNOWN_PROVIDERS.some(({ name }) => name === provider) || slash === model.length - 1) return { model };
  return { provider, model: model.slice(slash + 1) };
}
