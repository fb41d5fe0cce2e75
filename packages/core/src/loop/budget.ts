import { NOTHING_SPENT, type Spending } from "../conversation/spending.js";
import { AgentError } from "../errors.js";
import type { ChatProvider, ChatRequest, ChatResponse, TokenUsage } from "../providers/interface.js";
import { orAborted } from "../toolkit/abort.js";
import { checkPositive } from "../toolkit/hostOptions/checks.js";
import { estimateTokens, textTokens } from "./estimate.js";
import { respond } from "./respond.js";
import type { Run } from "./run.js";
import { spend, spendingOf } from "./usage.js";

/** Limits for the sum of all model requests. */
export interface BudgetLimits {
  /** Dollars. Needs a known price for every model that is used. */
  readonly maxCost?: number;
  /** Tokens of all requests and answers, cached ones included. */
  readonly maxTokens?: number;
}

/** A request that would exceed a limit. It has not been sent. */
export interface BudgetReached {
  /** What the limit is for: the conversation of the agent, or this message. */
  readonly scope: "agent" | "message";
  /** The limits now, and as they were at first. */
  readonly limits: BudgetLimits;
  readonly initial: BudgetLimits;
  /** The spending so far, including requests in progress. */
  readonly spent: Spending;
  /** The minimum estimated usage of the request. */
  readonly next: Spending;
  /** One sentence for the user. */
  readonly message: string;
  readonly signal: AbortSignal;
}

/** Decides whether to continue beyond a limit: resolves to higher limits, or to `undefined` to stop. */
export type OnBudget = (
  reached: BudgetReached,
) => BudgetLimits | undefined | Promise<BudgetLimits | undefined>;

const SCOPES = { agent: "this conversation", message: "this message", child: "this agent" };

/** Limits and the spending that counts against them. */
export class Budget {
  readonly #scope: keyof typeof SCOPES;
  readonly #initial: BudgetLimits;
  readonly #onReached: OnBudget | undefined;
  readonly #total: (() => Spending) | undefined;
  #limits: BudgetLimits;
  #spent: Spending = NOTHING_SPENT;
  // The estimated usage of requests in progress: several child agents may send requests at the same time.
  #held: Spending = NOTHING_SPENT;
  #asking: { readonly answer: Promise<BudgetLimits | undefined>; readonly signal: AbortSignal } | undefined;

  /** `total` returns the spending, if something else tracks it. */
  constructor(
    scope: keyof typeof SCOPES,
    limits: BudgetLimits,
    onReached?: OnBudget,
    total?: () => Spending,
  ) {
    this.#scope = scope;
    this.#initial = limits;
    this.#limits = limits;
    this.#onReached = onReached;
    this.#total = total;
  }

  get hasCost(): boolean {
    return this.#limits.maxCost !== undefined;
  }

  /** Resolves once the request may be sent, to a function to call when the request is complete. */
  async hold(next: Spending, signal: AbortSignal): Promise<() => void> {
    while (!this.#fits(next)) {
      const before = this.#limits;
      const limit = this.#reachedLimit(next);
      const raised = await this.#ask(next, signal);
      // Several requests may have waited for the same decision.
      if (raised === "ask again" || (raised && this.#limits !== before)) continue;
      const now = { ...before, ...(raised && limitsOf(raised)) };
      if ((now[limit] ?? Infinity) <= (before[limit] ?? Infinity)) throw this.#exceeded(next);
      // If the new limit is still too low, ask about the next one.
      this.#limits = now;
    }
    this.#held = plus(this.#held, next);
    let isHeld = true;
    return () => {
      if (isHeld) this.#held = plus(this.#held, { tokens: -next.tokens, cost: -next.cost });
      isHeld = false;
    };
  }

  add(spending: Spending): void {
    this.#spent = plus(this.#spent, spending);
  }

  get #now(): Spending {
    return plus(this.#total?.() ?? this.#spent, this.#held);
  }

  #fits(next: Spending): boolean {
    const { tokens, cost } = plus(this.#now, next);
    const { maxTokens = Infinity, maxCost = Infinity } = this.#limits;
    return tokens <= maxTokens && cost <= maxCost;
  }

  async #ask(next: Spending, signal: AbortSignal): Promise<BudgetLimits | undefined | "ask again"> {
    const onReached = this.#onReached;
    const scope = this.#scope;
    if (!onReached || scope === "child") return undefined;
    if (!this.#asking) {
      const message = this.#describe(next);
      const [limits, initial, spent] = [this.#limits, this.#initial, this.#now];
      const answer = Promise.resolve(
        onReached({ scope, limits, initial, spent, next, message, signal }),
      ).finally(() => {
        this.#asking = undefined;
      });
      this.#asking = { answer, signal };
    }
    const asked = this.#asking;
    // The request that asked was stopped, but this one was not.
    const isWithdrawn = (): boolean => asked.signal.aborted && !signal.aborted;
    try {
      return (await orAborted(asked.answer, signal)) ?? (isWithdrawn() ? "ask again" : undefined);
    } catch (error) {
      if (isWithdrawn()) return "ask again";
      throw error;
    }
  }

  #exceeded(next: Spending): AgentError {
    const message = `${this.#describe(next)} Raise ${this.#reachedLimit(next)} to continue.`;
    return new AgentError("budget_exceeded", message);
  }

  #reachedLimit({ tokens }: Spending): keyof BudgetLimits {
    return this.#now.tokens + tokens > (this.#limits.maxTokens ?? Infinity) ? "maxTokens" : "maxCost";
  }

