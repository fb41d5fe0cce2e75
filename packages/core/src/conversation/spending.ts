/** The usage of model requests: tokens of requests and answers, and dollars if prices are known. */
export interface Spending {
  readonly tokens: number;
  readonly cost: number;
}

export const NOTHING_SPENT: Spending = { tokens: 0, cost: 0 };
