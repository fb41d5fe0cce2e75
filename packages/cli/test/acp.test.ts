import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { AcpClient, type AcpMessage } from "./acpClient.js";
import { Sandbox } from "./agent.js";
import { gone, pidIn } from "./processes.js";
import { ScriptedModel } from "./scriptedModel.js";

const MCP_SERVER = fileURLToPath(new URL("../../tools-mcp/test/fixtures/server.mjs", import.meta.url));
const LSP_PACK = fileURLToPath(new URL("../../tools-lsp/dist/index.js", import.meta.url));
const LSP_SERVER = fileURLToPath(new URL("../../tools-lsp/test/fixtures/server.mjs", import.meta.url));
const select = (optionId: string) => () => ({ outcome: { outcome: "selected", optionId } });

/** A trusted project with the default tools, `run_bash` on, and a scripted model. */
async function project(config: object = {}) {
  const sandbox = new Sandbox();
  const model = await ScriptedModel.start(["scripted", "other"]);
  const packs = ["@agent/preset-default"];
  sandbox.write("agent.config.json", JSON.stringify({ packs, enable: ["run_bash"], ...config }));
  return { sandbox, model, env: model.env, args: ["--trust"] };
}

test("runs a whole conversation: approval, edit, undo, another model, and nothing else on standard output", async () => {
  const { sandbox, model, env, args } = await project();
  const asked: AcpMessage[] = [];
  const client = await AcpClient.start(sandbox, {
    ...{ env, args },
    answer: (message) => {
      asked.push(message);
      return select("allow")();
    },
  });
  const path = sandbox.write("a.txt", "one\n");
  const sessionId = await client.open(sandbox.project);
  const edit = `call edit_file {"path":"${path}","old_text":"one","new_text":"two"}\nthen say Edited.`;
  expect((await client.prompt(sessionId, edit)).result).toEqual({ stopReason: "end_turn" });
  expect(client.said()).toBe("Edited.");
  expect(asked[0]?.params.toolCall.content).toEqual([
    { type: "diff", path, oldText: "one\n", newText: "two\n" },
  ]);
  expect(readFileSync(path, "utf8")).toBe("two\n");
  await client.prompt(sessionId, "/undo");
  expect(client.said()).toContain("Undid 1 change");
  expect(readFileSync(path, "utf8")).toBe("one\n");
  const models = await client.until(({ params }) => params?.update?.sessionUpdate === "config_option_update");
  expect(models.params.update.configOptions[0].options).toMatchObject([
    { value: "scripted" },
    { value: "other" },
  ]);
  const changed = await client.ask("session/set_config_option", {
    sessionId,
    configId: "model",
    value: "other",
  });
  expect(changed.result.configOptions[0]).toMatchObject({ currentValue: "other" });
  await client.prompt(sessionId, "/model");
  expect(client.said()).toContain("Which model:\n  scripted\n  other  answers now");
  await client.prompt(sessionId, "say Bye.");
  expect(model.lastRequest).toContain("reverted your changes to a.txt");
  const { availableCommands } = client.updates("available_commands_update")[0];
  expect(availableCommands.map(({ name }: { name: string }) => name).sort()).toEqual([
    "compact",
    "context",
    "diff",
    "disable",
    "effort",
    "enable",
    "export",
    "init",
    "instructions",
    "mode",
    "model",
    "permissions",
    "redo",
    "save",
    "status",
    "tools",
    "undo",
  ]);
  expect(await client.end()).toBe(0);
  expect(client.noise).toEqual([]);
});

test("applies rules of the configuration, and adds one for the project on always", async () => {
  const permissions = { allow: ["run_bash(echo *)"], deny: ["run_bash(rm *)"] };
  const { sandbox, env, args } = await project({ permissions });
  const asked: AcpMessage[] = [];
  const answer = (message: AcpMessage) => {
    asked.push(message);
    return select("project-rule")();
  };
  const client = await AcpClient.start(sandbox, { env, args, answer });
  const sessionId = await client.open(sandbox.project);
  const run = (command: string) =>
    client.prompt(sessionId, `call run_bash {"command":"${command}"}\nthen say ok`);
  await run("echo allowed");
  await run("rm -f a.txt");
  expect(asked).toEqual([]);
  expect(JSON.stringify(client.updates("tool_call_update"))).toContain("of the configuration denies it");
  await run("touch made.txt");
  expect(asked[0]?.params.options).toMatchObject([
    { optionId: "allow", kind: "allow_once" },
    { optionId: "session-rule", name: "Always in this session: touch *", kind: "allow_always" },
    { optionId: "project-rule", kind: "allow_always" },
    { optionId: "session-tool", kind: "allow_always" },
    { optionId: "reject", kind: "reject_once" },
  ]);
  await run("touch again.txt");
  expect(asked.length).toBe(1);
  await client.end();
  const later = await AcpClient.start(sandbox, { env, args, answer });
  const resumed = await later.open(sandbox.project);
  await later.prompt(resumed, 'call run_bash {"command":"touch later.txt"}\nthen say ok');
  expect(asked.length).toBe(1);
  expect(existsSync(join(sandbox.project, "later.txt"))).toBe(true);
  await later.end();
});

