import type { AgentEvent, TokenUsage } from "@agent/core";
import { expect, test } from "vitest";
import { UsageMeter } from "./usageMeter.js";

const PRICE = { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 };
const used = (usage: TokenUsage): AgentEvent => ({ type: "usage", usage, total: usage });

test.each<[string, TokenUsage, number]>([
  ["plain", { inputTokens: 1_000_000, outputTokens: 100_000 }, 4.5],
  ["cached", { inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 900_000 }, 0.57],
  [
    "written to the cache",
    { inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 500_000, cacheWriteTokens: 400_000 },
    1.95,
  ],
  // Reasoning is part of the output already.
  ["reasoning", { inputTokens: 0, outputTokens: 100_000, reasoningTokens: 90_000 }, 1.5],
])("each token costs what it is: %s", (_name, usage, dollars) => {
  const meter = new UsageMeter();
  meter.see(used(usage), PRICE);
  expect(meter.cost).toBeCloseTo(dollars, 10);
});

test("child agents cost too; what a journal replays was paid before", () => {
  const meter = new UsageMeter();
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  meter.see({ ...used(usage), replayed: true } as AgentEvent, PRICE);
  expect(meter.cost).toBe(0);
  meter.see({ type: "child", event: used(usage) } as AgentEvent, PRICE);
  expect(meter.cost).toBe(3);
});
