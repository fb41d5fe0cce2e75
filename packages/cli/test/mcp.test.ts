import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Sandbox } from "./agent.js";

const hasBubblewrap =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "true"]).status === 0;
const SERVER = fileURLToPath(new URL("../../tools-mcp/test/fixtures/server.mjs", import.meta.url));

/** A project whose config has one MCP server. */
function project(behaviour: Record<string, unknown> = {}): Sandbox {
  return projectWith({ docs: behaviour });
}

function projectWith(behaviours: Readonly<Record<string, Record<string, unknown>>>): Sandbox {
  const sandbox = new Sandbox();
  const servers = Object.fromEntries(
    Object.entries(behaviours).map(([name, behaviour]) => [
      name,
      { command: process.execPath, args: [SERVER, JSON.stringify(behaviour)], enable: true },
    ]),
  );
  const packs = ["@agent/preset-default", ["@agent/tools-mcp", { servers }]];
  sandbox.write("agent.config.json", JSON.stringify({ packs }));
  return sandbox;
}

test("allows a server's tools after approval", async () => {
  const sandbox = project();
  expect((await sandbox.run(["mcp", "list", "--trust"])).stdout).toContain("not approved");
  const refused = await sandbox.run(["mcp", "update"]);
  expect(refused).toMatchObject({ code: 4 });
  expect(refused.stderr).toContain("+ docs echo");
  expect((await sandbox.run(["mcp", "update", "--yes"])).code).toBe(0);
  const { servers } = JSON.parse((await sandbox.run(["mcp", "list", "--json"])).stdout);
  expect(servers).toMatchObject([{ name: "docs", status: "approved", tools: ["mcp__docs__echo"] }]);
  const called = await sandbox.run(["tool", "run", "mcp__docs__echo", "--args", '{"a":1}']);
  expect(called).toMatchObject({ code: 0 });
  expect(called.stdout.trim()).toBe('{"a":1}');
  expect(JSON.parse(readFileSync(join(sandbox.project, "mcp.lock.json"), "utf8")).lockVersion).toBe(1);
});

test("shows on update what differs in a tool, wherever it is in a long text, and accepts it after approval", async () => {
  const schema = (type: string) => ({ type: "object", properties: { path: { type } } });
  const long = "reads a file. ".repeat(100);
  const tools = (tool: object) => ({ tools: [{ name: "echo", ...tool }] });
  const sandbox = project(tools({ description: `${long}Nothing else.`, inputSchema: schema("string") }));
  expect((await sandbox.run(["mcp", "update", "--yes", "--trust"])).code).toBe(0);
  const call = ["tool", "run", "mcp__docs__echo", "--args", '{"path":"a"}'];
  const changed = { description: `${long}Sends it away.`, inputSchema: schema("array") };
  const config = readFileSync(join(sandbox.project, "agent.config.json"), "utf8");
  const { packs } = JSON.parse(config);
  packs[1][1].servers.docs.args[1] = JSON.stringify(tools(changed));
  sandbox.write("agent.config.json", JSON.stringify({ packs }));
  // The lock holds for the server it was made for.
  expect(await sandbox.run([...call, "--trust"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'Tool not found: mcp__docs__echo. MCP server docs: its command or address is not the one its tools were approved for. Run "agent mcp update docs".',
    ),
  });
  const refused = await sandbox.run(["mcp", "update", "--json"]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toMatch(
    /description was: ….*Nothing else\.\n.*description is now: ….*Sends it away\./,
  );
  expect(refused.stderr).toMatch(/inputSchema was: .*"string".*\n.*inputSchema is now: .*"array"/);
  const agreed = await sandbox.run(["mcp", "update", "--yes", "--json"]);
  expect(JSON.parse(agreed.stdout)).toMatchObject({ v: 1, updated: ["docs"] });
  expect((await sandbox.run([...call.slice(0, 4), '{"path":["a"]}'])).stdout.trim()).toBe('{"path":["a"]}');
});

test("counts what is too long to show, and prints it in full with --json", async () => {
  const description = `reads a file. ${"Harmless. ".repeat(500)}Sends it away.`;
  const sandbox = project({ tools: [{ name: "echo", description }] });
  const { code, stdout, stderr } = await sandbox.run(["mcp", "update", "--trust", "--json"]);
  expect(code).toBe(4);
  expect(stderr).toContain(`… (${description.length - 1000} more characters: --json has them)`);
  expect(JSON.parse(stdout)).toMatchObject({
    updated: [],
    servers: [{ server: "docs", outcome: "refused", added: [{ tool: "echo", description }] }],
  });
});

test("updates the other servers if one does not start", async () => {
  const sandbox = projectWith({ broken: { exitAtOnce: 3 }, docs: {} });
  const { code, stdout } = await sandbox.run(["mcp", "update", "--yes", "--trust", "--json"]);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    updated: ["docs"],
    servers: [{ server: "broken", outcome: "failed", problem: expect.stringContaining("exit code 3") }, {}],
  });
});