  #describe(next: Spending): string {
    const { maxTokens, maxCost = 0 } = this.#limits;
    const spent = this.#now;
    const [limit, used, needed] =
      this.#reachedLimit(next) === "maxTokens"
        ? [`${maxTokens} tokens`, `${spent.tokens} tokens`, `${next.tokens}`]
        : [dollars(maxCost), dollars(spent.cost), dollars(next.cost)];
    return `The limit of ${limit} for ${SCOPES[this.#scope]} is reached: ${used} spent, and the next request takes at least about ${needed} more.`;
  }
}

/** Sends the request if the budgets allow it, and counts its usage. */
export async function respondWithin(run: Run, request: ChatRequest): Promise<ChatResponse> {
  const { budgets, provider, signal } = run;
  if (budgets.length === 0) {
    const response = await respond(run, request);
    spend(run, response.usage);
    return response;
  }
  const input = inputOf(request);
  const next = spendingOf(input, provider);
  if (next.cost === undefined && budgets.some(({ hasCost }) => hasCost)) throw unknownPrice(provider);
  const releases: (() => void)[] = [];
  try {
    const needed = { tokens: next.tokens, cost: next.cost ?? 0 };
    for (const budget of budgets) releases.push(await budget.hold(needed, signal));
    const response = await respond(run, request);
    spend(run, response.usage ?? { ...input, outputTokens: outputOf(response) });
    return response;
  } catch (error) {
    // The server has read a request that was stopped half-way, so at least its input is billed.
    if (signal.aborted && releases.length === budgets.length) spend(run, input);
    throw error;
  } finally {
    for (const release of releases) release();
  }
}

/** Whether the usage of a model can be limited: a limit in dollars needs its price. */
export function isCountable(provider: ChatProvider, { budgets }: Pick<Run, "budgets">): boolean {
  const { cost } = spendingOf({ inputTokens: 1, outputTokens: 0 }, provider);
  return cost !== undefined || !budgets.some(({ hasCost }) => hasCost);
}

/**
 * The minimum usage of a request. Everything up to the newest answer was sent before, so a server with a cache has it.
 */
function inputOf({ messages, tools }: ChatRequest): TokenUsage {
  const known = messages.findLastIndex(({ role }) => role === "assistant");
  const toolTokens = textTokens(JSON.stringify(tools));
  const before = known === -1 ? 0 : estimateTokens(messages.slice(0, known)) + toolTokens;
  const after = estimateTokens(messages.slice(Math.max(0, known))) + (known === -1 ? toolTokens : 0);
  return {
    inputTokens: before + after,
    outputTokens: 0,
    ...(before > 0 && { cachedTokens: before }),
  };
}

function outputOf({ content, toolCalls }: ChatResponse): number {
  return estimateTokens([{ role: "assistant", content, tool_calls: toolCalls }]);
}

function unknownPrice({ model = "the model" }: ChatProvider): AgentError {
  return new AgentError(
    "invalid_argument",
    `maxCost needs the price of ${model}, which is not known. Set its price, or limit tokens with maxTokens.`,
  );
}

/** The limits in these options; `undefined` if there are none. */
export function limitsOf({ maxCost, maxTokens }: BudgetLimits): BudgetLimits | undefined {
  if (maxCost !== undefined) checkPositive("maxCost", maxCost);
  if (maxTokens !== undefined) checkPositive("maxTokens", maxTokens);
  if (maxCost === undefined && maxTokens === undefined) return undefined;
  return { ...(maxCost !== undefined && { maxCost }), ...(maxTokens !== undefined && { maxTokens }) };
}

function plus(a: Spending, b: Spending): Spending {
  return { tokens: a.tokens + b.tokens, cost: a.cost + b.cost };
}

function dollars(cost: number): string {
  // Two significant digits, also for numbers that toPrecision would write with an exponent.
  const decimals = cost > 0 && cost < 0.1 ? Math.min(20, 1 - Math.floor(Math.log10(cost))) : 2;
  return `$${cost.toFixed(decimals)}`;
}
