import type { TokenUsage } from "@agent/core";
import type { ModelPrice } from "../settings/config/types.js";

const MILLION = 1_000_000;

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

/** `$0.0123`, `$1.20`: at least two significant digits, also of small amounts. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return "$0";
  const digits = dollars >= 1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toFixed(digits)}`;
}
