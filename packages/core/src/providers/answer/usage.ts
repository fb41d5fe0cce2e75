import { checkObject } from "../../toolkit/hostOptions/checks.js";
import type { TokenUsage } from "../interface.js";

/** The token counts as a server sent them: each may be missing or not a number. */
export type ReportedUsage = { readonly [Name in keyof TokenUsage]: unknown };

/** Token counts from what a server reported. An invalid count becomes 0; an optional figure is left out. */
export function readTokenUsage(reported: ReportedUsage): TokenUsage {
  checkObject("reported", reported);
  return {
    inputTokens: tokens(reported.inputTokens) ?? 0,
    outputTokens: tokens(reported.outputTokens) ?? 0,
    ...optional("cachedTokens", reported.cachedTokens),
    ...optional("cacheWriteTokens", reported.cacheWriteTokens),
    ...optional("reasoningTokens", reported.reasoningTokens),
    ...optional("cost", reported.cost),
  };
}

/** The sum of counts that may be missing, for a server that reports parts of its input separately. */
export function sumTokens(...counts: readonly unknown[]): number {
  return counts.reduce<number>((sum, count) => sum + (tokens(count) ?? 0), 0);
}

function optional(name: keyof TokenUsage, count: unknown): Partial<TokenUsage> {
  const known = tokens(count);
  return known === undefined ? {} : { [name]: known };
}

function tokens(count: unknown): number | undefined {
  return typeof count === "number" && Number.isFinite(count) && count >= 0 ? count : undefined;
}
