import { setTimeout as sleep } from "node:timers/promises";
import {
  type AgentError,
  type ChatProvider,
  isAgentError,
  type ModelInfo,
  type ProviderFactory,
  type ProviderOptions,
  wrapProvider,
} from "@agent/core";
import { escapeToLine } from "@agent/internal";
import { canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { splitModel } from "../../settings/providerCatalog.js";
import type { ProviderKeys } from "../../settings/providerKeys.js";
import { configuredPrice, savedFacts, withFacts } from "./facts.js";
import { FallbackProvider } from "./fallback.js";
import { describeOwner } from "./listeners.js";
import { loadFactory } from "./loadFactory.js";
import { checkSameOwner, findLocalServer, type LocalServer, listeningServers } from "./localServers.js";
import { nodeFetch } from "./nodeFetch.js";
import {
  type ChooseOptions,
  checkModelName,
  isProvider,
  type ProviderChoice,
  type Selection,
  selectByName,
} from "./select.js";

// A local server answers within a few milliseconds; the start does not wait longer.
const LOCAL_LIST_MS = 300;

/** The chosen provider, and how it was chosen. */
export interface ChosenProvider {
  readonly provider: ChatProvider;
  /** The provider's name: `openai`, `anthropic`, `offline`, or `custom` for a provider object from the config. */
  readonly kind: string;
  readonly model: string;
  /** One line for the user: the model, its server, and why it was chosen. */
  readonly description: string;
  /** Creates the provider with another model of the same server; absent if there is only one model. */
  readonly withModel?: (model: string) => Promise<ChatProvider>;
  /** A cheaper model for summaries and for reading pages, if the settings name one. */
  readonly smallModel?: ChatProvider;
  /** Lists the server's models, if it has a list; also verifies the key. */
  readonly listModels?: (signal?: AbortSignal) => Promise<readonly ModelInfo[]>;
  /** The address of the server, if there is one. */
  readonly address?: string;
  /** Facts about models in the provider's package. */
  readonly knownModels?: ProviderFactory["knownModels"];
}

/**
 * Chooses the provider: the one named by flags and config; else by a provider's key or `OPENAI_BASE_URL`; else a local
 * model server that the user approved, if the chat is interactive; else the offline provider. Throws if a model was
 * named and no provider can serve it.
 */
export async function chooseProvider(
  settings: ProviderChoice,
  options: ChooseOptions,
): Promise<ChosenProvider> {
  const main = await chooseMain(settings, options);
  const second = await chooseFallback(main, settings, options);
  const small = await chooseOther("smallModel", main, settings, options);
  const chosen = second
    ? {
        ...wrapped(main, (provider) => new FallbackProvider(provider, second.provider)),
        description: `${main.description}, ${escapeToLine(settings.fallback ?? "")} if it fails`,
      }
    : main;
  const { waitMs } = options;
  const waiting = (provider: ChatProvider): ChatProvider =>
    waitMs === undefined ? provider : waitForUsageLimit(provider, waitMs);
  return { ...wrapped(chosen, waiting), ...(small && { smallModel: waiting(small.provider) }) };
}

/** Like `chooseProvider`, without the fallback. */
export async function chooseMain(settings: ProviderChoice, options: ChooseOptions): Promise<ChosenProvider> {
  return priced(await chooseFirst(settings, options), settings.prices);
}

/** The fallback model; `undefined` if the settings name none. */
export async function chooseFallback(
  chosen: ChosenProvider,
  settings: ProviderChoice,
  options: ChooseOptions,
): Promise<ChosenProvider | undefined> {
  return await chooseOther("fallback", chosen, settings, options);
}

/** Another model in the settings under this key; `undefined` if there is none. */
async function chooseOther(
  key: "fallback" | "smallModel",
  chosen: ChosenProvider,
  settings: ProviderChoice,
  options: ChooseOptions,
): Promise<ChosenProvider | undefined> {
  const wanted = settings[key];
  if (wanted === undefined || chosen.kind === "offline") return undefined;
  const isAddressed = settings.provider !== undefined || Boolean(options.keys.env.OPENAI_BASE_URL);
  if (!isAddressed) checkModelName(wanted, settings.origins[key]);
  const { provider: name = chosen.kind, model } = splitModel(wanted);
  const why = `${key} from ${settings.origins[key]}`;
  if (name === chosen.kind && chosen.withModel) {
    const provider = await chosen.withModel(model);
    return { ...chosen, provider, model, description: `${escapeToLine(model)} (${why})` };
  }
  return priced(await byName({ name, settings: {}, model, why }, options), settings.prices);
}

/** Adds the server's last reported facts, and the prices of the config, which take precedence. */
function priced(chosen: ChosenProvider, prices: ProviderChoice["prices"]): ChosenProvider {
  const saved = savedFacts(chosen);
  return wrapped(chosen, (provider, model) => {
    const price = configuredPrice(chosen.kind, model, prices);
    return withFacts(provider, { ...saved(model), ...(price && { price }) });
  });
}

/** Wraps the provider of a choice, for all of its models. */
function wrapped(
  chosen: ChosenProvider,
  wrap: (provider: ChatProvider, model: string) => ChatProvider,
): ChosenProvider {
  const { provider, model, withModel } = chosen;
  return {
    ...chosen,
    provider: wrap(provider, model),
    ...(withModel && { withModel: async (other: string) => wrap(await withModel(other), other) }),
  };
}

async function chooseFirst(settings: ProviderChoice, options: ChooseOptions): Promise<ChosenProvider> {
  const { provider } = settings;
  if (provider === "offline") return await offline(`chosen by ${settings.origins.provider}`);
  if (isProvider(provider)) {
    const name = provider.model ?? "custom provider";
    return {
      provider: withExposedKeys(provider, options.keys),
      kind: "custom",
      model: name,
      description: `${escapeToLine(name)} (from the config)`,
    };
  }
  const selection = selectByName(settings, options.keys.env);
  if (selection) return await byName(selection, options);
  const { model } = settings;
  const server = canAsk() ? await findLocalServer(options.keys.env) : undefined;
  if (server) return await localServer(server, model, options);
  const hint = unusedServers(options.keys.env);
  if (model === undefined) return await offline(`no API key and no approved model server found${hint}`);
  throw new CliError(
    `Model ${JSON.stringify(model)} (${settings.origins.model}): no provider can serve it${hint}. Set OPENAI_API_KEY, pass --base-url, name a provider as in anthropic/…, or start a local server such as Ollama.`,
  );
}

async function byName(
  selection: Selection,
  { keys, projectFile, maxRetries }: ChooseOptions,
): Promise<ChosenProvider> {
  const { name, why } = selection;
  const factory = await loadFactory(name, projectFile);
  keys.take(factory.keyVariables);
  const { env } = keys;
  const { name: _, ...settings } = selection.settings;
  const baseURL = settings.baseURL ?? (env[factory.baseURLVariable] || undefined);
  const key = settings.apiKey ?? factory.keyVariables.map((variable) => env[variable]).find(Boolean);
  if (baseURL === undefined && key === undefined) throw new CliError(missingKey(factory));
  const shared: Omit<ProviderOptions, "model"> = {
    fetch: nodeFetch,
    ...(maxRetries !== undefined && { maxRetries }),
    ...settings,
    ...(key !== undefined && { apiKey: key }),
    ...(baseURL !== undefined && { baseURL }),
  };
  const withModel = async (model: string): Promise<ChatProvider> =>
    factory.createProvider({ ...shared, model: ownModel(model, factory.name) });
  const model = selection.model ?? settings.model ?? factory.defaultModel;
  const { model: __, ...listing } = shared as ProviderOptions;
  return {
    provider: await withModel(model),
    kind: factory.name,
    model,
    description: `${escapeToLine(model)} at ${hostOf(baseURL ?? factory.baseURL)} (${why})`,
    withModel,
    address: baseURL ?? factory.baseURL,
    ...(factory.knownModels && { knownModels: factory.knownModels }),
    listModels: (signal) => factory.listModels(listing, signal && { signal }),
  };
}

function missingKey({ name, keyVariables }: ProviderFactory): string {
  const [variable] = keyVariables;
  return `There is no API key for ${name}. Set ${variable}, or provider.apiKey or provider.baseURL in the config.`;
}

/** With the provider anthropic, `/model anthropic/x` means its model `x`. */
function ownModel(model: string, provider: string): string {
  const split = splitModel(model);
  return split.provider === provider ? split.model : model;
}

/** A server that was detected, not configured. Checks before each request that its owner has not changed. */
async function localServer(
  server: LocalServer,
  wanted: string | undefined,
  options: ChooseOptions,
): Promise<ChosenProvider> {
  const { baseURL, name, owner } = server;
  const why = `${name}, run by ${describeOwner(owner)}`;
  const model = wanted ?? server.model;
  const chosen = await byName({ name: "openai", settings: { baseURL }, model, why }, options);
  const guarded = (provider: ChatProvider): ChatProvider =>
    wrapProvider(provider, async (request, ask) => {
      checkSameOwner(server);
      return await ask(request);
    });
  // The server is on this machine: ask it for its context size, which local servers often set far below the model's
  // own.
  const listed = await chosen.listModels?.(AbortSignal.timeout(LOCAL_LIST_MS)).catch(() => []);
  return wrapped(chosen, (provider, name) =>
    withFacts(guarded(provider), listed?.find(({ id }) => id === name) ?? {}),
  );
}

/** A hint about a local server that could be meant. */
function unusedServers(env: ChooseOptions["keys"]["env"]): string {
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
    description: `offline assistant, which is not a language model (${why}). Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY to use one.`,
  };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : escapeToLine(url);
}

