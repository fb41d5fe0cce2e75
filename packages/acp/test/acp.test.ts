import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PackRegistry } from "@agent/core";
import { methods } from "@agentclientprotocol/sdk";
import { expect, test, vi } from "vitest";
import { openEditor, project, started } from "./editor.js";

const { session } = methods.agent;

const texts = (editor: { updates: readonly { sessionUpdate: string }[] }, kind: string) =>
  editor.updates.flatMap((update) => {
    if (update.sessionUpdate !== kind || !("content" in update)) return [];
    const { content } = update as { content: { text?: string } };
    return [content.text];
  });

test("reports the agent's capabilities on initialize", async () => {
  const { agent } = openEditor();
  expect(await agent.request(methods.agent.initialize, { protocolVersion: 1 })).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: "agent" },
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: { http: true },
      sessionCapabilities: { list: {}, resume: {}, close: {} },
    },
  });
});

test("gives a session the modes read-only, ask and auto, and the model as a config option", async () => {
  const { created, agent, sessionId } = await started();
  expect(created.modes).toMatchObject({ currentModeId: "ask" });
  expect(created.modes?.availableModes.map(({ id }) => id)).toEqual(["read-only", "ask", "auto"]);
  expect(created.configOptions).toMatchObject([
    { id: "model", type: "select", currentValue: "small" },
    { id: "mode", type: "select", currentValue: "ask" },
  ]);
  const changed = await agent.request(session.setConfigOption, {
    sessionId,
    configId: "model",
    value: "large",
  });
  expect(changed.configOptions).toMatchObject([{ currentValue: "large" }, { currentValue: "ask" }]);
  await expect(
    agent.request(session.setConfigOption, { sessionId, configId: "model", value: "none" }),
  ).rejects.toThrow();
  await expect(agent.request(session.setMode, { sessionId, modeId: "none" })).rejects.toThrow();
});

test("streams an answer", async () => {
  const editor = await started({ answers: ["Hello."] });
  expect(await editor.prompt("Hi")).toEqual({ stopReason: "end_turn" });
  expect(texts(editor, "agent_message_chunk")).toEqual(["Hello."]);
});

test("reports with each answer how full the context is", async () => {
  const usage = { inputTokens: 300, outputTokens: 20 };
  const editor = await started({
    answers: [{ content: "Hello.", toolCalls: [], finishReason: "stop", usage }],
  });
  await editor.prompt("Hi");
  expect(editor.updates).toContainEqual({ sessionUpdate: "usage_update", used: 320, size: 1000 });
});

test("reports an empty message as an error of the editor, not of the agent", async () => {
  const { agent, sessionId } = await started();
  for (const prompt of [[], [{ type: "text" as const, text: "" }]]) {
    await expect(agent.request(session.prompt, { sessionId, prompt })).rejects.toMatchObject({
      code: -32602,
      message: "the message is empty",
    });
  }
});

test("includes the whole command in a permission request", async () => {
  const command = `echo ${"x".repeat(5000)} && echo "\`\`\`" > out`;
  const editor = await started({
    answers: [{ calls: [{ name: "run_bash", args: { command } }] }, "Done."],
    permission: () => "reject",
  });
  await editor.prompt("Go.");
  expect(JSON.stringify(editor.permissions[0]?.toolCall.content)).toContain(
    JSON.stringify(command).slice(1, -1),
  );
  expect(editor.permissions[0]?.toolCall).toMatchObject({ kind: "execute", rawInput: { command } });
  expect(existsSync(join(editor.cwd, "out"))).toBe(false);
});

