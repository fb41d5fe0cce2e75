import type { ChatProvider, ChatResponse, ModelPrice, TokenUsage } from "../providers/interface.js";
import { checkObject } from "../toolkit/hostOptions/checks.js";
import type { Run } from "./run.js";

const MILLION = 1_000_000;
const OPTIONAL = ["cachedTokens", "cacheWriteTokens", "reasoningTokens"] as const;

/** The sum of the token usage of all requests for one message, child agents included. */
export class UsageMeter {
  #total: TokenUsage = { inputTokens: 0, outputTokens: 0 };
  // `undefined` once the cost of one request is unknown: the sum of the others would look like the total.
  #cost: number | undefined = 0;
  #isEstimate = false;
  readonly #parent: UsageMeter | undefined;

  constructor(parent?: UsageMeter) {
    this.#parent = parent;
  }

  get total(): TokenUsage {
    return this.#total;
  }

  /** Adds the usage of one request; `undefined` if the answer did not report it. */
  add(usage: TokenUsage | undefined): void {
    const cost = this.#cost === undefined || usage?.cost === undefined ? undefined : this.#cost + usage.cost;
    this.#cost = cost;
    this.#isEstimate ||= usage?.costIsEstimate === true;
    this.#total = {
      ...sumTokens(this.#total, usage),
      ...(cost !== undefined && { cost, ...(this.#isEstimate && { costIsEstimate: true }) }),
    };
    this.#parent?.add(usage);
  }
}

/** Counts the usage of one request and reports it, if the answer included it. */
export function countUsage(
  run: Run,
  usage: TokenUsage | undefined,
  marks: { readonly replayed?: boolean; readonly summary?: boolean },
): void {
  const { meter, emit, limits } = run;
  meter.add(usage);
  if (!usage) return;
  // The usage of an earlier process counts too. The usage of this one was counted with the answer.
  if (marks.replayed) spend(run, usage);
  emit({
    type: "usage",
    usage,
    total: meter.total,
    ...(limits.contextTokens !== undefined && { contextTokens: limits.contextTokens }),
    ...(marks.summary && { summary: true }),
    ...(marks.replayed && { replayed: true }),
  });
}

function sumTokens(a: TokenUsage, b: TokenUsage | undefined): TokenUsage {
  const total: { -readonly [Key in keyof TokenUsage]: TokenUsage[Key] } = {
    inputTokens: a.inputTokens + (b?.inputTokens ?? 0),
    outputTokens: a.outputTokens + (b?.outputTokens ?? 0),
  };
  for (const key of OPTIONAL) {
    if (a[key] !== undefined || b?.[key] !== undefined) total[key] = (a[key] ?? 0) + (b?.[key] ?? 0);
  }
  return total;
}

/** The response with the cost of its tokens, if the provider did not report one and the price is known. */
export function withCost(response: ChatResponse, price: ModelPrice | undefined): ChatResponse {
  checkObject("response", response);
  const { usage } = response;
  if (!price || !usage || usage.cost !== undefined) return response;
  const estimate = price.isEstimate && { costIsEstimate: true as const };
  return { ...response, usage: { ...usage, cost: costOf(usage, price), ...estimate } };
}

/** Counts the usage of one request in the session and against all budgets. */
export function spend({ session, budgets, provider }: Run, usage: TokenUsage | undefined): void {
  if (!usage) return;
  const { tokens, cost = 0 } = spendingOf(usage, provider);
  session.addSpending({ tokens, cost });
  for (const budget of budgets) budget.add({ tokens, cost });
}

/** The tokens of a usage, and its cost if it is known. */
export function spendingOf(
  usage: TokenUsage,
  { price }: ChatProvider,
): { readonly tokens: number; readonly cost?: number } {
  const cost = usage.cost ?? (price && costOf(usage, price));
  return { tokens: usage.inputTokens + usage.outputTokens, ...(cost !== undefined && { cost }) };
}

function costOf(usage: TokenUsage, price: ModelPrice): number {
  const { inputTokens, outputTokens, cachedTokens: cached = 0, cacheWriteTokens: written = 0 } = usage;
  const { long } = price;
  const {
    input,
    output,
    cachedInput = input,
    cacheWrite = input,
  } = long && inputTokens > long.over ? long : price;
  const fresh = Math.max(0, inputTokens - cached - written);
  return (fresh * input + cached * cachedInput + written * cacheWrite + outputTokens * output) / MILLION;
}