test("asks the editor at a limit: yes continues, no ends the message with the reason", async () => {
  // An answer of the scripted model takes 1290 tokens.
  const { sandbox, model, env, args } = await project({ maxTokens: 3000 });
  const asked: string[] = [];
  let choice = "yes";
  const client = await AcpClient.start(sandbox, {
    ...{ env, args },
    answer: ({ params }) => {
      asked.push(params.toolCall.title);
      return select(choice)();
    },
  });
  const sessionId = await client.open(sandbox.project);
  const task = 'call list_dir {"path":"."}\nthen say the end';
  expect((await client.prompt(sessionId, task)).result).toEqual({ stopReason: "end_turn" });
  expect(client.said()).toBe("the end");
  expect(asked).toEqual([
    expect.stringMatching(/The limit of 3000 tokens[\s\S]*Continue up to 6000 tokens\?/),
  ]);
  choice = "no";
  const { error } = await client.prompt(sessionId, task);
  expect(error?.message).toContain("The limit of 6000 tokens for this conversation is reached");
  expect(model.requests).toHaveLength(3);
  await client.end();
});

test("hides tools that change something from the model in read-only mode, whatever was allowed", async () => {
  const { sandbox, model, env, args } = await project({ permissions: { allow: ["write_file"] } });
  const client = await AcpClient.start(sandbox, { env, args });
  const sessionId = await client.open(sandbox.project);
  await client.ask("session/set_mode", { sessionId, modeId: "read-only" });
  await client.prompt(sessionId, 'call write_file {"path":"a.txt","content":"x"}\nthen say ok');
  expect(existsSync(join(sandbox.project, "a.txt"))).toBe(false);
  expect(model.lastRequest).toContain("plan mode");
  await client.end();
});

test("passes files through the editor, but not protected ones", async () => {
  const { sandbox, model, env, args } = await project();
  const path = sandbox.write("a.txt", "saved\n");
  const files: string[] = [];
  const client = await AcpClient.start(sandbox, {
    ...{ env, args, capabilities: { fs: { readTextFile: true, writeTextFile: true } } },
    answer: ({ method, params }) => {
      if (method === "session/request_permission") return select("allow")();
      files.push(`${method} ${params.path}`);
      if (method === "fs/read_text_file") return { content: "unsaved\n" };
      writeFileSync(params.path, params.content);
      return {};
    },
  });
  const sessionId = await client.open(sandbox.project);
  await client.prompt(sessionId, `call read_file {"path":"${path}"}\nthen say ok`);
  expect(model.lastRequest).toContain("unsaved");
  files.length = 0;
  const config = join(sandbox.project, "agent.config.json");
  await client.prompt(
    sessionId,
    `call write_file {"path":"${config}","content":"{}"}\ncall write_file {"path":".git/hooks/post-commit","content":"x"}\nthen say ok`,
  );
  expect(files.filter((one) => one.startsWith("fs/write"))).toEqual([]);
  expect(readFileSync(config, "utf8")).not.toBe("{}");
  await client.end();
});

test("lets the model call the tools of the editor's MCP servers, and reports a server that does not start", async () => {
  const { sandbox, model, env, args } = await project();
  const client = await AcpClient.start(sandbox, { env, args, answer: select("allow") });
  const mcpServers = [
    { name: "docs", command: process.execPath, args: [MCP_SERVER, "{}"], env: [] },
    { name: "broken", command: join(sandbox.project, "nothing-here"), args: [], env: [] },
  ];
  const sessionId = await client.open(sandbox.project, { mcpServers });
  await client.prompt(sessionId, 'call mcp__docs__echo {"text":"through the editor"}\nthen say ok');
  expect(client.updates("tool_call_update").at(-1)).toMatchObject({ status: "completed" });
  expect(model.lastRequest).toContain("through the editor");
  const told = client.updates("agent_thought_chunk").map(({ content }) => content.text);
  expect(told.join("")).toContain("MCP server broken");
  expect(await client.end()).toBe(0);
});

