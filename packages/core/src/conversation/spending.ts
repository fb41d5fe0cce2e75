/** What requests to models have taken: tokens of requests and answers, and dollars as far as prices are known. */
export interface Spending {
  readonly tokens: number;
  readonly cost: number;
}

export const NOTHING_SPENT: Spending = { tokens: 0, cost: 0 };
