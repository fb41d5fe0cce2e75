import { expect, test } from "vitest";
import { agentWith, expectValidHistory, send, toolTexts } from "../../test/conversation.js";
import { fakeTool } from "../../test/fixtures.js";

test("runs of 100,000 calls in one answer as many as one answer may contain, and informs the model of the rest", async () => {
  let ran = 0;
  const count = fakeTool("count", () => `${++ran}`);
  const calls = Array.from({ length: 100_000 }, () => ({ name: "count" }));
  const agent = agentWith([{ calls }, "done"], [count]);
  expect(await send(agent, "go", "chat")).toBe("done");
  expect(ran).toBe(128);
  expect(toolTexts(agent)).toHaveLength(128);
  expect(toolTexts(agent).at(-1)).toContain("99872 more tool calls than the 128 that one answer may hold");
  expectValidHistory(agent);
});

test("runs only a few of many reading calls at the same time", async () => {
  let [running, most] = [0, 0];
  const slow = fakeTool(
    "slow",
    async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return "x";
    },
    { capabilities: ["read"] },
  );
  const calls = Array.from({ length: 100 }, () => ({ name: "slow" }));
  await send(agentWith([{ calls }, "done"], [slow]), "go", "chat");
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(16);
});