/**
 * A provider object from the config, with the keys in the environment during requests: it may read them with each
 * request, as the models of the AI SDK do. Tools run between requests and do not see them.
 */
function withExposedKeys(provider: ChatProvider, keys: Pick<ProviderKeys, "expose">): ChatProvider {
  return wrapProvider(provider, async (request, ask) => {
    const hide = keys.expose();
    try {
      return await ask(request);
    } finally {
      hide();
    }
  });
}

const TOO_MANY_REQUESTS = 429;

// The delays for a server that does not report when its limit ends.
const FIRST_WAIT_MS = 60_000;

const LONGEST_WAIT_MS = 15 * 60_000;

// The minimum delay for a server that reports "now" and refuses again.
const SHORTEST_WAIT_MS = 100;

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for a usage limit of the server to end, up to `waitMs` per request, and retries. Each delay is reported as a
 * retry with its length, so that a display can count down; an abort ends it.
 */
export function waitForUsageLimit(provider: ChatProvider, waitMs: number): ChatProvider {
  return wrapProvider(provider, async (request, ask) => {
    const until = Date.now() + waitMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(request);
      } catch (error) {
        if (!isUsageLimit(error) || request.signal.aborted) throw error;
        const backoffMs = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS);
        const wantedMs = Math.max(error.retryAfterMs || backoffMs, SHORTEST_WAIT_MS);
        const delayMs = Math.min(wantedMs, LONGEST_TIMER_MS);
        if (Date.now() + delayMs > until) throw error;
        const time = new Date(Date.now() + delayMs).toLocaleTimeString("en-GB", {
          hour: "2-digit",
          minute: "2-digit",
        });
        request.onRetry?.({ attempt, delayMs, reason: `${error.message} (waiting until ${time})` });
        await sleep(delayMs, undefined, { signal: request.signal });
      }
    }
  });
}

/** Whether a server refuses temporarily, as opposed to an account without credit. */
function isUsageLimit(error: unknown): error is AgentError {
  return (
    isAgentError(error, "provider_failed") &&
    error.retryable === true &&
    (error.status === TOO_MANY_REQUESTS || error.retryAfterMs !== undefined)
  );
}
