import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  Agent,
  Conversation,
  createToolRegistry,
  defineTool,
  loadSession,
  type PackRegistry,
  recordSession,
  type UserAnswer,
  type UserQuestion,
} from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { methods, type SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, test, vi } from "vitest";
import { openEditor, project, started } from "./editor.js";

const { session } = methods.agent;
const FILES = { fs: { readTextFile: true, writeTextFile: true } };

const callUpdates = (updates: readonly SessionUpdate[]) =>
  updates.filter((update) => update.sessionUpdate === "tool_call_update");

test("reads files from the editor's buffers and writes them through it", async () => {
  const cwd = project();
  const path = join(cwd, "a.txt");
  writeFileSync(path, "saved\n");
  const buffers = new Map([[path, "unsaved\n"]]);
  const seen: string[] = [];
  const editor = await started(
    {
      capabilities: FILES,
      buffers,
      answers: [
        { calls: [{ name: "read_file", args: { path } }] },
        (request) => {
          seen.push(JSON.stringify(request.messages.at(-1)));
          return { calls: [{ name: "edit_file", args: { path, old_text: "unsaved", new_text: "edited" } }] };
        },
        "Done.",
      ],
    },
    cwd,
  );
  await editor.prompt("Go.");
  expect(seen[0]).toContain("unsaved");
  expect(buffers.get(path)).toBe("edited\n");
  expect(readFileSync(path, "utf8")).toBe("edited\n");
  const diff = { type: "diff", path, oldText: "unsaved\n", newText: "edited\n" };
  expect(editor.permissions[0]?.toolCall.content).toEqual([diff]);
  expect(callUpdates(editor.updates).at(-1)).toMatchObject({ status: "completed", content: [diff] });
});

test("asks about each call of a child agent separately, although all have the same id", async () => {
  const cwd = project();
  const put = defineTool({
    name: "put",
    description: "Puts.",
    input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    capabilities: ["write"],
    execute: ({ to }) => `put ${to}`,
  });
  const delegate = defineTool({
    name: "delegate",
    description: "Delegates.",
    input: { type: "object", properties: {} },
    capabilities: ["read"],
    execute: async (_input, { startAgent }) => {
      const children = ["a", "b"].map((label) => startAgent?.({ message: label, label, tools: ["put"] }));
      return (await Promise.all(children)).map((child) => child?.text).join();
    },
  });
  const same = (name: string, args: object = {}) => ({
    content: null,
    toolCalls: [
      { id: "call", type: "function" as const, function: { name, arguments: JSON.stringify(args) } },
    ],
    finishReason: "tool_calls" as const,
  });
  const editor = await started(
    {
      packs: [put, delegate],
      answers: [same("delegate"), same("put", { to: "1" }), same("put", { to: "2" }), "one", "two", "Done."],
      permission: ({ toolCall }) => (JSON.stringify(toolCall.rawInput).includes("2") ? "reject" : "allow"),
    },
    cwd,
  );
  await editor.prompt("Go.");
  const [parent] = editor.updates.flatMap((one) =>
    one.sessionUpdate === "tool_call" ? [one.toolCallId] : [],
  );
  const asked = editor.permissions.filter(
    ({ toolCall }) => toolCall.rawInput && "to" in (toolCall.rawInput as object),
  );
  const ids = asked.map(({ toolCall }) => toolCall.toolCallId);
  expect(new Set([parent, ...ids]).size).toBe(3);
  const ends = callUpdates(editor.updates).filter(
    ({ status }) => status === "completed" || status === "failed",
  );
  expect(ends.map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
    [ids[0], "completed"],
    [ids[1], "failed"],
    [parent, "completed"],
  ]);
});

test("shows several edits of one call as one diff, with the first changed line", async () => {
  const cwd = project();
  const path = join(cwd, "a.txt");
  writeFileSync(path, "one\ntwo\nthree\n");
  const edits = [
    { old_text: "two", new_text: "2" },
    { old_text: "three", new_text: "3" },
  ];
  const editor = await started(
    { answers: [{ calls: [{ name: "edit_file", args: { path, edits } }] }, "ok"] },
    cwd,
  );
  await editor.prompt("Go.");
  expect(editor.permissions[0]?.toolCall).toMatchObject({
    content: [{ type: "diff", path, oldText: "one\ntwo\nthree\n", newText: "one\n2\n3\n" }],
    locations: [{ path, line: 2 }],
  });
});

