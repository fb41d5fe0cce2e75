import { describe, expect, test } from "vitest";
import { agentWith, collect } from "../../test/conversation.js";
import { Agent } from "../agent.js";
import { withCost } from "../loop/usage.js";
import { Notices } from "./adapt/notices.js";
import type { ChatProvider, ChatRequest, ChatResponse, ModelPrice } from "./interface.js";
import { fitEffort, modelFacts } from "./modelFacts.js";

const usage = {
  inputTokens: 400_000,
  outputTokens: 100_000,
  cachedTokens: 200_000,
  cacheWriteTokens: 100_000,
};
const response = (more = {}): ChatResponse => ({
  content: "Hi.",
  toolCalls: [],
  finishReason: "stop",
  usage: { ...usage, ...more },
});

describe("the facts about a model", () => {
  const table = { "acme-1": { contextTokens: 9 }, "acme-2": { price: { input: 1, output: 2 } } };

  test.each(["acme-1", "acme-1-20260101", "acme-1@20260101", "acme-1-2026-01-01", "acme-1-latest"])(
    "are found under %s",
    (model) => {
      expect(modelFacts(table, model)).toEqual({ contextTokens: 9 });
    },
  );

  test.each(["acme-1-mini", "acme-10", "acme", "ACME-1", "__proto__", "acme-1-2026"])(
    "are not assumed for %s, which may be another model",
    (model) => {
      expect(modelFacts(table, model)).toBeUndefined();
    },
  );

  test("mark a list price as an estimate", () => {
    expect(modelFacts(table, "acme-2")).toEqual({ price: { input: 1, output: 2, isEstimate: true } });
  });
});

describe("the cost of a response", () => {
  const price: ModelPrice = { input: 2, output: 10, cachedInput: 0.5, cacheWrite: 2.5 };

  test("counts fresh, cached and cache-written input, and output, each at its price", () => {
    expect(withCost(response(), price).usage).toEqual({ ...usage, cost: 0.2 + 0.1 + 0.25 + 1 });
  });

  test("counts cached input as other input if it has no price", () => {
    const { cost } = withCost(response(), { input: 2, output: 10 }).usage ?? {};
    expect(cost).toBeCloseTo(0.8 + 1, 10);
  });

  test("uses the price of long requests beyond their limit only", () => {
    const tiered = { input: 1, output: 0, long: { over: 400_000, input: 3, output: 0 } };
    const plain = { cachedTokens: 0, cacheWriteTokens: 0 };
    expect(withCost(response(plain), tiered).usage?.cost).toBeCloseTo(0.4, 10);
    expect(withCost(response({ ...plain, inputTokens: 400_001 }), tiered).usage?.cost).toBeCloseTo(1.2, 4);
  });

  test("is left as the provider reported it", () => {
    const reported = response({ cost: 7 });
    expect(withCost(reported, { ...price, isEstimate: true })).toBe(reported);
  });

  test("is an estimate for a message if that of one request is", async () => {
    const provider = (isEstimate: boolean): ChatProvider => ({
      price: { input: 1, output: 1, ...(isEstimate && { isEstimate: true }) },
      respond: async () =>
        response({ inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 }),
    });
    const asked = async (isEstimate: boolean) => (await new Agent(provider(isEstimate)).run("Hello")).usage;
    expect(await asked(true)).toMatchObject({ cost: 1, costIsEstimate: true });
    expect(await asked(false)).toMatchObject({ cost: 1 });
    expect(await asked(false)).not.toHaveProperty("costIsEstimate");
  });
});

describe("a reasoning effort", () => {
  const fit = (effort: ChatRequest["effort"], efforts: Parameters<typeof fitEffort>[2]) => {
    const said: string[] = [];
    const request = { ...(effort && { effort }), onNotice: (text: string) => void said.push(text) };
    return [fitEffort(request, "acme-1", efforts, new Notices()), ...said];
  };

  test("is sent as it is if the model supports it, or if that is not known", () => {
    expect(fit("high", ["low", "high"])).toEqual(["high"]);
    expect(fit("xhigh", undefined)).toEqual(["xhigh"]);
    expect(fit(undefined, ["low"])).toEqual([undefined]);
  });

  test("becomes the nearest one that the model supports, with a notice", () => {
    expect(fit("max", ["low", "high"])).toEqual([
      "high",
      "acme-1 does not support the reasoning effort max; it works with high.",
    ]);
    expect(fit("off", ["minimal", "low"])[0]).toBe("minimal");
    expect(fit("high", [])).toEqual([
      undefined,
      "acme-1 has no reasoning effort to set; it answers without.",
    ]);
  });

  test("is sent with every request of an agent, and a child agent may have another", async () => {
    const efforts: unknown[] = [];
    const note = (words: string) => (request: ChatRequest) => {
      efforts.push(request.effort);
      return words;
    };
    const agent = agentWith([note("a"), note("b"), note("c")], [], { effort: "low" });
    await collect(agent, "1");
    agent.setEffort("high");
    await collect(agent, "2");
    agent.setEffort(undefined);
    await collect(agent, "3");
    expect(efforts).toEqual(["low", "high", undefined]);
    expect(() => agent.setEffort("huge" as "high")).toThrow("effort must be one of off, minimal");
  });
});
