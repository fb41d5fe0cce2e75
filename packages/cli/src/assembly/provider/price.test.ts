import { describe, expect, test } from "vitest";
import { costOf } from "./price.js";

describe("costOf", () => {
  const price = { input: 2, output: 10, cachedInput: 0.5, cacheWrite: 2.5 };

  test("counts fresh, cached and cache-written input, and output, each at its price", () => {
    const usage = {
      inputTokens: 1_000_000,
      outputTokens: 100_000,
      cachedTokens: 600_000,
      cacheWriteTokens: 200_000,
    };
    expect(costOf(usage, price)).toBeCloseTo(0.4 + 0.3 + 0.5 + 1, 10);
  });

  test("without a price of its own cached input costs what any other does", () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 900_000 };
    expect(costOf(usage, { input: 2, output: 10 })).toBeCloseTo(2, 10);
  });

  test("reasoning is part of the output already", () => {
    const usage = { inputTokens: 0, outputTokens: 100_000, reasoningTokens: 90_000 };
    expect(costOf(usage, price)).toBeCloseTo(1, 10);
  });
});