test("denies in read-only mode a tool of a server that came after the mode was chosen", async () => {
  const { sandbox, env, args } = await project();
  const client = await AcpClient.start(sandbox, { env, args, answer: select("allow") });
  const mcpServers = [{ name: "docs", command: process.execPath, args: [MCP_SERVER, "{}"], env: [] }];
  const sessionId = await client.open(sandbox.project, { mcpServers });
  await client.ask("session/set_mode", { sessionId, modeId: "read-only" });
  await client.prompt(sessionId, 'call mcp__docs__echo {"text":"never"}\nthen say ok');
  const { rawOutput } = client.updates("tool_call_update").at(-1);
  expect(rawOutput.text).toBe("Tool not available: mcp__docs__echo");
  expect(client.messages.some(({ method }) => method === "session/request_permission")).toBe(false);
  await client.end();
});

test("restores on undo what the user had not saved", async () => {
  const { sandbox, env, args } = await project();
  const path = sandbox.write("a.txt", "saved\n");
  let buffer = "saved\nmine\n";
  const client = await AcpClient.start(sandbox, {
    ...{ env, args, capabilities: { fs: { readTextFile: true, writeTextFile: true } } },
    answer: ({ method, params }) => {
      if (method === "session/request_permission") return select("allow")();
      if (method === "fs/read_text_file") return { content: buffer };
      buffer = params.content;
      writeFileSync(path, buffer);
      return {};
    },
  });
  const sessionId = await client.open(sandbox.project);
  const edit = `call edit_file {"path":"${path}","old_text":"saved","new_text":"edited"}\nthen say ok`;
  await client.prompt(sessionId, edit);
  expect(readFileSync(path, "utf8")).toBe("edited\nmine\n");
  await client.prompt(sessionId, "/undo");
  expect(readFileSync(path, "utf8")).toBe("saved\nmine\n");
  await client.end();
});

test("lists, loads, resumes and deletes sessions", async () => {
  const { sandbox, env, args } = await project();
  const first = await AcpClient.start(sandbox, { env, args });
  const sessionId = await first.open(sandbox.project);
  await first.prompt(sessionId, "say Remember the fox.");
  await first.end();
  const second = await AcpClient.start(sandbox, { env, args });
  const cwd = sandbox.project;
  const listed = (await second.ask("session/list", { cwd })).result.sessions;
  expect(listed).toMatchObject([{ sessionId, cwd, title: "say Remember the fox." }]);
  await second.ask("session/load", { sessionId, cwd, mcpServers: [] });
  expect(second.updates("user_message_chunk")).toMatchObject([
    { content: { text: "say Remember the fox." } },
  ]);
  expect(second.said()).toBe("Remember the fox.");
  await second.prompt(sessionId, "say Second.");
  await second.end();
  const third = await AcpClient.start(sandbox, { env, args });
  await third.ask("session/resume", { sessionId, cwd });
  expect(third.said()).toBe("");
  await third.prompt(sessionId, "say Third.");
  expect(third.said()).toBe("Third.");
  expect((await third.ask("session/delete", { sessionId })).result).toEqual({});
  expect((await third.ask("session/list", { cwd })).result.sessions).toEqual([]);
  expect((await third.ask("session/delete", { sessionId: "../../x" })).error?.message).toContain(
    "no session",
  );
  await third.end();
});

test("does not accept a path as a session, not even that of a session file", async () => {
  const { sandbox, env, args } = await project();
  const client = await AcpClient.start(sandbox, { env, args });
  const cwd = sandbox.project;
  const line = JSON.stringify({ role: "user", content: "Planted." });
  writeFileSync(join(cwd, "planted.jsonl"), `{"v":1}\n${line}\n`);
  for (const sessionId of ["planted.jsonl", "./planted.jsonl", join(cwd, "planted.jsonl"), "../p", "", "2"]) {
    for (const method of ["session/load", "session/resume"]) {
      const { error } = await client.ask(method, { sessionId, cwd, mcpServers: [] });
      expect(error?.message).toContain("there is no session");
    }
  }
  await client.end();
});

