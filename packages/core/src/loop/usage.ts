import type { TokenUsage } from "../providers/interface.js";

const NONE: TokenUsage = { inputTokens: 0, outputTokens: 0 };
const OPTIONAL = ["cachedTokens", "cacheWriteTokens", "reasoningTokens"] as const;

/** The sum of the token usage of all requests for one message, child agents included. */
export class UsageMeter {
  #total = NONE;
  readonly #parent: UsageMeter | undefined;

  constructor(parent?: UsageMeter) {
    this.#parent = parent;
  }

  get total(): TokenUsage {
    return this.#total;
  }

  add(usage: TokenUsage): void {
    this.#total = sum(this.#total, usage);
    this.#parent?.add(usage);
  }
}

function sum(a: TokenUsage, b: TokenUsage): TokenUsage {
  const total: { -readonly [Key in keyof TokenUsage]: TokenUsage[Key] } = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
  for (const key of OPTIONAL) {
    if (a[key] !== undefined || b[key] !== undefined) total[key] = (a[key] ?? 0) + (b[key] ?? 0);
  }
  // Not the known part of it: that would look like all of it.
  const cost =
    a === NONE ? b.cost : a.cost !== undefined && b.cost !== undefined ? a.cost + b.cost : undefined;
  if (cost !== undefined) total.cost = cost;
  return total;
}