test("shows what the tool would do: a new file without a final newline, and many replacements as one diff", async () => {
  const cwd = project();
  const path = join(cwd, "a.txt");
  const edits = [
    { old_text: "a", new_text: "b", replace_all: true },
    { old_text: "c", new_text: "d" },
  ];
  const calls = [
    [{ name: "write_file", args: { path, content: "aa\nc" } }],
    [{ name: "edit_file", args: { path, edits } }],
  ];
  const editor = await started({ answers: [...calls.map((calls) => ({ calls })), "ok"] }, cwd);
  await editor.prompt("Go.");
  const shown = editor.permissions.map(({ toolCall }) => toolCall.content);
  expect(shown[0]).toEqual([{ type: "diff", path, newText: "aa\nc" }]);
  expect(shown[1]).toEqual([{ type: "diff", path, oldText: "aa\nc", newText: "bb\nd" }]);
  expect(readFileSync(path, "utf8")).toBe("bb\nd");
});

test("never waits for edits that double a text: makes each in the original text", async () => {
  const cwd = project();
  const path = join(cwd, "a.txt");
  writeFileSync(path, "a".repeat(1000));
  const edits = Array.from({ length: 60 }, () => ({ old_text: "a", new_text: "aa", replace_all: true }));
  const editor = await started(
    { answers: [{ calls: [{ name: "edit_file", args: { path, edits } }] }, "ok"] },
    cwd,
  );
  await editor.prompt("Go.");
  expect(callUpdates(editor.updates).at(-1)).toMatchObject({ status: "failed" });
  expect(editor.permissions).toEqual([]);
  expect(readFileSync(path, "utf8")).toHaveLength(1000);
});

test.runIf(process.platform === "linux")("never reads a kernel file that has no end", async () => {
  const args = { path: "/proc/self/pagemap", content: "x" };
  const editor = await started({ answers: [{ calls: [{ name: "write_file", args }] }, "ok"] });
  await editor.prompt("Go.");
  expect(callUpdates(editor.updates).at(-1)).toMatchObject({ status: "failed" });
  for (const { toolCall } of editor.permissions) expect(JSON.stringify(toolCall).length).toBeLessThan(2000);
});

test("shows a command in the editor's terminal, which exits with its code and is released", async () => {
  const command = "echo out; echo err >&2; exit 7";
  const editor = await started({
    capabilities: { terminal: true },
    answers: [{ calls: [{ name: "run_bash", args: { command } }] }, "Done."],
  });
  await editor.prompt("Go.");
  const [terminal] = editor.terminals.all;
  expect(await terminal?.exit).toMatchObject({ exitCode: 7 });
  expect(terminal?.output).toContain(`$ ${command}\n`);
  expect(terminal?.output).toContain("out\n");
  expect(terminal?.output).toContain("err\n");
  expect(terminal).toMatchObject({ isReleased: true, request: { cwd: editor.cwd } });
  const shown = { type: "terminal", terminalId: "terminal-1" };
  expect(callUpdates(editor.updates)[0]).toMatchObject({ status: "in_progress" });
  expect(callUpdates(editor.updates)[1]).toMatchObject({ content: [shown] });
  expect(callUpdates(editor.updates).at(-1)).toMatchObject({ status: "failed", content: [shown, {}] });
});

/** Tools of a third party, whose names and arguments say nothing to the editor. */
const thirdParty = {
  packName: "third-party",
  register: (registry: PackRegistry) => {
    registry.register(
      defineTool({
        name: "launch",
        description: "Runs a script",
        input: { type: "object", properties: { script: { type: "string" } }, required: ["script"] },
        capabilities: ["execute"],
        titleFrom: "script",
        execute: (_input, call) => {
          call.onOutput("half way\n");
          call.report({ ok: false, summary: "exit code 7", view: { type: "output", text: "", exitCode: 7 } });
          return "It failed.";
        },
      }),
    );
    registry.register(
      defineTool({
        name: "rework",
        description: "Changes a file",
        input: { type: "object", properties: { file: { type: "string" } }, required: ["file"] },
        capabilities: ["write"],
        titleFrom: "file",
        describe: ({ file }) => ({ targets: [{ type: "file", path: file, access: "write", line: 3 }] }),
        preview: ({ file }) => ({ changes: [changed(file, "planned")] }),
        execute: ({ file }, call) => {
          call.report({ ok: true, view: { type: "diff", files: [changed(file, "done")] } });
          return "Changed.";
        },
      }),
    );
  },
};