test("includes the diff in a permission request for a write, and in the finished call", async () => {
  const cwd = project();
  const path = join(cwd, "a.txt");
  writeFileSync(path, "one\ntwo\n");
  const editor = await started(
    {
      answers: [
        { calls: [{ name: "edit_file", args: { path, old_text: "two", new_text: "three" } }] },
        "Done.",
      ],
    },
    cwd,
  );
  await editor.prompt("Go.");
  const diff = { type: "diff", path, oldText: "one\ntwo\n", newText: "one\nthree\n" };
  expect(editor.permissions[0]?.toolCall.content).toEqual([diff]);
  expect(readFileSync(path, "utf8")).toBe("one\nthree\n");
  const ended = editor.updates.find((update) => "status" in update && update.status === "completed");
  expect(ended).toMatchObject({ content: [diff] });
});

test("refuses without asking in read-only mode, also tools that were always allowed before", async () => {
  const cwd = project();
  const write = (name: string) => ({
    calls: [{ name: "write_file", args: { path: join(cwd, name), content: "x" } }],
  });
  const editor = await started(
    { answers: [write("a"), "1", write("b"), "2"], permission: () => "always" },
    cwd,
  );
  await editor.prompt("Go.");
  expect(readdirSync(cwd)).toEqual(["a"]);
  await editor.agent.request(session.setMode, { sessionId: editor.sessionId, modeId: "read-only" });
  await editor.prompt("Go on.");
  expect(readdirSync(cwd)).toEqual(["a"]);
  expect(editor.permissions.length).toBe(1);
});

test("asks for nothing inside the project in auto mode", async () => {
  const cwd = project();
  const path = join(cwd, "a");
  const editor = await started(
    { answers: [{ calls: [{ name: "write_file", args: { path, content: "x" } }] }, "ok"] },
    cwd,
  );
  await editor.agent.request(session.setMode, { sessionId: editor.sessionId, modeId: "auto" });
  await editor.prompt("Go.");
  expect(editor.permissions).toEqual([]);
  expect(readFileSync(path, "utf8")).toBe("x");
});

test("ends a cancelled message with its own stop reason, and stops its process", async () => {
  const cwd = project();
  const command = `echo $$ > ${join(cwd, "pid")}; sleep 300`;
  const editor = await started({ answers: [{ calls: [{ name: "run_bash", args: { command } }] }] }, cwd);
  const answer = editor.prompt("Go.");
  while (!existsSync(join(cwd, "pid")) || readFileSync(join(cwd, "pid"), "utf8") === "")
    await new Promise(setImmediate);
  const pid = Number(readFileSync(join(cwd, "pid"), "utf8"));
  await editor.agent.notify(session.cancel, { sessionId: editor.sessionId });
  expect(await answer).toEqual({ stopReason: "cancelled" });
  for (let lives = true; lives; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    lives = existsSync(`/proc/${pid}/stat`) && !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  }
  expect(await editor.prompt("again").catch((error: Error) => error.message)).toContain("script");
});

test("replays the conversation on load, but not on resume", async () => {
  const kept = {
    systemPrompt: "",
    messages: [
      { role: "user" as const, content: "Read a." },
      {
        role: "assistant" as const,
        content: null,
        tool_calls: [
          { id: "c1", type: "function" as const, function: { name: "read_file", arguments: '{"path":"a"}' } },
        ],
      },
      { role: "tool" as const, tool_call_id: "c1", content: "text of a" },
      { role: "assistant" as const, content: "It says text of a." },
    ],
  };
  const editor = openEditor({ session: kept as never });
  await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  const cwd = project();
  await editor.agent.request(session.load, { sessionId: "kept", cwd, mcpServers: [] });
  expect(editor.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
    "user_message_chunk",
    "tool_call",
    "tool_call_update",
    "agent_message_chunk",
  ]);
  editor.updates.length = 0;
  await editor.agent.request(session.resume, { sessionId: "kept", cwd });
  expect(editor.updates.filter(({ sessionUpdate }) => sessionUpdate !== "available_commands_update")).toEqual(
    [],
  );
  expect(await editor.agent.request(session.list, {})).toMatchObject({ sessions: [{ sessionId: "kept" }] });
});

