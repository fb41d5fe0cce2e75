import { expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { agentWith, call, toolTexts } from "../test/conversation.js";
import { fakeTool, temporaryDirectory } from "../test/fixtures.js";
import { Agent } from "./agent.js";
import type { AgentOptions } from "./agentOptions.js";
import type { RunResult } from "./chatOptions.js";
import { Conversation } from "./conversation/conversation.js";
import type { Approve } from "./loop/approval.js";
import { scriptedProvider } from "./providers/replay.js";
import { defineTool } from "./tools/defineTool.js";
import { contextType } from "./tools/tool.js";

const usage = { inputTokens: 10, outputTokens: 2 };

test("resolves run to the text and what it used", async () => {
  const agent = agentWith(
    [call("look"), { content: "Blue.", toolCalls: [], finishReason: "length", usage }],
    [fakeTool("look")],
  );
  const result = await agent.run("Look.");
  expectTypeOf(result).toEqualTypeOf<RunResult>();
  expect(result).toEqual({ text: "Blue.", output: undefined, finishReason: "length", turns: 2, usage });
});

test("resolves run to the value of the form", async () => {
  const agent = agentWith(['{"deep":true}']);
  const result = await agent.run("?", { output: z.object({ deep: z.boolean() }) });
  expectTypeOf(result.output).toEqualTypeOf<{ deep: boolean }>();
  expect(result).toMatchObject({ text: '{"deep":true}', output: { deep: true }, turns: 1 });
});

test("refuses an output schema with a type that JSON Schema does not have, without compiling it", async () => {
  const agent = agentWith([]);
  const numbr = { type: "object", properties: { n: { type: "numbr" } } } as const;
  // @ts-expect-error There is no type "numbr".
  await expect(agent.run("?", { output: numbr })).rejects.toThrow('"numbr"');
  // @ts-expect-error There is no type "numbr".
  await expect(agent.startAgent({ message: "?", output: numbr }).done).rejects.toThrow('"numbr"');
  expect(agent.conversation.sessionContext).toEqual([]);
});

test("passes the context to the tool, the hooks and approve, with every call", async () => {
  const context = { user: "ann" };
  const approve = vi.fn(() => "allow" as const);
  const beforeCall = vi.fn(() => undefined);
  const look = vi.fn((_args: unknown, running?: { context?: unknown }) => JSON.stringify(running?.context));
  const agent = agentWith([call("look"), "Done."], [fakeTool("look", look)], {
    approve,
    hooks: [{ name: "audit", beforeCall }],
  });
  await agent.chat("Look.", { context });
  expect(await look.mock.results[0]?.value).toBe('{"user":"ann"}');
  expect(approve).toHaveBeenCalledWith(expect.objectContaining({ context }));
  expect(beforeCall).toHaveBeenCalledWith(expect.objectContaining({ context }));
});

test("rejects saveContext when asked, and saves also without the tool", async () => {
  const directory = temporaryDirectory();
  const conversation = new Conversation({ sessionContextFilePath: directory });
  const agent = agentWith(["Hi."], [], { conversation });
  expect(await agent.saveContext("now")).toMatch(/^Error executing save_session_context: /);
  await expect(agent.saveContext("now", { reject: true })).rejects.toThrow("not a regular file");
  const other = agentWith(["Hi."], [], {
    conversation: new Conversation({ sessionContextFilePath: `${directory}/session.jsonl` }),
    disable: ["save_session_context"],
  });
  expect(await other.saveContext("now")).toBe("Tool not available: save_session_context");
  expect(await other.saveContext("now", { reject: true })).toContain("Saved 0 messages to");
});

test("fails immediately for a session under a path that cannot be made", async () => {
  const directory = temporaryDirectory();
  for (const path of [
    `${directory}/a\0b/s.jsonl`,
    `/proc/nowhere/s.jsonl`,
    `/dev/null/s.jsonl`,
    `${"x/".repeat(3000)}s`,
  ]) {
    const agent = agentWith([], [], { conversation: new Conversation({ sessionContextFilePath: path }) });
    await expect(agent.saveContext("now", { reject: true }), path.slice(0, 40)).rejects.toThrow();
  }
});

test("runs only the named tools, also among those that come later or are turned on", async () => {
  const calls = (name: string) => ({ calls: [{ name }] });
  const agent = new Agent(scriptedProvider([calls("look"), calls("late"), calls("other"), "Done."]), {
    tools: [fakeTool("look"), fakeTool("other")],
    only: ["look"],
  });
  agent.addTool(fakeTool("late"));
  expect(agent.enableTool("late")).toBe(true);
  expect(agent.getTools().map((tool) => tool.function.name)).toEqual(["look"]);
  await agent.chat("Go.");
  const refused = (name: string) => `Tool not available: ${name} (this agent has other tools only)`;
  expect(toolTexts(agent)).toEqual(["look ran", refused("late"), refused("other")]);
});

test("runs only reading tools of a read-only agent, also among those that come later or are turned on", async () => {
  const reader = { ...fakeTool("reader"), capabilities: ["read"] as const };
  const writer = { ...fakeTool("writer"), capabilities: ["read", "write"] as const };
  const agent = new Agent(
    scriptedProvider([{ calls: ["reader", "writer", "unlabelled"].map((name) => ({ name })) }, "Done."]),
    { tools: [reader], readOnly: true },
  );
  agent.addTool(writer);
  agent.addTool(fakeTool("unlabelled"));
  agent.enableTool("writer");
  expect(agent.registry.describeTools().find(({ name }) => name === "writer")?.withheld).toContain(
    "read-only",
  );
  await agent.chat("Go.");
  expect(toolTexts(agent)).toEqual([
    "reader ran",
    "Tool not available: writer (this agent is read-only, and the tool can write)",
    "Tool not available: unlabelled (this agent is read-only, and the tool does not say what it does)",
  ]);
});

test("reports with a hint a name in only that no pack declares", () => {
  expect(() => new Agent(scriptedProvider([]), { tools: [fakeTool("look")], only: ["loook"] })).toThrow(
    'only[0] is "loook", which no pack declares. Did you mean "look"?',
  );
});

test("checks the context that an agent declares, and a message without one does not compile", async () => {
  const context = z.object({ user: z.string() });
  const whoami = defineTool({
    name: "whoami",
    description: "Says who asks.",
    context,
    input: { type: "object" },
    execute: (_input, call) => {
      expectTypeOf(call.context).toEqualTypeOf<{ user: string }>();
      return call.context.user;
    },
  });
  const agent = new Agent(scriptedProvider([{ calls: [{ name: "whoami" }] }, "Hello."]), {
    tools: [whoami],
    context,
    approve: (request) => {
      expectTypeOf(request.context).toEqualTypeOf<{ user: string }>();
      return "allow";
    },
    beforeRequest: (next) => {
      expectTypeOf(next.context).toEqualTypeOf<{ user: string }>();
      return undefined;
    },
    stopWhen: (round) => round.context.user === "bob",
    hooks: [
      {
        name: "readers",
        beforeCall: (call) => (call.context.user === "bob" ? { deny: "Not you." } : undefined),
        onMessage: (message) => (message.context.user === "bob" ? { deny: "Not you." } : undefined),
        onStop: (stop) => (stop.context.user === "bob" ? { deny: "Not yet." } : undefined),
      },
    ],
  });
  // @ts-expect-error the context is missing
  await expect(agent.chat("Hi.")).rejects.toThrow("The context does not fit its schema");
  // @ts-expect-error the context has another form
  await expect(agent.run("Hi.", { context: { user: 4 } })).rejects.toMatchObject({
    code: "invalid_argument",
  });
  expect(agent.context.sessionContext).toEqual([]);
  await agent.chat("Hi.", { context: { user: "ann" } });
  expect(toolTexts(agent)).toEqual(["ann"]);
  // Any agent fits the plain type, and functions that read no context fit any agent.
  expectTypeOf(agent).toExtend<Agent>();
  const plain: Pick<AgentOptions, "approve" | "hooks" | "beforeRequest" | "stopWhen"> = {};
  expectTypeOf(new Agent(scriptedProvider([]), { ...plain, context })).toExtend<Agent>();
  const approve: Approve = () => "allow";
  expectTypeOf(new Agent(scriptedProvider([]), { approve, context })).toExtend<Agent>();
});

test("refuses a message without the context of which only the type is declared", async () => {
  const agent: Agent = new Agent(scriptedProvider(["Never."]), { context: contextType<{ user: string }>() });
  await expect(agent.chat("Hi.")).rejects.toThrow("The context does not fit its schema: it is missing.");
  expect(agent.conversation.sessionContext).toEqual([]);
});

test("fails for a tool that declares its context if it is missing", async () => {
  const whoami = defineTool({
    name: "whoami",
    description: "Says who asks.",
    context: z.object({ user: z.string() }),
    input: { type: "object" },
    execute: (_input, call) => call.context.user,
  });
  const agent = agentWith([call("whoami"), "Hm."], [whoami]);
  await agent.chat("Hi.");
  expect(toolTexts(agent)[0]).toMatch(/^Error executing whoami: The context does not fit its schema/);
});
