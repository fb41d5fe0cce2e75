import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type ChatProvider,
  type ModelFacts,
  type ModelInfo,
  type TokenPrice,
  wrapProvider,
} from "@agent/core";
import { isRecord, writeFileAtomic } from "@agent/core/toolkit";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { stateDirectory } from "../../process/paths.js";
import { checkFileSafety } from "../../settings/config/fileSafety.js";

const PRIVATE_FILE = 0o600;

type FactsByModel = Readonly<Record<string, ModelFacts>>;

/** The server that reported facts. */
interface FactsSource {
  readonly kind: string;
  readonly address?: string;
}

/** The provider with facts about its model that are more reliable than its own. */
export function withFacts(
  provider: ChatProvider,
  { contextTokens, price, efforts }: ModelFacts,
): ChatProvider {
  if (contextTokens === undefined && price === undefined && efforts === undefined) return provider;
  return wrapProvider(provider, (request, ask) => ask(request), {
    ...(contextTokens !== undefined && { contextTokens }),
    ...(price !== undefined && { price }),
    ...(efforts !== undefined && { efforts }),
  });
}

/** The configured price of a model: by its name, with or without its provider. */
export function configuredPrice(
  kind: string,
  model: string,
  prices: Readonly<Record<string, TokenPrice>>,
): TokenPrice | undefined {
  const name = [model, `${kind}/${model}`].find((one) => Object.hasOwn(prices, one));
  return name === undefined ? undefined : prices[name];
}

/** The facts that a server reported at the last `agent models --refresh`, by model. */
export function savedFacts(source: FactsSource): (model: string) => ModelFacts {
  if (source.address === undefined) return () => ({});
  const saved = readStore()[keyOf(source)] ?? {};
  return (model) => (Object.hasOwn(saved, model) ? (saved[model] ?? {}) : {});
}

/** Stores the facts that a server reported, replacing its earlier ones. Returns the number of models with facts. */
export async function saveFacts(source: FactsSource, models: readonly ModelInfo[]): Promise<number> {
  const known = models.filter(
    ({ contextTokens, price, efforts }) => contextTokens !== undefined || price || efforts,
  );
  const facts = Object.fromEntries(known.map(({ id, name: _, ...rest }) => [id, rest]));
  const servers = { ...readStore(), [keyOf(source)]: facts };
  ensurePrivateDirectory(dirname(storePath()));
  await writeFileAtomic(storePath(), `${JSON.stringify({ version: 1, servers })}\n`, { mode: PRIVATE_FILE });
  return known.length;
}

function readStore(): Readonly<Record<string, FactsByModel>> {
  try {
    checkFileSafety(storePath());
    const store: unknown = JSON.parse(readFileSync(storePath(), "utf8"));
    return isRecord(store) && isRecord(store.servers) ? (store.servers as Record<string, FactsByModel>) : {};
  } catch {
    // Without a readable store, the facts of the provider packages are used.
    return {};
  }
}

function keyOf({ kind, address = "" }: FactsSource): string {
  return `${kind} ${address}`;
}

function storePath(): string {
  return join(stateDirectory(), "models.json");
}
