import type { ModelPrice } from "../../settings/config/types.js";
import type { ChosenProvider } from "./choose.js";

/** What the chosen model costs, where the config says so under its name, with or without its provider. */
export function priceOf(
  { kind, model }: Pick<ChosenProvider, "kind" | "model">,
  prices: Readonly<Record<string, ModelPrice>>,
): ModelPrice | undefined {
  const name = [model, `${kind}/${model}`].find((one) => Object.hasOwn(prices, one));
  return name === undefined ? undefined : prices[name];
}
