import type { ChatProvider } from "@agent/core";
import { escapeToLine } from "@agent/core/toolkit";
import type { Settings } from "../config/layers.js";
import type { ProviderSettings } from "../config/types.js";
import { CliError } from "../errors.js";
import { findLocalServer } from "./probe.js";

/** The model asked for where only a key says what to do. */
const DEFAULT_OPENAI_MODEL = "gpt-5-mini";

/** Who answers, and how that was decided. */
export interface ChosenProvider {
  readonly provider: ChatProvider;
  readonly kind: "openai" | "offline" | "custom";
  readonly model: string;
  /** One line for the person: which model, where, and why. */
  readonly description: string;
  /** The same place with another model; absent where there is only one. */
  readonly withModel?: (model: string) => Promise<ChatProvider>;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Choice = Pick<Settings, "provider" | "model" | "origins">;

/**
 * Decides who answers: what flags and config say; then `OPENAI_API_KEY` or `OPENAI_BASE_URL`; then a model server
 * on this machine; else the offline provider. Throws if a model was asked for and nobody can serve it.
 */
export async function chooseProvider(
  settings: Choice,
  env: Environment = process.env,
): Promise<ChosenProvider> {
  const { provider, model } = settings;
  if (provider === "offline") return await offline(`chosen by ${settings.origins.provider}`);
  if (isProvider(provider)) {
    const name = provider.model ?? "custom provider";
    return { provider, kind: "custom", model: name, description: `${escapeToLine(name)} (from the config)` };
  }
  if (provider === "openai" || provider !== undefined) {
    return await openai(provider === "openai" ? {} : provider, model, env, `by ${settings.origins.provider}`);
  }
  if (env.OPENAI_API_KEY || env.OPENAI_BASE_URL) {
    return await openai({}, model, env, env.OPENAI_API_KEY ? "by OPENAI_API_KEY" : "by OPENAI_BASE_URL");
  }
  const server = await findLocalServer(env);
  if (server) {
    const { baseURL } = server;
    return await openai({ baseURL }, model ?? server.model, env, `${server.name} found on this machine`);
  }
  if (model === undefined) return await offline("no key, no local model server");
  throw new CliError(
    `Model ${JSON.stringify(model)} (${settings.origins.model}): there is nobody to ask. Set OPENAI_API_KEY, pass --base-url, or start a local server such as Ollama.`,
  );
}

async function offline(why: string): Promise<ChosenProvider> {
  const { OfflineProvider } = await import("../offline/provider.js");
  const provider = new OfflineProvider();
  return {
    provider,
    kind: "offline",
    model: provider.model,
    description: `offline assistant, not a language model (${why}). Set OPENAI_API_KEY for a real one.`,
  };
}

async function openai(
  settings: ProviderSettings,
  wanted: string | undefined,
  env: Environment,
  why: string,
): Promise<ChosenProvider> {
  const { OpenAIProvider } = await import("@agent/core/openai");
  const baseURL = settings.baseURL ?? (env.OPENAI_BASE_URL || undefined);
  if (!baseURL && !settings.apiKey && !env.OPENAI_API_KEY) {
    throw new CliError(
      "There is no API key. Set OPENAI_API_KEY, or provider.apiKey or provider.baseURL in the config.",
    );
  }
  const withModel = async (model: string): Promise<ChatProvider> =>
    new OpenAIProvider({
      ...settings,
      model,
      ...(env.OPENAI_API_KEY && !settings.apiKey && { apiKey: env.OPENAI_API_KEY }),
    });
  const model = wanted ?? settings.model ?? DEFAULT_OPENAI_MODEL;
  const place = baseURL === undefined ? "api.openai.com" : hostOf(baseURL);
  return {
    provider: await withModel(model),
    kind: "openai",
    model,
    description: `${escapeToLine(model)} at ${place} (${why})`,
    withModel,
  };
}

function isProvider(provider: Settings["provider"]): provider is ChatProvider {
  return typeof provider === "object" && "respond" in provider && typeof provider.respond === "function";
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : escapeToLine(url);
}