const changed = (path: string, word: string) => ({
  path,
  change: "edited" as const,
  added: 1,
  removed: 1,
  hunks: [{ oldStart: 3, newStart: 3, lines: ["-before", `+${word}`] }],
});

test("gives third-party tools titles, kinds, places, diffs and terminals like ours", async () => {
  const cwd = project();
  const path = join(cwd, "a.txt");
  const editor = await started(
    {
      packs: [thirdParty],
      capabilities: { terminal: true },
      answers: [
        {
          calls: [
            { name: "launch", args: { script: "make all" } },
            { name: "rework", args: { file: path } },
          ],
        },
        "Done.",
      ],
    },
    cwd,
  );
  await editor.prompt("Go.");
  const [terminal] = editor.terminals.all;
  expect(await terminal?.exit).toMatchObject({ exitCode: 7 });
  expect(terminal?.output).toBe("$ make all\nhalf way\n");
  const requested = editor.updates.filter((update) => update.sessionUpdate === "tool_call");
  expect(requested).toMatchObject([
    { title: "make all", kind: "execute" },
    { title: `rework ${path}`, kind: "edit" },
  ]);
  const diff = (newText: string) => ({ type: "diff", path, oldText: "before\n", newText });
  const locations = [{ path, line: 3 }];
  expect(editor.permissions[1]?.toolCall).toMatchObject({ content: [diff("planned\n")], locations });
  expect(callUpdates(editor.updates).at(-1)).toMatchObject({ content: [diff("done\n")], locations });
});

test("shows a stored conversation without the packs that its calls came from", async () => {
  const cwd = project();
  const path = join(cwd, "a.txt");
  const file = join(cwd, "session.jsonl");
  const conversation = new Conversation();
  const recorder = recordSession(conversation, file);
  const call = { name: "rework", args: { file: path } };
  const agent = new Agent(scriptedProvider([{ calls: [call] }, "Done."]), {
    conversation,
    registry: createToolRegistry(conversation, [thirdParty]),
  });
  // Calls are described for anyone who listens.
  for await (const _ of agent.streamChat("Go."));
  await agent.dispose();
  await recorder.close();
  const editor = openEditor({ session: await loadSession(file), packs: [] });
  await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  await editor.agent.request(session.load, { sessionId: "kept", cwd, mcpServers: [] });
  expect(editor.updates.find((update) => update.sessionUpdate === "tool_call")).toMatchObject({
    title: `rework ${path}`,
    kind: "edit",
  });
  expect(callUpdates(editor.updates).at(-1)).toMatchObject({
    status: "completed",
    content: [{ type: "diff", path, oldText: "before\n", newText: "done\n" }],
    locations: [{ path, line: 3 }],
  });
});

test("stops a command whose terminal the user closes", async () => {
  const cwd = project();
  const command = `echo $$ > pid; sleep 300`;
  const editor = await started(
    {
      capabilities: { terminal: true },
      answers: [{ calls: [{ name: "run_bash", args: { command, cwd } }] }, "Done."],
    },
    cwd,
  );
  const answer = editor.prompt("Go.");
  await vi.waitUntil(() => editor.terminals.all.length > 0, 30_000);
  editor.terminals.killAll();
  expect(await answer).toEqual({ stopReason: "end_turn" });
  expect(callUpdates(editor.updates).at(-1)).toMatchObject({ status: "failed" });
});

test("sends the output with the updates to an editor that draws terminals itself", async () => {
  const editor = await started({
    capabilities: { _meta: { terminal_output: true }, terminal: true },
    answers: [{ calls: [{ name: "run_bash", args: { command: "echo shown" } }] }, "Done."],
  });
  await editor.prompt("Go.");
  const metas = callUpdates(editor.updates).map(({ _meta }) => _meta ?? {});
  expect(metas[1]).toMatchObject({ terminal_info: { cwd: editor.cwd } });
  expect(JSON.stringify(metas)).toContain('"data":"shown\\n"');
  expect(metas.at(-1)).toMatchObject({ terminal_exit: { exit_code: 0 } });
  expect(editor.terminals.all).toEqual([]);
});