test("accepts a server with a name that every object has", async () => {
  const sandbox = projectWith({ constructor: {} });
  expect((await sandbox.run(["mcp", "list", "--trust"])).stdout).toMatch(/constructor +not approved/);
  expect((await sandbox.run(["mcp", "update", "--yes"])).code).toBe(0);
  const called = await sandbox.run(["tool", "run", "mcp__constructor__echo", "--args", '{"a":1}']);
  expect(called.stdout.trim()).toBe('{"a":1}');
});

test("reports on check what works and what was set aside, and fails for a server that does not start", async () => {
  const good = project({
    raw: [
      { name: "good", inputSchema: { type: "object" } },
      { name: "bad", inputSchema: 1 },
    ],
  });
  const { code, stdout } = await good.run(["mcp", "check", "--trust"]);
  expect(code).toBe(0);
  expect(stdout).toContain("✓ docs: 1 tool,");
  expect(stdout).toContain("set aside: bad");
  const approved = await good.run(["mcp", "update", "--yes"]);
  expect(approved.stderr).toMatch(/^\+ docs good: .*\n! docs bad cannot be used: \S/m);
  expect((await good.run(["mcp", "update"])).stderr).not.toContain("cannot be used");
  const broken = await project({ exitAtOnce: 3 }).run(["mcp", "check", "docs", "--trust", "--json"]);
  expect(broken.code).toBe(3);
  expect(JSON.parse(broken.stdout).servers).toMatchObject([{ server: "docs", ok: false }]);
});

test("starts several servers on check, reports them in the order of the config, and fails if one does", async () => {
  const sandbox = new Sandbox();
  const server = (behaviour: object) => ({
    command: process.execPath,
    args: [SERVER, JSON.stringify(behaviour)],
  });
  const servers = Object.fromEntries(
    Array.from({ length: 6 }, (_, at) => [`s${at}`, server(at === 1 ? { exitAtOnce: 1 } : {})]),
  );
  const packs = [["@agent/tools-mcp", { servers }]];
  sandbox.write("agent.config.json", JSON.stringify({ packs }));
  const { code, stdout } = await sandbox.run(["mcp", "check", "--trust"]);
  expect(code).toBe(3);
  const heads = stdout.split("\n").filter((line) => /^[✓✗]/.test(line));
  expect(heads.map((line) => line.slice(0, 4))).toEqual(["✓ s0", "✗ s1", "✓ s2", "✓ s3", "✓ s4", "✓ s5"]);
});

test("reports on list that a lock was edited by hand", async () => {
  const sandbox = project();
  expect((await sandbox.run(["mcp", "update", "--yes", "--trust"])).code).toBe(0);
  const path = join(sandbox.project, "mcp.lock.json");
  sandbox.write("mcp.lock.json", readFileSync(path, "utf8").replace("does echo", "sends files away"));
  expect((await sandbox.run(["mcp", "list"])).stdout).toContain("lock edited by hand");
});

test("names an unknown server with the nearest match", async () => {
  const { code, stderr } = await project().run(["mcp", "check", "dosc", "--trust"]);
  expect(code).toBe(2);
  expect(stderr).toContain('Did you mean "docs"?');
});

test("answers an MCP client with mcp serve, and writes nothing but messages to its output", async () => {
  const sandbox = new Sandbox();
  sandbox.write("a.txt", "text of a");
  const serving = sandbox.start(["mcp", "serve"]);
  const lines = createInterface({ input: serving.stdout })[Symbol.asyncIterator]();
  const ask = async (message: object) => {
    serving.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    return JSON.parse(String((await lines.next()).value));
  };
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  expect(await ask({ id: 1, method: "initialize", params })).toMatchObject({
    result: { serverInfo: { name: "agent" } },
  });
  const read = { name: "read_file", arguments: { path: "a.txt" } };
  expect(await ask({ id: 2, method: "tools/call", params: read })).toMatchObject({
    result: { content: [{ text: "text of a" }] },
  });
  const off = { name: "run_bash", arguments: { command: "true" } };
  expect(await ask({ id: 3, method: "tools/call", params: off })).toMatchObject({
    result: { isError: true },
  });
  serving.stdin.end();
  expect((await once(serving, "exit"))[0]).toBe(0);
});

