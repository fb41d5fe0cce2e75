import type { ChatProvider } from "@agent/core";
import { didYouMean, quote } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import type { ProviderSettings } from "../../settings/config/types.js";
import type { Settings } from "../../settings/layers.js";
import { KNOWN_PROVIDERS, splitModel } from "../../settings/providerCatalog.js";
import type { ProviderKeys } from "../../settings/providerKeys.js";
import { findProvider } from "./loadFactory.js";

type Environment = Readonly<Record<string, string | undefined>>;
export type ProviderChoice = Pick<Settings, "provider" | "model" | "fallback" | "prices" | "origins"> &
  Partial<Pick<Settings, "smallModel">>;

export interface ChooseOptions {
  /**
   * The environment with its keys. The variables of the chosen provider are removed from it, so that no tool sees them.
   */
  readonly keys: Pick<ProviderKeys, "env" | "take" | "expose">;
  /** The project's config if it is trusted: its packages can then be used. */
  readonly projectFile: string | undefined;
  /** The maximum number of retries. */
  readonly maxRetries?: number | undefined;
  /** How long a request waits for a usage limit to end. Absent: it fails. */
  readonly waitMs?: number | undefined;
}

/** A provider package by name, with its settings. */
export interface Selection {
  readonly name: string;
  readonly settings: ProviderSettings;
  readonly model: string | undefined;
  readonly why: string;
}

/** The provider named by the settings, the model's name or a key in the environment; `undefined` if there is none. */
export function selectByName(
  { provider, model, origins }: Pick<ProviderChoice, "provider" | "model" | "origins">,
  env: Environment,
): Selection | undefined {
  if (provider === "offline" || isProvider(provider)) return undefined;
  const settings: ProviderSettings = typeof provider === "object" ? provider : {};
  const named = typeof provider === "string" ? provider : settings.name;
  // With a base URL, "anthropic/…" is the name of a model on that server.
  const isAddressed = settings.baseURL !== undefined || (named === undefined && Boolean(env.OPENAI_BASE_URL));
  const split = model === undefined || isAddressed ? { model } : splitModel(model);
  if ("provider" in split && split.provider !== undefined && split.provider !== named) {
    return { name: split.provider, settings: {}, model: split.model, why: `from ${origins.model}` };
  }
  if (!isAddressed && named === undefined) checkModelName(model, origins.model);
  if (provider !== undefined) {
    return { name: named ?? "openai", settings, model: split.model, why: `from ${origins.provider}` };
  }
  const variable = keyVariable(env);
  if (!variable) return undefined;
  return { name: variable.provider, settings: {}, model: split.model, why: `from ${variable.name}` };
}

/**
 * Throws if the name's first part is nearly that of a provider, or if nothing follows it. Call it only without a base
 * URL: your own server may use any model names.
 */
export function checkModelName(name: string | undefined, origin = "settings"): void {
  const slash = name?.indexOf("/") ?? -1;
  if (name === undefined || slash === -1) return;
  const first = name.slice(0, slash);
  const names = KNOWN_PROVIDERS.map((known) => known.name);
  const problem = (words: string): CliError => new CliError(`Model ${quote(name)} (${origin}): ${words}`);
  if (names.includes(first)) {
    if (slash === name.length - 1) throw problem("it names a provider and no model.");
    return;
  }
  const hint = didYouMean(first, names, { otherwise: "" });
  if (hint !== "") throw problem(`there is no provider ${quote(first)}. ${hint}`);
}

/** The first key variable that is set, and its provider. */
function keyVariable(env: Environment): { readonly name: string; readonly provider: string } | undefined {
  if (env.OPENAI_API_KEY) return { name: "OPENAI_API_KEY", provider: "openai" };
  if (env.OPENAI_BASE_URL) return { name: "OPENAI_BASE_URL", provider: "openai" };
  for (const { name: provider, keyVariables } of KNOWN_PROVIDERS) {
    const name = keyVariables.find((variable) => env[variable]);
    if (name !== undefined) return { name, provider };
  }
  return undefined;
}

/** The provider that was requested by name but is not installed, so that it can be offered. */
export function missingProvider(settings: ProviderChoice, options: ChooseOptions): string | undefined {
  const selection = selectByName(settings, options.keys.env);
  return selection && findProvider(selection.name, options.projectFile) === undefined
    ? selection.name
    : undefined;
}

/** Whether the config contains a provider object. */
export function isProvider(provider: Settings["provider"]): provider is ChatProvider {
  return typeof provider === "object" && "respond" in provider && typeof provider.respond === "function";
}
