import { Agent, type ChatProvider, defineTool } from "@agent/core";
import { expect, test } from "vitest";
import { follow, openEngine, workWith } from "../../test/helpers.js";
import { type RunDefinition, startRun } from "../index.js";

/** A run that calls a tool in each of its first answers, at 120 tokens an answer. */
function spending(
  answers: number,
  limits: { maxTokens: number },
): { definition: RunDefinition; calls: string[] } {
  const calls: string[] = [];
  const provider: ChatProvider = {
    model: "m",
    async respond({ messages }) {
      const turn = messages.filter(({ role }) => role === "assistant").length;
      const usage = { inputTokens: 100, outputTokens: 20 };
      if (turn >= answers) return { content: "done", toolCalls: [], finishReason: "stop", usage };
      const name = "note";
      const call = {
        id: `c${turn}`,
        type: "function",
        function: { name, arguments: `{"n":${turn}}` },
      } as const;
      return { content: null, toolCalls: [call], finishReason: "tool_calls", usage };
    },
  };
  const definition: RunDefinition = {
    name: "spending",
    version: "1",
    create(run) {
      const agent = new Agent(provider, { steps: run.steps, onBudget: run.onBudget, ...limits });
      agent.addTool(
        defineTool({
          name: "note",
          description: "Notes a number.",
          input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
          execute: ({ n }) => {
            calls.push(String(n));
            return "noted";
          },
        }),
      );
      return { agent, message: "go" };
    },
  };
  return { definition, calls };
}

test("waits for a decision at its limit, continues with as much again, and repeats nothing", async () => {
  const engine = openEngine();
  const { definition, calls } = spending(4, { maxTokens: 350 });
  await workWith(engine, definition, { concurrency: 1 });
  const id = await startRun(engine, definition, {});
  await follow(engine, id, "waiting");
  const waiting = await engine.get(id);
  expect(waiting).toMatchObject({
    state: "waiting",
    usage: { inputTokens: 200 },
    approvals: [
      {
        key: "budget/agent/1",
        name: "continue_beyond_budget",
        description: { title: expect.stringContaining("The limit of 350 tokens for this conversation") },
        args: { continueTo: { maxTokens: 700 } },
      },
    ],
  });
  expect(await engine.decide(id, "budget/agent/1", "allow")).toBe(true);
  await follow(engine, id);
  expect(await engine.get(id)).toMatchObject({ state: "done", result: { text: "done" } });
  expect(calls).toEqual(["0", "1", "2", "3"]);
});

test("waits for a further decision at each further limit", async () => {
  const engine = openEngine();
  const { definition, calls } = spending(8, { maxTokens: 350 });
  await workWith(engine, definition, { concurrency: 1 });
  const id = await startRun(engine, definition, {});
  for (const portion of [1, 2, 3]) {
    await follow(engine, id, "waiting");
    const key = `budget/agent/${portion}`;
    expect(await engine.get(id)).toMatchObject({
      state: "waiting",
      approvals: [{ key, args: { continueTo: { maxTokens: 350 * (portion + 1) } } }],
    });
    expect(await engine.decide(id, key, "allow")).toBe(true);
  }
  await follow(engine, id);
  expect(await engine.get(id)).toMatchObject({ state: "done", result: { text: "done" } });
  expect(calls).toHaveLength(8);
});

test("fails at its limit if the decision is no, and frees its worker while it waits", async () => {
  const engine = openEngine();
  const { definition } = spending(4, { maxTokens: 350 });
  await workWith(engine, definition, { concurrency: 1 });
  const id = await startRun(engine, definition, {});
  await follow(engine, id, "waiting");
  const other = await startRun(engine, definition, {});
  await follow(engine, other, "waiting");
  await engine.decide(id, "budget/agent/1", { deny: "too much" });
  await follow(engine, id);
  expect(await engine.get(id)).toMatchObject({ state: "failed", error: { code: "budget_exceeded" } });
});

test("lifts the limit for the rest of the run with always", async () => {
  const engine = openEngine();
  const { definition, calls } = spending(9, { maxTokens: 250 });
  await workWith(engine, definition);
  const id = await startRun(engine, definition, {});
  await follow(engine, id, "waiting");
  await engine.decide(id, "budget/agent/1", "always");
  await follow(engine, id);
  expect(await engine.get(id)).toMatchObject({ state: "done" });
  expect(calls).toHaveLength(9);
});
