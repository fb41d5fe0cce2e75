import { describe, expect, test } from "vitest";
import { agentWith, collect } from "../../test/conversation.js";
import { fakeTool } from "../../test/fixtures.js";
import type { AgentEvent } from "../events.js";
import type { ChatResponse, TokenUsage } from "../providers/interface.js";
import type { ScriptedAnswer } from "../providers/replay.js";
import { withCost } from "./usage.js";

const PAID: TokenUsage = { inputTokens: 10, outputTokens: 2, cost: 0.5 };
const CALLING: ChatResponse = {
  content: null,
  toolCalls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
  finishReason: "tool_calls",
};
const DONE: ChatResponse = { content: "Done.", toolCalls: [], finishReason: "stop" };

async function usageOf(...answers: ScriptedAnswer[]): Promise<TokenUsage> {
  const agent = agentWith(answers, [fakeTool("look")]);
  return (await agent.run("Look.")).usage;
}

describe("the cost of a message", () => {
  test("is the sum of its requests", async () => {
    const usage = await usageOf({ ...CALLING, usage: PAID }, { ...DONE, usage: PAID });
    expect(usage).toEqual({ inputTokens: 20, outputTokens: 4, cost: 1 });
  });

  test.each([
    ["the first", CALLING, { ...DONE, usage: PAID }],
    ["the last", { ...CALLING, usage: PAID }, DONE],
  ])(
    "is left out if %s answer came without usage: a part of it would look like all of it",
    async (_, a, b) => {
      expect(await usageOf(a, b)).toEqual({ inputTokens: 10, outputTokens: 2 });
    },
  );

  test("is left out if one answer came without a cost", async () => {
    const free = { inputTokens: 1, outputTokens: 1 };
    expect(await usageOf({ ...CALLING, usage: free }, { ...DONE, usage: PAID })).toEqual({
      inputTokens: 11,
      outputTokens: 3,
    });
  });
});

describe("a summary", () => {
  const long = (text: string): ChatResponse => ({ ...DONE, content: text.repeat(4000), usage: PAID });
  const isUsage = (event: AgentEvent) => event.type === "usage";

  /** The events of the message during which the conversation is summarised with this answer. */
  async function whileSummarised(summary: ScriptedAnswer) {
    const agent = agentWith([long("a"), long("b"), long("c"), summary, { ...DONE, usage: PAID }], [], {
      contextTokens: 3200,
    });
    for (const message of ["1", "2", "3"]) await agent.chat(message);
    return (await collect(agent, "4")).events;
  }

  test("is reported and part of the sum", async () => {
    const events = await whileSummarised({ ...DONE, usage: PAID });
    expect(events.filter(isUsage)).toEqual([
      { type: "usage", usage: PAID, total: PAID, contextTokens: 3200, summary: true },
      {
        type: "usage",
        usage: PAID,
        total: { inputTokens: 20, outputTokens: 4, cost: 1 },
        contextTokens: 3200,
      },
    ]);
    expect(events.at(-1)).toMatchObject({ usage: { cost: 1 } });
  });

  test("leaves the cost of the message unknown if it has no usage", async () => {
    const events = await whileSummarised(DONE);
    expect(events.filter(isUsage)).toEqual([
      { type: "usage", usage: PAID, total: { inputTokens: 10, outputTokens: 2 }, contextTokens: 3200 },
    ]);
  });
});

test("leaves the cost of the parent unknown for a child agent without usage", async () => {
  const agent = agentWith(
    [{ ...CALLING, usage: PAID }, DONE, { ...DONE, usage: PAID }],
    [
      fakeTool(
        "look",
        async (_args, running) => (await running?.startAgent?.({ message: "Look." }))?.text ?? "",
      ),
    ],
  );
  expect((await agent.run("Look.")).usage).toEqual({ inputTokens: 20, outputTokens: 4 });
});

test.each<[string, TokenUsage, number]>([
  ["without a cache", { inputTokens: 1000, outputTokens: 50 }, 1500],
  ["that were cached", { inputTokens: 1000, outputTokens: 50, cachedTokens: 400 }, 600 + 40 + 500],
  ["written to a cache", { inputTokens: 1000, outputTokens: 50, cacheWriteTokens: 100 }, 900 + 125 + 500],
  [
    "of both",
    { inputTokens: 1000, outputTokens: 50, cachedTokens: 400, cacheWriteTokens: 100 },
    500 + 40 + 125 + 500,
  ],
  ["beyond the limit of the price", { inputTokens: 2001, outputTokens: 50 }, 4002 + 1000],
])("computes the price of tokens %s", (_, usage, dollarsPerMillion) => {
  const price = {
    input: 1,
    output: 10,
    cachedInput: 0.1,
    cacheWrite: 1.25,
    long: { over: 2000, input: 2, output: 20 },
  };
  expect(withCost({ ...DONE, usage }, price).usage?.cost).toBeCloseTo(dollarsPerMillion / 1_000_000, 12);
});
