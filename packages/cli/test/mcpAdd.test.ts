import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { hasTerminal, Sandbox } from "./agent.js";

const SERVER = fileURLToPath(new URL("../../tools-mcp/test/fixtures/server.mjs", import.meta.url));
const COMMAND = [process.execPath, SERVER, "{}"];
const inTerminal = test.skipIf(!hasTerminal());

function configOf(sandbox: Sandbox, name = "agent.config.json") {
  return JSON.parse(readFileSync(join(sandbox.project, name), "utf8"));
}

test("adds a server from a pasted command line with its tools approved and turned on, and undoes it with remove", async () => {
  const sandbox = new Sandbox();
  const added = await sandbox.run(["mcp", "add", "--yes", "--name", "docs", "--enable", "*", ...COMMAND]);
  expect(added).toMatchObject({ code: 0 });
  expect(added.stderr).toContain(`docs runs: ${process.execPath}`);
  expect(added.stderr).toContain("+ docs echo");
  expect(configOf(sandbox)).toEqual({
    packs: [
      "@agent/preset-default",
      [
        "@agent/tools-mcp",
        { servers: { docs: { command: COMMAND[0], args: COMMAND.slice(1), enable: true } } },
      ],
    ],
  });
  // The config is new and of this command: it is trusted.
  const called = await sandbox.run(["tool", "run", "mcp__docs__echo", "--args", '{"a":1}']);
  expect(called.stdout.trim()).toBe('{"a":1}');
  const removed = await sandbox.run(["mcp", "remove", "docs", "--json"]);
  expect(JSON.parse(removed.stdout)).toMatchObject({ v: 1, server: "docs", hadLogin: false });
  expect(configOf(sandbox).packs[1]).toEqual(["@agent/tools-mcp", { servers: {} }]);
  expect(configOf(sandbox, "mcp.lock.json").servers).toEqual({});
  expect((await sandbox.run(["mcp", "remove", "docs"])).code).toBe(2);
});

test.each([
  ["servers.json", JSON.stringify({ mcpServers: { docs: { command: COMMAND[0], args: COMMAND.slice(1) } } })],
  [
    "servers.toml",
    `[mcp_servers.docs]\ncommand = ${JSON.stringify(COMMAND[0])}\nargs = ${JSON.stringify(COMMAND.slice(1))}\n`,
  ],
])("accepts options after a file with servers: %s", async (name, content) => {
  const sandbox = new Sandbox();
  sandbox.write(name, content);
  expect(await sandbox.run(["mcp", "add", name, "--yes"])).toMatchObject({ code: 0 });
  expect(configOf(sandbox).packs[1][1].servers).toMatchObject({ docs: { command: COMMAND[0] } });
});

test("adds the server to a config in package.json, and keeps the rest of the file byte for byte", async () => {
  const sandbox = new Sandbox();
  const around = [
    '{"name": "x",\r\n   "agent": ',
    ',\r\n  "odd" :[ 1,2 ],   "last": "\\u00e9 // {"}',
  ] as const;
  const file = sandbox.write("package.json", around.join('{"model":"m"}'));
  expect((await sandbox.run(["tools", "--trust"])).code).toBe(0);
  const added = await sandbox.run(["mcp", "add", "--yes", "--name", "docs", "--enable", "*", ...COMMAND]);
  expect(added).toMatchObject({ code: 0 });
  expect(added.stdout).toContain(`docs is in "${file}"`);
  const text = readFileSync(file, "utf8");
  expect(text.startsWith(around[0]) && text.endsWith(around[1])).toBe(true);
  expect(JSON.parse(text).agent.packs[1][1].servers).toHaveProperty("docs");
  // It was trusted before, and is trusted as it is now.
  const called = await sandbox.run(["tool", "run", "mcp__docs__echo", "--args", '{"a":1}']);
  expect(called.stdout.trim()).toBe('{"a":1}');
  expect((await sandbox.run(["mcp", "remove", "docs"])).code).toBe(0);
  expect(JSON.parse(readFileSync(file, "utf8")).agent.packs[1][1]).toEqual({ servers: {} });
  expect(existsSync(join(sandbox.project, "agent.config.json"))).toBe(false);
});