test("shares nothing between two simultaneous sessions: directory, key, mode, conversation", async () => {
  const { sandbox, model, env, args } = await project();
  const other = join(sandbox.home, "other");
  mkdirSync(join(other, ".git"), { recursive: true });
  writeFileSync(
    join(other, "agent.config.json"),
    '{"packs":["@agent/preset-default"],"enable":["run_bash"]}',
  );
  const client = await AcpClient.start(sandbox, { env, args, answer: select("allow") });
  const [one, two] = [await client.open(sandbox.project), await client.open(other)];
  await client.ask("session/set_mode", { sessionId: one, modeId: "auto" });
  const where = 'call run_bash {"command":"pwd > here.txt; env > env.txt"}\nthen say done';
  const answers = await Promise.all([client.prompt(one, where), client.prompt(two, where)]);
  expect(answers.map(({ result }) => result?.stopReason)).toEqual(["end_turn", "end_turn"]);
  for (const directory of [sandbox.project, other]) {
    expect(readFileSync(join(directory, "here.txt"), "utf8").trim()).toBe(directory);
    expect(readFileSync(join(directory, "env.txt"), "utf8")).not.toContain("OPENAI_API_KEY");
  }
  await client.prompt(one, "say Only here.");
  expect(client.said(two)).toBe("done");
  await client.prompt(two, "say Second.");
  expect(model.lastRequest).not.toContain("Only here");
  expect((await client.ask("session/close", { sessionId: two })).result).toEqual({});
  expect((await client.prompt(one, "say Still there.")).result).toEqual({ stopReason: "end_turn" });
  expect(await client.end()).toBe(0);
});

test.each(["in the first session", "in another session"])(
  "stops what a command started %s when the editor closes the input",
  async (where) => {
    const { sandbox, env, args } = await project();
    const client = await AcpClient.start(sandbox, { env, args, answer: select("allow") });
    let sessionId = await client.open(sandbox.project);
    if (where === "in another session") sessionId = await client.open(sandbox.project);
    const command = "setsid sleep 300 & echo $! > child; echo $$ > pid; sleep 300";
    void client.prompt(sessionId, `call run_bash ${JSON.stringify({ command })}`);
    const pids = [await pidIn(join(sandbox.project, "pid")), await pidIn(join(sandbox.project, "child"))];
    expect(await client.end()).toBe(0);
    for (const pid of pids) await gone(pid);
  },
);

test("leaves no process when the editor is killed", async () => {
  const { sandbox, env, args } = await project();
  const client = await AcpClient.start(sandbox, { env, args, answer: select("allow") });
  const [first, second] = [await client.open(sandbox.project), await client.open(sandbox.project)];
  for (const [n, sessionId] of [first, second].entries()) {
    const command = `echo $$ > pid${n}; echo $PPID > parent${n}; sleep 300`;
    void client.prompt(sessionId, `call run_bash ${JSON.stringify({ command })}`);
  }
  const pids: number[] = [];
  for (const name of ["pid0", "pid1", "parent0", "parent1"])
    pids.push(await pidIn(join(sandbox.project, name)));
  // What the kernel does when the editor dies: both pipes are gone immediately.
  client.child.stdin.destroy();
  client.child.stdout.destroy();
  client.child.stderr.destroy();
  for (const pid of pids) await gone(pid);
});

