import { describe, expect, test } from "vitest";
import { costOf, formatCost } from "./cost.js";

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
});

test.each([
  [0, "$0"],
  [0.000_012_3, "$0.000012"],
  [0.0123, "$0.012"],
  [0.5, "$0.50"],
  [1.234, "$1.23"],
  [120, "$120.00"],
])("%d dollars are shown as %s", (dollars, text) => {
  expect(formatCost(dollars)).toBe(text);
});
