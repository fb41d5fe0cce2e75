import type { AgentEvent, TokenUsage } from "@agent/core";
import { expect, test } from "vitest";
import { ChatUsage } from "./chatUsage.js";

const usage = { inputTokens: 1_000_000, outputTokens: 0, cost: 3 };
const used = (usage: TokenUsage): AgentEvent => ({ type: "usage", usage, total: usage });

test("counts the cost of child agents, but not again what a journal replays", () => {
  const meter = new ChatUsage();
  meter.see({ ...used(usage), replayed: true } as AgentEvent);
  expect(meter.cost).toBeUndefined();
  meter.see({ type: "child", event: used(usage) } as AgentEvent);
  expect(meter.cost).toBe(3);
  meter.see(used(usage));
  expect(meter.cost).toBe(6);
});

test("has no cost in the sum once an answer came without usage", () => {
  const total = { inputTokens: 2_000_000, outputTokens: 0 };
  const done = { type: "done", text: "", finishReason: "stop", turns: 2, usage: total } as const;
  for (const later of [{ type: "usage", usage, total } as const, done]) {
    const meter = new ChatUsage();
    meter.see(used(usage));
    meter.see(later);
    meter.see(used(usage));
    expect(meter.cost, later.type).toBeUndefined();
  }
});

test("counts the cost of a summary, and not its size as that of the conversation", () => {
  const meter = new ChatUsage();
  meter.see({ ...used(usage), summary: true } as AgentEvent);
  expect(meter).toMatchObject({ cost: 3, size: 0 });
});

test("has no cost in the sum once a request has no known cost", () => {
  const meter = new ChatUsage();
  meter.see(used(usage));
  meter.see(used({ inputTokens: 1, outputTokens: 1 }));
  meter.see(used(usage));
  expect(meter.cost).toBeUndefined();
});

test("reports the size of the conversation, not that of a child agent", () => {
  const meter = new ChatUsage();
  meter.see(used({ inputTokens: 900, outputTokens: 100 }));
  meter.see({ type: "child", event: used({ inputTokens: 20, outputTokens: 5 }) } as AgentEvent);
  expect(meter.size).toBe(1000);
  expect(meter.tokens).toEqual({ input: 920, cached: 0, output: 105 });
});

test("begins again with another session", () => {
  const meter = new ChatUsage();
  meter.see(used(usage));
  meter.reset();
  expect([meter.tokens.input, meter.cost, meter.size]).toEqual([0, undefined, 0]);
});
