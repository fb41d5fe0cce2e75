import type { PackHost, UserQuestion } from "@agent/core";
import { expect, test } from "vitest";
import { agentWith, connected, fixtureServer } from "./harness.js";

const signal = new AbortController().signal;

function askedWith(answer: Awaited<ReturnType<NonNullable<PackHost["ask"]>>>) {
  const questions: UserQuestion[] = [];
  const ask: NonNullable<PackHost["ask"]> = async (question) => {
    questions.push(question);
    return answer;
  };
  return { questions, ask };
}

test("asks the user a question of a server under the server's name", async () => {
  const { questions, ask } = askedWith({ answer: "yes", values: { name: "Ada", colour: "red" } });
  const registry = await connected({ docs: fixtureServer({ tools: [{ name: "asks" }] }) }, { host: { ask } });
  expect((await registry.run("mcp__docs__asks", {})).text).toBe(
    '{"action":"accept","content":{"name":"Ada","colour":"red"}}',
  );
  expect(questions[0]).toMatchObject({
    source: 'the MCP server "docs"',
    message: "What is your name?",
    fields: [
      { name: "name", type: "text", title: "Name", required: true },
      { name: "colour", type: "choice", required: false, options: [{ value: "red" }, { value: "blue" }] },
    ],
  });
});

test("lets a user take any amount of time, and pauses the deadline of the call", async () => {
  const ask: PackHost["ask"] = async () => {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    return { answer: "no" };
  };
  const server = fixtureServer({ tools: [{ name: "asks" }] }, { timeoutMs: 2000 });
  const registry = await connected({ docs: server }, { host: { ask } });
  expect((await registry.run("mcp__docs__asks", {})).text).toBe('{"action":"decline"}');
});

test("refuses a question if no user can be asked", async () => {
  const registry = await connected({ docs: fixtureServer({ tools: [{ name: "asks" }] }) });
  const result = await registry.run("mcp__docs__asks", {});
  expect(result.text).not.toContain("accept");
});

test.each(["javascript:alert(1)", "file:///etc/passwd", "vscode://extension/install", "nowhere", 7])(
  "never asks a question with the address %j",
  async (url) => {
    const { questions, ask } = askedWith({ answer: "yes", values: {} });
    const behaviour = { tools: [{ name: "asks" }], question: { mode: "url", url } };
    const registry = await connected({ docs: fixtureServer(behaviour) }, { host: { ask } });
    expect((await registry.run("mcp__docs__asks", {})).text).toContain("not an http or https address");
    expect(questions).toEqual([]);
  },
);

test("shows fields and choices of a server under a safe title, and sends them back unchanged", async () => {
  const name = "na\u001b[2Jme";
  const { questions, ask } = askedWith({ answer: "yes", values: { [name]: "\u202ered" } });
  const properties = { [name]: { type: "string", enum: ["\u202ered", "blue"] } };
  const question = { requestedSchema: { type: "object", properties } };
  const behaviour = { tools: [{ name: "asks" }], question };
  const registry = await connected({ docs: fixtureServer(behaviour) }, { host: { ask } });
  const { text } = await registry.run("mcp__docs__asks", {});
  expect(JSON.parse(text).content).toEqual({ [name]: "\u202ered" });
  expect(questions[0]?.fields).toMatchObject([
    {
      name,
      title: "na\\x1b[2Jme",
      options: [{ value: "\u202ered", title: "\\u202ered" }, { value: "blue" }],
    },
  ]);
});

test("never asks a question with a name of a hundred thousand characters", async () => {
  const { questions, ask } = askedWith({ answer: "yes", values: {} });
  const properties = { ["x".repeat(100_000)]: { type: "string" } };
  const question = { requestedSchema: { type: "object", properties } };
  const behaviour = { tools: [{ name: "asks" }], question };
  const registry = await connected({ docs: fixtureServer(behaviour) }, { host: { ask } });
  expect((await registry.run("mcp__docs__asks", {})).text).toContain("of 100000 characters");
  expect(questions).toEqual([]);
});

test("offers prompts as commands of the chat", async () => {
  const behaviour = {
    capabilities: { prompts: {} },
    prompts: [
      {
        name: "review",
        description: "Reviews",
        arguments: [{ name: "number", required: true }, { name: "how" }],
      },
    ],
  };
  const registry = await connected({ docs: fixtureServer(behaviour) });
  const [command] = registry.services.commands;
  expect(command).toMatchObject({ name: "docs:review", description: "Reviews" });
  expect(await command?.run("", signal)).toEqual({
    show: "number missing. Usage: /docs:review number=… [how=…]",
  });
  expect(await command?.run("7 very carefully", signal)).toEqual({
    send: [{ type: "text", text: 'review {"number":"7","how":"very carefully"}' }],
  });
  expect(await command?.run("how=fast number=8", signal)).toMatchObject({
    send: [{ text: 'review {"how":"fast","number":"8"}' }],
  });
});

test("gives a prompt whose name cannot be typed one that can, and no two the same", async () => {
  const prompts = ["a b", "a.b"].map((name) => ({ name }));
  const registry = await connected({ docs: fixtureServer({ capabilities: { prompts: {} }, prompts }) });
  const names = registry.services.commands.map(({ name }) => name);
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(/^docs:a-b-[0-9a-f]{8}$/);
});

