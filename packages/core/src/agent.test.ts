import { describe, expect, test, vi } from "vitest";
import { agentWith, call, toolTexts } from "../test/conversation.js";
import { fakeTool } from "../test/fixtures.js";
import { Agent } from "./agent.js";
import type { AgentOptions } from "./agentOptions.js";
import type { ChatMessage, ChatProvider } from "./providers/interface.js";
import { scriptedProvider } from "./providers/replay.js";
import type { PackRegistry } from "./tools/pack.js";

test("shares nothing between two agents with the same packs and provider", async () => {
  const approved: string[] = [];
  const pack = {
    packName: "notes",
    register: (registry: PackRegistry) => {
      registry.register(fakeTool("note", () => "noted"));
      registry.register(fakeTool("erase"), { enabled: false });
    },
  };
  const make = (name: string, options: AgentOptions = {}): Agent =>
    new Agent(scriptedProvider([call("note"), `I am ${name}.`]), {
      tools: [pack],
      approve: () => {
        approved.push(name);
        return "always";
      },
      ...options,
    });
  const [ann, bob] = [make("Ann", { enable: ["erase"] }), make("Bob")];
  ann.setSystemPrompt("You are Ann.");
  ann.disableTool("save_session_context");
  expect(await Promise.all([ann.chat("Hi, Ann."), bob.chat("Hi, Bob.")])).toEqual(["I am Ann.", "I am Bob."]);
  expect(approved.sort()).toEqual(["Ann", "Bob"]);
  expect(bob.context.systemPrompt).toBe("");
  expect(bob.getTools().map((schema) => schema.function.name)).toEqual(["save_session_context", "note"]);
  expect(JSON.stringify(bob.context.sessionContext)).not.toContain("Ann");
  ann.clearContext();
  await ann.dispose();
  expect(bob.context.sessionContext).toHaveLength(4);
  expect(bob.getTools()).toHaveLength(2);
});

describe("tool management", () => {
  test("Scenario: Get tools returns enabled schemas: only those enabled now", () => {
    const agent = agentWith([], [fakeTool("a"), fakeTool("b")]);
    agent.disableTool("b");
    expect(agent.getTools().map((schema) => schema.function.name)).toEqual(["save_session_context", "a"]);
  });

  test("Scenario: Add custom tool at runtime: it is registered and the model can use it", async () => {
    const agent = agentWith([call("custom"), "done"]);
    agent.addTool(fakeTool("custom", () => "custom result"));
    await agent.chat("go");
    expect(toolTexts(agent)).toEqual(["custom result"]);
  });

  test("Scenario: Remove tool at runtime: it is no longer available", async () => {
    const agent = agentWith([call("a"), "done"], [fakeTool("a")]);
    agent.removeTool("a");
    await agent.chat("go");
    expect(toolTexts(agent)).toEqual([expect.stringMatching(/^Tool not found: a\. /)]);
  });

  test("Scenario: Enable tool at runtime; Scenario: Disable tool at runtime: requests to the model follow", async () => {
    const offered: string[][] = [];
    const spy = (request: { tools: readonly { function: { name: string } }[] }) => {
      offered.push(request.tools.map((tool) => tool.function.name));
      return "ok";
    };
    const agent = agentWith([spy, spy, spy], [fakeTool("a")]);
    await agent.chat("1");
    expect(agent.disableTool("a")).toBe(true);
    await agent.chat("2");
    expect(agent.enableTool("a")).toBe(true);
    await agent.chat("3");
    expect(offered).toEqual([
      ["save_session_context", "a"],
      ["save_session_context"],
      ["save_session_context", "a"],
    ]);
  });

  test("Scenario: Query available toolcalls: the model receives name, description and parameters of each", async () => {
    let tools: unknown;
    const agent = agentWith(
      [
        (request) => {
          tools = request.tools[1];
          return "ok";
        },
      ],
      [fakeTool("a")],
    );
    await agent.chat("hi");
    expect(tools).toEqual({
      type: "function",
      function: { name: "a", description: "Fake a", parameters: { type: "object", properties: {} } },
    });
  });
});

describe("context", () => {
  test("Scenario: Context reflects live state: getters follow clearContext and setSystemPrompt", async () => {
    const agent = agentWith(["hello"], [], { systemPrompt: "one" });
    const { context } = agent;
    await agent.chat("hi");
    expect(context.sessionContext).toHaveLength(2);
    agent.clearContext();
    agent.setSystemPrompt("two");
    expect(context.sessionContext).toEqual([]);
    expect(context.systemPrompt).toBe("two");
  });

  test("Scenario: Save context uses registry; Scenario: Save context is async", async () => {
    const agent = agentWith([]);
    agent.removeTool("save_session_context");
    const saved = vi.fn(async ({ reason }: Record<string, unknown>) => `saved: ${reason}`);
    agent.addTool(fakeTool("save_session_context", saved));
    const result = agent.saveContext("because");
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toBe("saved: because");
  });

  test("puts the system prompt first in every request and not into the history", async () => {
    const seen: ChatMessage[][] = [];
    const agent = agentWith(
      [
        (request) => {
          seen.push([...request.messages]);
          return "ok";
        },
      ],
      [],
      { systemPrompt: "Be brief." },
    );
    await agent.chat("hi");
    expect(seen[0]?.[0]).toEqual({ role: "system", content: "Be brief." });
    expect(agent.context.sessionContext[0]).toEqual({ role: "user", content: "hi" });
  });
});

describe("constructor", () => {
  test.each([
    [undefined, {}, /^provider must be a ChatProvider with respond\(\), got nothing\.$/],
    [{}, {}, /^provider must be a ChatProvider/],
    [scriptedProvider([]), { maxTurns: 0 }, "maxTurns must be a number greater than 0, got number 0."],
    [
      scriptedProvider([]),
      { maxRepeats: "3" },
      'maxRepeats must be a number greater than 0, got string "3".',
    ],
    [
      scriptedProvider([]),
      { contextTokens: -1 },
      "contextTokens must be a number greater than 0, got number -1.",
    ],
    [scriptedProvider([]), { systemPrompt: 5 }, "systemPrompt must be a string, got number 5."],
    [scriptedProvider([]), { conversation: 5 }, "conversation must be a Conversation, got number 5."],
    [scriptedProvider([]), { approve: "yes" }, 'approve must be a function, got string "yes".'],
    [scriptedProvider([]), { tools: {} }, "tools must be an array of packs and tools, got object."],
    [
      scriptedProvider([]),
      { enable: "run_bash" },
      'enable must be an array of tool names, got string "run_bash".',
    ],
    [scriptedProvider([]), { enable: ["nope"] }, /^enable\[0\] is "nope", which no pack declares\./],
  ])("names wrong arguments %#", (provider, options, message) => {
    expect(() => new Agent(provider as ChatProvider, options as AgentOptions)).toThrow(message);
  });
});