test("applies the rules of the config to a client of mcp serve: what is denied, and what is asked about", async () => {
  const sandbox = new Sandbox();
  const permissions = { deny: ["read_file(secret.txt)"], ask: ["write_file"] };
  sandbox.write("agent.config.json", JSON.stringify({ permissions }));
  sandbox.write("secret.txt", "the secret");
  sandbox.write("a.txt", "text of a");
  const serving = sandbox.start(["mcp", "serve", "--trust"]);
  const lines = createInterface({ input: serving.stdout })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object) => {
    serving.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return JSON.parse(String((await lines.next()).value));
  };
  const call = async (id: number, name: string, args: object) =>
    (await ask(id, "tools/call", { name, arguments: args })).result.content[0].text;
  const clientInfo = { name: "test", version: "1" };
  await ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  expect(await call(2, "read_file", { path: "secret.txt" })).toBe(
    "Tool call denied: the rule read_file(secret.txt) of the configuration denies it: secret.txt.",
  );
  expect(await call(3, "write_file", { path: "a.txt", content: "other" })).toContain("no one approved it");
  expect(await call(4, "read_file", { path: "a.txt" })).toBe("text of a");
  serving.stdin.end();
  expect((await once(serving, "exit"))[0]).toBe(0);
});

/** Calls `run_bash` over standard input and output, as a client that cannot ask its user. */
async function bashOverMcp(sandbox: Sandbox, command: string, flags: readonly string[]) {
  const serving = sandbox.start(["mcp", "serve", "--enable", "run_bash", ...flags]);
  onTestFinished(() => void serving.kill());
  const problems = text(serving.stderr);
  const lines = createInterface({ input: serving.stdout })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object) => {
    serving.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return JSON.parse(String((await lines.next()).value)).result;
  };
  const clientInfo = { name: "test", version: "1" };
  await ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  const { content } = await ask(2, "tools/call", { name: "run_bash", arguments: { command } });
  serving.stdin.end();
  return { answer: String(content[0].text), stderr: await problems };
}

test.skipIf(!hasBubblewrap)(
  "runs commands in the sandbox in auto mode with mcp serve, and reports it (skipped without bubblewrap)",
  async () => {
    const sandbox = new Sandbox();
    const [inside, outside] = [join(sandbox.project, "made"), join(sandbox.home, "outside")];
    const command = "touch made ../outside";
    const { stderr } = await bashOverMcp(sandbox, command, ["--mode", "auto"]);
    expect([existsSync(inside), existsSync(outside)]).toEqual([true, false]);
    expect(stderr).toMatch(/Commands run in a sandbox \(bubblewrap\).*--no-sandbox/);
    sandbox.write("agent.config.json", JSON.stringify({ mode: "auto" }));
    await bashOverMcp(sandbox, command, ["--trust"]);
    expect(existsSync(outside)).toBe(false);
    await bashOverMcp(sandbox, command, ["--mode", "auto", "--no-sandbox"]);
    expect(existsSync(outside)).toBe(true);
  },
  300_000,
);

test("asks about a command outside the sandbox with mcp serve in auto mode, unless the user opted out", async () => {
  const sandbox = new Sandbox();
  const packs = [["@agent/tools-bash", { sandbox: "off" }]];
  sandbox.write("agent.config.json", JSON.stringify({ mode: "auto", packs }));
  const made = join(sandbox.project, "made");
  const denied = await bashOverMcp(sandbox, "touch made", ["--trust"]);
  expect([denied.answer, existsSync(made)]).toEqual(["Tool call denied: no one approved it.", false]);
  expect(denied.stderr).toMatch(/run_bash would run outside the sandbox.*--no-sandbox/);
  expect((await bashOverMcp(sandbox, "touch made", ["--no-sandbox", "--mode", "ask"])).answer).toContain(
    "denied",
  );
  await bashOverMcp(sandbox, "touch made", ["--no-sandbox"]);
  expect(existsSync(made)).toBe(true);
});

test("prints address and token of mcp serve --http on standard error, serves only clients with the token, and ends on a signal", async () => {
  const sandbox = new Sandbox();
  sandbox.write("a.txt", "text of a");
  const serving = sandbox.start(["mcp", "serve", "--http"]);
  onTestFinished(() => void serving.kill());
  const output = text(serving.stdout);
  let said = "";
  for await (const chunk of serving.stderr) {
    said += String(chunk);
    if (/Bearer \S+\n/.test(said)) break;
  }
  const [, url = "", token = ""] = /^MCP at (\S+)\nAuthorization: Bearer (\S+)\n/m.exec(said) ?? [];
  expect(new URL(url).hostname).toBe("127.0.0.1");
  const call = async (authorization: string) =>
    await fetch(url, {
      method: "POST",
      headers: {
        authorization,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: "read_file", arguments: { path: "a.txt" } },
      }),
    });
  expect((await call("Bearer guessed")).status).toBe(401);
  expect(await (await call(`Bearer ${token}`)).text()).toContain("text of a");
  serving.kill("SIGTERM");
  await once(serving, "exit");
  expect(await output).toBe("");
});

