import { Conversation } from "@agent/core";
import { expect, test } from "vitest";
import { connectServers } from "../src/manage/connect.js";
import { connected, fixtureServer } from "./harness.js";

test("connects immediately servers that were just named, and reports what is wrong with one next to its name", async () => {
  const registry = await connected({});
  const servers = {
    good: fixtureServer(),
    broken: fixtureServer({ exitAtOnce: 3 }),
    "not a name": fixtureServer(),
  };
  const problems = await connectServers(registry, servers, { context: new Conversation() });
  expect(problems.sort()).toEqual([
    expect.stringContaining("MCP server broken: It ended with exit code 3."),
    expect.stringContaining('MCP server not a name: @agent/tools-mcp: the server name "not a name"'),
  ]);
  expect((await registry.run("mcp__good__echo", { a: 1 })).text).toBe('{"a":1}');
});

test("sets aside a tool of a server that another server of the same name already has, and reports it", async () => {
  const registry = await connected({ docs: fixtureServer() });
  const servers = { docs: fixtureServer({ tools: [{ name: "echo" }, { name: "fails" }] }) };
  const problems = await connectServers(registry, servers, { context: new Conversation() });
  expect(problems).toEqual([expect.stringMatching(/^MCP server docs: "echo" is set aside: .*already/)]);
  expect(registry.isToolEnabled("mcp__docs__fails")).toBe(true);
});

test("names the first of the tools that cannot be used with their reason, and counts the others", async () => {
  const raw = Array.from({ length: 20 }, (_, n) => ({ name: `bad_${n}`, inputSchema: 1 }));
  const registry = await connected({});
  const servers = { docs: fixtureServer({ raw }) };
  const problems = await connectServers(registry, servers, { context: new Conversation() });
  expect(problems).toHaveLength(6);
  expect(problems[0]).toContain('MCP server docs: "bad_0" is set aside: its inputSchema is number 1');
  expect(problems[5]).toBe("MCP server docs: 15 more are set aside");
});