test("leaves a package.json without a config unchanged", async () => {
  const sandbox = new Sandbox();
  const file = sandbox.write("package.json", '{"name":"x","keywords":["agent"]}');
  expect((await sandbox.run(["mcp", "add", "--yes", "--name", "docs", ...COMMAND])).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe('{"name":"x","keywords":["agent"]}');
  expect(configOf(sandbox).packs[1][1].servers).toHaveProperty("docs");
});

test("starts and writes nothing without a terminal unless --yes is given", async () => {
  const sandbox = new Sandbox();
  const refused = await sandbox.run(["mcp", "add", ...COMMAND]);
  expect(refused.code).toBe(4);
  expect(refused.stderr).toContain("runs: ");
  expect(existsSync(join(sandbox.project, "agent.config.json"))).toBe(false);
});

test("writes a secret of a pasted block to no file and no output, and names the variable", async () => {
  const sandbox = new Sandbox();
  const secret = "ghp_0123456789abcdefghij";
  const block = {
    mcpServers: {
      docs: {
        command: COMMAND[0],
        args: [SERVER, '{"tools":[{"name":"environment"}]}'],
        env: { GITHUB_TOKEN: secret },
      },
    },
  };
  const added = await sandbox.run([
    "mcp",
    "add",
    JSON.stringify(block),
    "--yes",
    "--json",
    "--enable",
    "environment",
  ]);
  expect(added.code).toBe(0);
  expect(JSON.parse(added.stdout)).toMatchObject({
    servers: [{ server: "docs", added: true, tools: 1, variables: ["GITHUB_TOKEN"] }],
  });
  const files = ["agent.config.json", "mcp.lock.json"].map((name) =>
    readFileSync(join(sandbox.project, name), "utf8"),
  );
  expect([...files, added.stdout, added.stderr].join()).not.toContain(secret);
  expect(configOf(sandbox).packs[1][1].servers.docs).toMatchObject({
    env: ["GITHUB_TOKEN"],
    enable: ["environment"],
  });
});

test("does not write a server that does not start", async () => {
  const sandbox = new Sandbox();
  const added = await sandbox.run(["mcp", "add", "--yes", "no-such-program-here", "--flag"]);
  expect(added.code).toBe(3);
  expect(added.stderr).toContain('The program "no-such-program-here" was not found');
  expect(existsSync(join(sandbox.project, "agent.config.json"))).toBe(false);
});

test("offers a .mcp.json of the project and never uses it without asking", async () => {
  const sandbox = new Sandbox();
  const foreign = { mcpServers: { docs: { command: COMMAND[0], args: COMMAND.slice(1) } } };
  sandbox.write(".mcp.json", JSON.stringify(foreign));
  const listed = await sandbox.run(["mcp", "list"]);
  expect(listed.stdout).toContain("Not used: docs of .mcp.json. Import them: agent mcp add .mcp.json");
  expect((await sandbox.run(["tools"])).stdout).not.toContain("mcp__");
  expect((await sandbox.run(["mcp", "add", "--yes"])).code).toBe(0);
  const { servers, offered } = JSON.parse((await sandbox.run(["mcp", "list", "--json"])).stdout);
  expect(servers).toMatchObject([{ name: "docs", status: "approved" }]);
  expect(offered).toEqual([]);
});

test("shows before the start everything that a server of a third-party file would get", async () => {
  const sandbox = new Sandbox();
  const env = { NODE_OPTIONS: "--import ./evil.mjs", API_KEY: "pasted-secret-0123456789" };
  const docs = { command: COMMAND[0], args: COMMAND.slice(1), env, cwd: "/tmp" };
  const web = { url: "https://docs.example/mcp", headers: { "X-Team": "red\u001b[2J" } };
  sandbox.write(".mcp.json", JSON.stringify({ mcpServers: { docs, web } }));
  const { stderr } = await sandbox.run(["mcp", "add"]);
  expect(stderr).toContain("  in the directory /tmp\n");
  expect(stderr).toContain("  with the variable NODE_OPTIONS='--import ./evil.mjs'\n");
  expect(stderr).toMatch(/variable API_KEY='\$\{API_KEY\}'\n/);
  expect(stderr).toContain("  with the header X-Team: red\\x1b[2J\n");
  expect(stderr).not.toContain("pasted-secret");
});

test("edits a TypeScript config in place, and keeps it trusted", async () => {
  const sandbox = new Sandbox();
  const text = `// mine\nexport default {\n  packs: [\n    "@agent/preset-default", // tools\n  ],\n};\n`;
  sandbox.write("agent.config.ts", text);
  const added = await sandbox.run(["mcp", "add", "--trust", "--yes", "--name", "docs", ...COMMAND]);
  expect(added.code).toBe(0);
  const now = readFileSync(join(sandbox.project, "agent.config.ts"), "utf8");
  expect(now).toContain('    "@agent/preset-default",\n    ["@agent/tools-mcp", { servers: { docs: {');
  expect((await sandbox.run(["mcp", "list"])).stdout).toMatch(/docs +approved +1/);
  expect(added.stdout).toContain("or for one run: agent --enable mcp__docs__echo\n");
  const tools = await sandbox.run(["tools", "--enable", "mcp__docs__*"]);
  expect(tools.stdout).toMatch(/^mcp__docs__echo +on +enabled by --enable/m);
  const unknown = await sandbox.run(["tools", "--enable", "mcp__dosc__*"]);
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no tool "mcp__dosc__*"'),
  });
});

