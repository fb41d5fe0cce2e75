import type { ChatProvider } from "@agent/core";
import { escapeToLine } from "@agent/core/toolkit";
import { canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import type { ProviderSettings } from "../../settings/config/types.js";
import type { Settings } from "../../settings/layers.js";
import { describeOwner } from "./listeners.js";
import { checkSameOwner, findLocalServer, type LocalServer, listeningServers } from "./localServers.js";

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
 * on this machine that the person agreed to, if the person is there; else the offline provider. Throws if a model was
 * asked for and nobody can serve it.
 */
export async function chooseProvider(settings: Choice, env: Environment): Promise<ChosenProvider> {
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
  const server = canAsk() ? await findLocalServer(env) : undefined;
  if (server) return await localServer(server, model, env);
  const hint = unusedServers(env);
  if (model === undefined) return await offline(`no key, no model server agreed to${hint}`);
  throw new CliError(
    `Model ${JSON.stringify(model)} (${settings.origins.model}): there is nobody to ask${hint}. Set OPENAI_API_KEY, pass --base-url, or start a local server such as Ollama.`,
  );
}

/** A server that was found, not configured. Before each request it is looked at who listens there. */
async function localServer(
  server: LocalServer,
  wanted: string | undefined,
  env: Environment,
): Promise<ChosenProvider> {
  const { baseURL, name, owner } = server;
  const why = `${name}, run by ${describeOwner(owner)}`;
  const chosen = await openai({ baseURL }, wanted ?? server.model, env, why);
  const guarded = (provider: ChatProvider): ChatProvider => ({
    ...described(provider),
    respond: async (request) => {
      checkSameOwner(server);
      return await provider.respond(request);
    },
  });
  const { withModel } = chosen;
  return {
    ...chosen,
    provider: guarded(chosen.provider),
    ...(withModel && { withModel: async (model: string) => guarded(await withModel(model)) }),
  };
}

/** Says where something listens that could be meant. */
function unusedServers(env: Environment): string {
  const [first] = listeningServers(env);
  return first === undefined
    ? ""
    : `; for what listens on port ${first.port}: --base-url http://127.0.0.1:${first.port}/v1`;
}

async function offline(why: string): Promise<ChosenProvider> {
  const { OfflineProvider } = await import("../../offline/provider.js");
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
  const { OpenAIProvider } = await import("@agent/provider-openai");
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

/** What a provider says of itself, for a wrapper that only changes how it is asked. */
function described(provider: ChatProvider): Omit<ChatProvider, "respond"> {
  const { id, model, contextTokens, nativeOutput } = provider;
  return {
    id,
    model,
    contextTokens,
    nativeOutput,
    accepts: (mediaType) => provider.accepts?.(mediaType) ?? false,
  };
}

function isProvider(provider: Settings["provider"]): provider is ChatProvider {
  return typeof provider === "object" && "respond" in provider && typeof provider.respond === "function";
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : escapeToLine(url);
}