test("stops a cancelled command and reports its call as failed", async () => {
  const { sandbox, env, args } = await project();
  const client = await AcpClient.start(sandbox, { env, args, answer: select("allow") });
  const sessionId = await client.open(sandbox.project);
  const command = "echo $$ > pid; sleep 300";
  const answer = client.prompt(sessionId, `call run_bash ${JSON.stringify({ command })}`);
  const pid = await pidIn(join(sandbox.project, "pid"));
  client.send({ method: "session/cancel", params: { sessionId } });
  expect((await answer).result).toEqual({ stopReason: "cancelled" });
  await gone(pid);
  expect(client.updates("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
  expect((await client.prompt(sessionId, "say Again.")).result).toEqual({ stopReason: "end_turn" });
  await client.end();
});

test("keeps a read-only session read-only after it is loaded, and its copy too", async () => {
  const { sandbox, env, args } = await project();
  const cwd = sandbox.project;
  const first = await AcpClient.start(sandbox, { env, args });
  const sessionId = await first.open(cwd);
  await first.ask("session/set_mode", { sessionId, modeId: "read-only" });
  await first.ask("session/set_config_option", { sessionId, configId: "model", value: "other" });
  await first.prompt(sessionId, "say Kept.");
  await first.end();
  const second = await AcpClient.start(sandbox, { env, args, answer: select("allow") });
  const loaded = await second.ask("session/load", { sessionId, cwd, mcpServers: [] });
  expect(loaded.result.modes.currentModeId).toBe("read-only");
  expect(loaded.result.configOptions).toMatchObject([{ currentValue: "other" }, {}]);
  const write = 'call write_file {"path":"a.txt","content":"x"}\nthen say done';
  await second.prompt(sessionId, write);
  const forked = await second.ask("session/fork", { sessionId, cwd, mcpServers: [] });
  expect(forked.result.modes.currentModeId).toBe("read-only");
  expect(forked.result.sessionId).not.toBe(sessionId);
  await second.prompt(forked.result.sessionId, write);
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  await second.prompt(forked.result.sessionId, "/mode ask");
  expect(second.updates("current_mode_update", forked.result.sessionId)).toMatchObject([
    { currentModeId: "ask" },
  ]);
  await second.prompt(forked.result.sessionId, write);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("x");
  expect((await second.ask("session/list", { cwd })).result.sessions).toHaveLength(2);
  await second.end();
});

test("runs the commands of the chat in an editor", async () => {
  const { sandbox, env, args } = await project();
  const client = await AcpClient.start(sandbox, { env, args });
  const sessionId = await client.open(sandbox.project);
  const said = async (command: string): Promise<string> => {
    const before = client.said(sessionId).length;
    await client.prompt(sessionId, command);
    return client.said(sessionId).slice(before);
  };
  expect(await said("/tools")).toContain("run_bash");
  expect(await said("/disable run_bash")).toBe("run_bash is off in this chat.");
  expect(await said("/context")).toContain("No request yet.");
  expect(await said("/permissions")).toContain("Mode: ask");
  expect(await said("/model other")).toContain("other answers");
  expect(client.updates("config_option_update", sessionId).at(-1).configOptions[0]).toMatchObject({
    currentValue: "other",
  });
  expect(await said("/status")).not.toBe("");
  await client.end();
});

test("names the key to set to an editor without one", async () => {
  const sandbox = new Sandbox();
  const client = new AcpClient(sandbox, { env: { AGENT_LOCAL_PORTS: "" } });
  const hello = await client.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  expect(hello.result.authMethods).toMatchObject([{ id: "key", name: "Set a key" }]);
  const { error } = await client.ask("session/new", { cwd: sandbox.project, mcpServers: [] });
  expect(error).toMatchObject({ code: -32000, message: expect.stringContaining("OPENAI_API_KEY") });
  const again = await client.ask("authenticate", { methodId: "key" });
  expect(again.error?.message).toContain("No model can answer");
  expect(await client.end()).toBe(0);
});

test("reverts a rename by a language server in several files with one undo", async () => {
  const files = { "a.tst": "alpha\r\nuse(alpha)\r\n", "b.tst": "see alpha here" };
  const { sandbox, model, env, args } = await project();
  const paths = Object.entries(files).map(([name, text]) => sandbox.write(name, text));
  const server = {
    command: [process.execPath, LSP_SERVER, "pull"],
    extensions: [".tst"],
    env: { LSP_FILES: paths[1] },
  };
  const packs = ["@agent/preset-default", [LSP_PACK, { servers: { test: server } }]];
  sandbox.write("agent.config.json", JSON.stringify({ packs }));
  const client = await AcpClient.start(sandbox, { env, args, answer: select("allow") });
  const sessionId = await client.open(sandbox.project);
  const contents = (): string[] => paths.map((path) => readFileSync(path, "utf8"));

  const call = 'call lsp_rename {"path":"a.tst","line":1,"symbol":"alpha","new_name":"beta"}';
  // A rename is refused while the server starts.
  do await client.prompt(sessionId, `${call}\nthen say Done.`);
  while (model.lastRequest.includes("still loading") && !model.lastRequest.includes("Renamed alpha"));
  expect(contents()).toEqual(["beta\r\nuse(beta)\r\n", "see beta here"]);
  await client.prompt(sessionId, "/undo");
  expect(contents()).toEqual(Object.values(files));
  expect(client.said()).toContain("Undid 2 changes");
});
