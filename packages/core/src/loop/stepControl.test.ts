import { expect, test } from "vitest";
import { z } from "zod";
import { call, collect, expectValidHistory, toolTexts } from "../../test/conversation.js";
import { fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import type { ChatProvider, ChatRequest } from "../providers/interface.js";
import { type ScriptedAnswer, scriptedProvider } from "../providers/replay.js";
import { agentTool, defineTool } from "../tools/defineTool.js";

const named = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  execute: () => "",
});

/** A scripted model that keeps its requests. */
function model(...answers: ScriptedAnswer[]) {
  const requests: ChatRequest[] = [];
  const script = scriptedProvider(answers);
  const provider: ChatProvider = {
    model: "scripted",
    respond: (request) => {
      requests.push(request);
      return script.respond(request);
    },
  };
  return { provider, requests };
}

test("forces a call with toolChoice for the first request of each message", async () => {
  const { provider, requests } = model(call("look"), "Done.", "Again.");
  const agent = new Agent(provider, { tools: [fakeTool("look")], toolChoice: { tool: "look" } });
  await agent.chat("Go.");
  await agent.chat("Again.");
  expect(requests.map(({ toolChoice }) => toolChoice)).toEqual([
    { tool: "look" },
    undefined,
    { tool: "look" },
  ]);
});

test("refuses a toolChoice of a tool that the model is not offered, before it is asked", async () => {
  const { provider, requests } = model("Never.");
  const options = { tools: [fakeTool("look")] };
  // @ts-expect-error the name of no tool
  const agent = new Agent(provider, { ...options, tools: [named], toolChoice: { tool: "loook" } });
  await expect(agent.chat("Go.")).rejects.toThrow(
    'toolChoice names "loook", which is not an enabled tool. Did you mean "look"? The tools are: save_session_context, look.',
  );
  const withheld = new Agent(provider, {
    ...options,
    toolChoice: { tool: "look" },
    beforeRequest: () => ({ tools: [] }),
  });
  await expect(withheld.chat("Go.")).rejects.toMatchObject({ code: "invalid_argument" });
  expect(requests).toEqual([]);
  expectValidHistory(agent);
});

test("changes one request with beforeRequest: its model, tools, messages and choice", async () => {
  const { provider, requests } = model(call("other"), "Done.");
  const second = model(call("look"));
  const seen: unknown[] = [];
  const agent = new Agent(provider, {
    tools: [fakeTool("look"), fakeTool("other")],
    disable: ["save_session_context"],
    beforeRequest: ({ turn, tools, messages }) => {
      seen.push([turn, tools, messages.length]);
      if (turn === 1) return { tools: ["look"], toolChoice: "required" };
      if (turn === 2)
        return { provider: second.provider, messages: [{ role: "user", content: "Only this." }] };
      return undefined;
    },
  });
  expect(await agent.chat("Go.")).toBe("Done.");
  const both = ["look", "other"];
  expect(seen).toEqual([
    [1, both, 1],
    [2, both, 3],
    [3, both, 5],
  ]);
  expect(requests[0]?.tools.map((tool) => tool.function.name)).toEqual(["look"]);
  expect(requests[0]?.toolChoice).toBe("required");
  expect(second.requests[0]?.messages).toEqual([{ role: "user", content: "Only this." }]);
  // The tool that was not offered is refused although it is on.
  expect(toolTexts(agent)).toEqual(["Tool not available: other", "look ran"]);
  expect(requests[1]?.messages).toHaveLength(5);
  expectValidHistory(agent);
});

test.each([
  ["a wrong change", () => ({ tool: ["look"] }), "beforeRequest has no option"],
  [
    "a failure",
    () => {
      throw new Error("no budget");
    },
    "no budget",
  ],
])("%s stops the message, and the conversation stays valid", async (_, beforeRequest, message) => {
  const agent = new Agent(model("Never.").provider, { beforeRequest: beforeRequest as never });
  const { error } = await collect(agent, "Go.");
  expect(String(error)).toContain(message);
  expectValidHistory(agent);
});

test("ends the message after a round with stopWhen, and the next one continues after the results", async () => {
  const { provider } = model(call("look"), call("look"), "Done.");
  const agent = new Agent(provider, {
    tools: [fakeTool("look")],
    stopWhen: ({ turn, calls }) => turn === 2 && calls.includes("look"),
  });
  expect(await agent.run("Go.")).toMatchObject({ text: "", turns: 2, finishReason: "tool_calls" });
  expectValidHistory(agent);
  expect(await agent.chat("And?")).toBe("Done.");
});

test("answers with an agent tool in the form it declares, with its own tools and model", async () => {
  const small = model('{"people":5}');
  const { provider, requests } = model(call("research", { task: "Oslo?" }), "Five.");
  const research = agentTool({
    name: "research",
    description: "Finds facts.",
    systemPrompt: "Be exact.",
    tools: ["look"],
    model: "small",
    output: z.object({ people: z.number() }),
  });
  const agent = new Agent(provider, {
    tools: [research, fakeTool("look"), fakeTool("other")],
    resolveModel: (name) => (name === "small" ? small.provider : undefined),
    toolChoice: "required",
  });
  const { events } = await collect(agent, "How many?");
  expect(toolTexts(agent)).toEqual(['{"people":5}']);
  expect(events).toContainEqual(expect.objectContaining({ type: "tool_end", value: { people: 5 } }));
  const [child] = small.requests;
  expect(child?.tools.map((tool) => tool.function.name)).toEqual(["look"]);
  expect(child?.messages.at(-1)).toEqual({ role: "user", content: "Oslo?" });
  expect(child?.toolChoice).toBeUndefined();
  expect(requests).toHaveLength(2);
});

test("fails with a message if an agent tool is called without an agent", async () => {
  const tool = agentTool({ name: "research", description: "Finds facts." });
  await expect(tool.execute({ task: "x" })).rejects.toThrow("only be called by an agent");
});