test("shortens a prompt of 500 long messages", async () => {
  const behaviour = { capabilities: { prompts: {} }, prompts: [{ name: "long" }] };
  const server = fixtureServer({ ...behaviour, promptMessages: 500, promptBytes: 60_000 });
  const [command] = (await connected({ docs: server })).services.commands;
  const made = JSON.stringify(await command?.run("", signal));
  expect(made.length).toBeLessThan(70_000);
  expect(made).toContain("more texts are left out");
});

test("does not offer a resource whose address cannot be typed", async () => {
  const resources = [{ uri: "file:///a\u202Eb.md", name: "turned" }];
  const registry = await connected({ docs: fixtureServer({ capabilities: { resources: {} }, resources }) });
  const listed = await registry.services.mentions[0]?.list("", signal);
  expect(listed?.map(({ id }) => id)).toEqual(["file:///a.md", "file:///b.md"]);
});

test("shortens a resource of a megabyte", async () => {
  const registry = await connected({
    docs: fixtureServer({ capabilities: { resources: {} }, resourceBytes: 1_000_000 }),
  });
  const [part] = (await registry.services.mentions[0]?.read("file:///a.md", signal)) ?? [];
  expect(JSON.stringify(part).length).toBeLessThan(70_000);
});

test("applies the limit of one to a resource of many contents, and counts the rest", async () => {
  const behaviour = { capabilities: { resources: {} }, resourceBytes: 40_000, resourceContents: 50 };
  const registry = await connected({ docs: fixtureServer(behaviour) });
  const parts = (await registry.services.mentions[0]?.read("file:///a.md", signal)) ?? [];
  expect(JSON.stringify(parts).length).toBeLessThan(70_000);
  expect(parts.at(-1)).toEqual({ type: "text", text: "[48 more texts are left out]" });
});

test("allows mentions of resources", async () => {
  const registry = await connected({ docs: fixtureServer({ capabilities: { resources: {} } }) });
  const [mentions] = registry.services.mentions;
  expect(mentions?.name).toBe("docs");
  expect(await mentions?.list("b.md", signal)).toEqual([{ id: "file:///b.md", description: "b" }]);
  expect(await mentions?.read("file:///b.md", signal)).toEqual([
    { type: "text", text: "[file:///b.md]\ntext of file:///b.md" },
  ]);
});

test("searches for schemas over a tenth of the context instead of sending them, and never changes the request prefix", async () => {
  const tools = Array.from({ length: 60 }, (_, n) => ({
    name: `tool_${n}`,
    description: `${n === 42 ? "Sends a postcard." : "Does something."} ${"x".repeat(400)}`,
  }));
  tools.push({ name: "echo", description: "Repeats what it gets." });
  const registry = await connected(
    { docs: fixtureServer({ tools }) },
    { host: { model: { provider: "test", id: "test", contextTokens: 40_000 } } },
  );
  const offered: string[] = [];
  const note =
    (answer: Parameters<typeof agentWith>[1][number]) => (request: { tools: readonly unknown[] }) => {
      offered.push(JSON.stringify(request.tools));
      return answer;
    };
  const agent = agentWith(registry, [
    note({ calls: [{ name: "mcp_find_tools", args: { query: "send a postcard" } }] }),
    note({ calls: [{ name: "mcp_call_tool", args: { tool: "mcp__docs__echo", arguments: { a: 1 } } }] }),
    note({ calls: [{ name: "mcp_call_tool", args: { tool: "mcp__docs__ecko" } }] }),
    note("Done."),
  ]);
  const names: string[] = [];
  for await (const event of agent.streamChat("Go.")) {
    if (event.type === "tool_start" || event.type === "tool_end") names.push(`${event.type} ${event.name}`);
  }
  const results = agent.context.sessionContext
    .filter(({ role }) => role === "tool")
    .map(({ content }) => String(content));
  expect(results[0]).toContain("mcp__docs__tool_42");
  expect(results[1]).toBe('{"a":1}');
  expect(results[2]).toContain('Did you mean "mcp__docs__echo"?');
  expect(names).toContain("tool_start mcp__docs__echo");
  expect(names).toContain("tool_end mcp__docs__echo");
  expect(new Set(offered).size).toBe(1);
  expect(offered[0]).not.toContain("tool_42");
});

test("cannot call a deferred tool that is off", async () => {
  const tools = Array.from({ length: 60 }, (_, n) => ({ name: `tool_${n}`, description: "x".repeat(400) }));
  const registry = await connected(
    { docs: fixtureServer({ tools }) },
    { host: { model: { provider: "test", id: "test", contextTokens: 40_000 } } },
  );
  registry.disable("mcp__docs__tool_7");
  expect(await registry.execute("mcp_call_tool", { tool: "mcp__docs__tool_7" })).toBe(
    "Tool not available: mcp__docs__tool_7",
  );
  expect(await registry.execute("mcp_find_tools", { query: "tool_7" })).not.toContain('mcp__docs__tool_7"');
});