test("leaves a config alone that only a user can edit, and prints what to write", async () => {
  const sandbox = new Sandbox();
  const text = 'const packs = ["@agent/preset-default"];\nexport default { packs };\n';
  sandbox.write("agent.config.mjs", text);
  const added = await sandbox.run(["mcp", "add", "--trust", "--yes", "--name", "docs", ...COMMAND]);
  expect(added.code).toBe(2);
  expect(added.stderr).toContain('["@agent/tools-mcp", { servers: { docs: { command:');
  expect(readFileSync(join(sandbox.project, "agent.config.mjs"), "utf8")).toBe(text);
});

test("writes the user's own config with --user", async () => {
  const sandbox = new Sandbox();
  expect((await sandbox.run(["mcp", "add", "--user", "--yes", "--name", "docs", ...COMMAND])).code).toBe(0);
  expect(existsSync(join(sandbox.project, "agent.config.json"))).toBe(false);
  expect((await sandbox.run(["mcp", "list"])).stdout).toMatch(/docs +approved/);
  expect((await sandbox.run(["mcp", "remove", "docs", "--user"])).code).toBe(0);
});

test.each([
  [["figma-mcp", "--figma-api-key=abcdef01234"], /holds a secret/],
  [["https://x.example/mcp", "surplus"], /surplus is not part of what was pasted/],
  [[], /paste a command line/],
])("refuses %j with a message", async (words, message) => {
  const { code, stderr } = await new Sandbox().run(["mcp", "add", "--yes", ...words]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

inTerminal("in a terminal each step is asked: starting, agreeing, turning on", async () => {
  const sandbox = new Sandbox();
  const result = await sandbox.runInTerminal(
    ["mcp", "add", "--name", "docs", ...COMMAND],
    [
      ["Start it and look at its tools?", "y"],
      ["Approve these tools", "y"],
      ["Turn it on for the model?", "y"],
    ],
  );
  expect(result.code).toBe(0);
  expect(configOf(sandbox).packs[1][1].servers.docs.enable).toBe(true);
  const declined = new Sandbox();
  await declined.runInTerminal(["mcp", "add", ...COMMAND], [["Start it and look at its tools?", "n"]]);
  expect(existsSync(join(declined.project, "agent.config.json"))).toBe(false);
});