test("sends no update after the response to a cancelled message; sends the end of a slow call with the next message", async () => {
  const cwd = project();
  // The command ignores SIGTERM, so that it outlives the response.
  const command = `trap '' TERM; echo $$ > ${join(cwd, "pid")}; while :; do sleep 0.01; done`;
  const editor = await started(
    { answers: [{ calls: [{ name: "run_bash", args: { command } }] }, "Next."] },
    cwd,
  );
  const answer = editor.prompt("Go.");
  while (!existsSync(join(cwd, "pid")) || readFileSync(join(cwd, "pid"), "utf8") === "")
    await new Promise((resolve) => setTimeout(resolve, 5));
  const pid = Number(readFileSync(join(cwd, "pid"), "utf8"));
  await editor.agent.notify(session.cancel, { sessionId: editor.sessionId });
  expect(await answer).toEqual({ stopReason: "cancelled" });
  const told = editor.updates.length;
  expect(callUpdates(editor.updates).at(-1)).toMatchObject({ status: "failed" });
  while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(editor.updates.length).toBe(told);
  expect(await editor.prompt("Again.")).toEqual({ stopReason: "end_turn" });
  expect(JSON.stringify(editor.updates.slice(told))).toContain("aborted");
});

test("shows questions of packs as forms, or plain ones as permission requests if the editor has no forms", async () => {
  const answers: UserAnswer[] = [];
  const question = (fields: UserQuestion["fields"]): Omit<UserQuestion, "signal"> => ({
    source: "the server",
    message: "Which one?",
    fields,
  });
  const pack = (fields: UserQuestion["fields"]) => ({
    packName: "asker",
    register: (registry: PackRegistry, host?: { ask?: (one: UserQuestion) => Promise<UserAnswer> }) =>
      registry.provide?.({
        commands: [
          {
            name: "ask",
            description: "Asks",
            run: async (_input: string, signal: AbortSignal) => {
              const answer = await host?.ask?.({ ...question(fields), signal });
              if (answer) answers.push(answer);
              return { show: "asked" };
            },
          },
        ],
      }),
  });
  const asked: unknown[] = [];
  const elicit = (params: unknown) => {
    asked.push(params);
    return { action: "accept", content: { size: "l" } };
  };
  const choice = {
    name: "size",
    type: "choice",
    required: true,
    options: [{ value: "s" }, { value: "l" }],
  } as const;
  const withForms = await started({
    packs: [pack([choice]) as never],
    capabilities: { elicitation: { form: {} } },
    elicit,
  });
  await withForms.prompt("/ask");
  expect(asked).toMatchObject([
    { mode: "form", message: "the server: Which one?", requestedSchema: { required: ["size"] } },
  ]);
  const without = await started({ packs: [pack([choice]) as never] });
  await without.prompt("/ask");
  const plain = await started({ packs: [pack([]) as never], permission: () => "yes" });
  await plain.prompt("/ask");
  expect(answers).toEqual([
    { answer: "yes", values: { size: "l" } },
    { answer: "dismissed" },
    { answer: "yes", values: {} },
  ]);
});

test("offers the mode as a config option too, and keeps both in sync", async () => {
  const { agent, sessionId, updates } = await started();
  const value = "read-only";
  const { configOptions } = await agent.request(session.setConfigOption, {
    sessionId,
    configId: "mode",
    value,
  });
  expect(configOptions).toMatchObject([{ id: "model" }, { id: "mode", currentValue: "read-only" }]);
  await agent.request(session.setMode, { sessionId, modeId: "auto" });
  expect(updates).toMatchObject([
    { sessionUpdate: "current_mode_update", currentModeId: "read-only" },
    { sessionUpdate: "config_option_update", configOptions: [{}, { currentValue: "auto" }] },
  ]);
});

test("sends images and files in a message to the model", async () => {
  const seen: unknown[] = [];
  const editor = await started({
    answers: [
      (request) => {
        seen.push(request.messages.at(-1)?.content);
        return "I see.";
      },
    ],
  });
  const data = Buffer.from("not really an image").toString("base64");
  await editor.agent.request(session.prompt, {
    sessionId: editor.sessionId,
    prompt: [
      { type: "text", text: "What is this?" },
      { type: "image", mimeType: "image/png", data },
      { type: "resource", resource: { uri: "file:///a%20b.txt", text: "text of it" } },
      { type: "resource_link", name: "c.txt", uri: "file:///c.txt" },
    ],
  });
  expect(seen).toEqual([
    [
      { type: "text", text: "What is this?" },
      { type: "image", mediaType: "image/png", data },
      { type: "text", text: "[/a b.txt]\ntext of it" },
      { type: "text", text: "[c.txt: /c.txt]" },
    ],
  ]);
});