test("refuses an invalid port with a message", async () => {
  const { code, stderr } = await new Sandbox().run(["mcp", "serve", "--http", "--port", "99999"]);
  expect(code).toBe(2);
  expect(stderr).toContain('--port must be a number from 0 to 65535, got "99999".');
});

test("answers an editor with acp and uses the editor's MCP servers", async () => {
  const sandbox = new Sandbox();
  const serving = sandbox.start(["acp", "--provider", "offline"]);
  const lines = createInterface({ input: serving.stdout })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object) => {
    serving.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const message = JSON.parse(String((await lines.next()).value));
      if (message.id === id) return message;
    }
  };
  expect(await ask(1, "initialize", { protocolVersion: 1 })).toMatchObject({
    result: { protocolVersion: 1 },
  });
  const mcpServers = [{ name: "docs", command: process.execPath, args: [SERVER, "{}"], env: [] }];
  const created = await ask(2, "session/new", { cwd: sandbox.project, mcpServers });
  expect(created).toMatchObject({ result: { modes: { currentModeId: "ask" } } });
  const prompt = [{ type: "text", text: "list the files" }];
  const answer = await ask(3, "session/prompt", { sessionId: created.result.sessionId, prompt });
  expect(answer).toMatchObject({ result: { stopReason: "end_turn" } });
  serving.stdin.end();
  expect((await once(serving, "exit"))[0]).toBe(0);
});

test("renames a server of the editor with the name of one in the config, and both can be used", async () => {
  const sandbox = project();
  expect((await sandbox.run(["mcp", "update", "--yes", "--trust"])).code).toBe(0);
  const serving = sandbox.start(["acp", "--provider", "offline"]);
  onTestFinished(() => void serving.kill());
  const lines = createInterface({ input: serving.stdout })[Symbol.asyncIterator]();
  const seen: string[] = [];
  const ask = async (id: number, method: string, params: object) => {
    serving.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      seen.push(String((await lines.next()).value));
      const message = JSON.parse(seen.at(-1) ?? "");
      if (message.id === id) return message.result;
    }
  };
  await ask(1, "initialize", { protocolVersion: 1 });
  const mcpServers = [{ name: "docs", command: process.execPath, args: [SERVER, "{}"], env: [] }];
  const { sessionId } = await ask(2, "session/new", { cwd: sandbox.project, mcpServers });
  // The offline assistant answers with the tools it has.
  await ask(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "what can you do?" }] });
  expect(seen.join("\n")).toMatch(/mcp__docs__echo[\s\S]*mcp__docs-2__echo/);
  const told = "MCP server docs of the editor is called docs-2 here";
  while (!seen.join("\n").includes(told)) seen.push(String((await lines.next()).value));
});

test("shows with tool run --help the arguments of a tool that the model finds by searching", async () => {
  const inputSchema = {
    type: "object",
    properties: {
      repo: { type: "string", description: "owner/name" },
      depth: { type: "integer", default: 2 },
    },
    required: ["repo", "depth"],
  };
  const sandbox = project({ tools: [{ name: "echo", inputSchema }] });
  const { packs } = JSON.parse(readFileSync(join(sandbox.project, "agent.config.json"), "utf8"));
  packs[1][1].maxSchemaShare = 0.000_001;
  sandbox.write("agent.config.json", JSON.stringify({ packs }));
  expect((await sandbox.run(["mcp", "update", "--yes", "--trust"])).code).toBe(0);
  const { stdout } = await sandbox.run(["tool", "run", "mcp__docs__echo", "--help"]);
  expect(stdout).toMatch(/--repo +string +required\. owner\/name/);
  expect(stdout).toMatch(/--depth +integer +Default: 2/);
  const called = await sandbox.run(["tool", "run", "mcp__docs__echo", "--repo", "a/b"]);
  expect(JSON.parse(called.stdout)).toEqual({ repo: "a/b", depth: 2 });
});

test("shows instructions of a server before approval, and again when they change", async () => {
  const sandbox = project({ instructions: "Search first.\nThen read." });
  const refused = await sandbox.run(["mcp", "update", "--trust"]);
  expect(refused).toMatchObject({ code: 4 });
  expect(refused.stderr).toContain("+ docs tells the model: Search first.");
  expect((await sandbox.run(["mcp", "update", "--yes"])).code).toBe(0);
  const lock = join(sandbox.project, "mcp.lock.json");
  const agreed = JSON.parse(readFileSync(lock, "utf8"));
  expect(agreed.servers.docs.instructions).toBe("Search first.\nThen read.");
  agreed.servers.docs.instructions = "Search never.";
  sandbox.write("mcp.lock.json", JSON.stringify(agreed));
  const changed = await sandbox.run(["mcp", "update"]);
  expect(changed).toMatchObject({ code: 4 });
  expect(changed.stderr).toContain("- docs tells the model: Search never.");
});
