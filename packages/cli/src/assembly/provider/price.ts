import type { ChatProvider, TokenUsage } from "@agent/core";
import type { ModelPrice } from "../../settings/config/types.js";
import { described } from "./described.js";

const MILLION = 1_000_000;

export type Prices = Readonly<Record<string, ModelPrice>>;

/** The provider with the cost of each request in its usage, where the config has a price for the model. */
export function withPrice(provider: ChatProvider, kind: string, model: string, prices: Prices): ChatProvider {
  const price = priceOf(kind, model, prices);
  if (!price) return provider;
  return {
    ...described(provider),
    respond: async (request) => {
      const { usage, ...response } = await provider.respond(request);
      return usage ? { ...response, usage: { ...usage, cost: costOf(usage, price) } } : response;
    },
  };
}

/** What a model costs: the price under its name, with or without its provider. */
function priceOf(kind: string, model: string, prices: Prices): ModelPrice | undefined {
  const name = [model, `${kind}/${model}`].find((one) => Object.hasOwn(prices, one));
  return name === undefined ? undefined : prices[name];
}

/** The cost of the tokens in dollars. Cached input has its own price; without one it costs as much as other input. */
export function costOf(usage: TokenUsage, price: ModelPrice): number {
  const cached = usage.cachedTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const fresh = Math.max(0, usage.inputTokens - cached - written);
  return (
    (fresh * price.input +
      cached * (price.cachedInput ?? price.input) +
      written * (price.cacheWrite ?? price.input) +
      usage.outputTokens * price.output) /
    MILLION
  );
}