test("advertises and runs commands of packs", async () => {
  const pack = {
    packName: "greeter",
    register: (registry: PackRegistry) =>
      registry.provide?.({
        commands: [
          { name: "greet", description: "Greets", run: async (input) => ({ send: `Say hello to ${input}` }) },
          { name: "show", description: "Shows", run: async (input) => ({ show: `shown ${input}` }) },
          // As prompts of MCP servers are named.
          { name: "docs:show", description: "Shows", run: async (input) => ({ show: `also ${input}` }) },
        ],
      }),
  };
  const seen: string[] = [];
  const answers = [
    (request: { messages: readonly { content?: unknown }[] }) => {
      seen.push(String(request.messages.at(-1)?.content));
      return "Hello Ada.";
    },
  ];
  const editor = await started({ packs: [pack], answers });
  await editor.prompt("/greet Ada");
  await editor.prompt("/show this");
  await editor.prompt("/docs:show that");
  expect(seen).toEqual(["Say hello to Ada"]);
  expect(texts(editor, "agent_message_chunk")).toEqual(["Hello Ada.", "shown this", "also that"]);
  // The update is sent some time after the response to session/new.
  const advertised = await vi.waitUntil(
    () => editor.updates.find(({ sessionUpdate }) => sessionUpdate === "available_commands_update"),
    { timeout: 30_000 },
  );
  expect(advertised).toMatchObject({
    availableCommands: [{ name: "greet" }, { name: "show" }, { name: "docs:show" }],
  });
});

test("passes the editor's MCP servers to the host as options of @agent/tools-mcp", async () => {
  const opened: unknown[] = [];
  const { agent } = openEditor({ onOpen: ({ servers }) => opened.push(servers) });
  await agent.request(methods.agent.initialize, { protocolVersion: 1 });
  await agent.request(session.new, {
    cwd: project(),
    mcpServers: [
      { name: "my server!", command: "/bin/x", args: ["a"], env: [{ name: "K", value: "v" }] },
      { type: "http", name: "web", url: "https://example.com/mcp", headers: [{ name: "H", value: "v" }] },
    ],
  });
  expect(opened).toEqual([
    {
      "my-server": { command: "/bin/x", args: ["a"], env: { K: "v" } },
      web: { url: "https://example.com/mcp", headers: { H: "v" } },
    },
  ]);
});

test("reports a server of the editor that cannot be used, and uses the others", async () => {
  const opened: unknown[] = [];
  const { agent, updates } = openEditor({ onOpen: ({ servers }) => opened.push(servers) });
  await agent.request(methods.agent.initialize, { protocolVersion: 1 });
  await agent.request(session.new, {
    cwd: project(),
    mcpServers: [
      { type: "sse", name: "old", url: "https://example.com/sse", headers: [] },
      { type: "http", name: "web", url: "https://example.com/mcp", headers: [] },
    ],
  });
  expect(opened).toEqual([{ web: { url: "https://example.com/mcp", headers: {} } }]);
  await vi.waitUntil(() => JSON.stringify(updates).includes("MCP server old: it is left out"), {
    timeout: 30_000,
  });
});

test("reports why a session cannot open with the host's own message", async () => {
  const { agent } = openEditor({
    onOpen: () => {
      throw new Error('The project is not trusted. Run "agent" in it once.');
    },
  });
  await agent.request(methods.agent.initialize, { protocolVersion: 1 });
  await expect(agent.request(session.new, { cwd: project(), mcpServers: [] })).rejects.toMatchObject({
    code: -32603,
    message: 'The project is not trusted. Run "agent" in it once.',
    data: undefined,
  });
});

test("reports a failing model with a readable error, and the session continues", async () => {
  const editor = await started({
    answers: [
      () => {
        throw new Error("no credit left");
      },
      "Back.",
    ],
  });
  // The whole message: editors show it to the user, with what is in `data` behind it.
  await expect(editor.prompt("Hi")).rejects.toMatchObject({
    code: -32603,
    message: "The provider failed: no credit left",
    data: undefined,
  });
  expect(await editor.prompt("Hi")).toEqual({ stopReason: "end_turn" });
});
