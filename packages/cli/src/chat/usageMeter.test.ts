import type { AgentEvent, TokenUsage } from "@agent/core";
import { expect, test } from "vitest";
import { UsageMeter } from "./usageMeter.js";

const usage = { inputTokens: 1_000_000, outputTokens: 0, cost: 3 };
const used = (usage: TokenUsage): AgentEvent => ({ type: "usage", usage, total: usage });

test("child agents cost too; what a journal replays was paid before", () => {
  const meter = new UsageMeter();
  meter.see({ ...used(usage), replayed: true } as AgentEvent);
  expect(meter.cost).toBeUndefined();
  meter.see({ type: "child", event: used(usage) } as AgentEvent);
  expect(meter.cost).toBe(3);
  meter.see(used(usage));
  expect(meter.cost).toBe(6);
});

test("once a request has no known cost, the sum has none", () => {
  const meter = new UsageMeter();
  meter.see(used(usage));
  meter.see(used({ inputTokens: 1, outputTokens: 1 }));
  meter.see(used(usage));
  expect(meter.cost).toBeUndefined();
});
