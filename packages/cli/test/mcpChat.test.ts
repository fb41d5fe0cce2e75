import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { BIN, Sandbox, scripted } from "./agent.js";
import { hasTmux, TestTerminal } from "./terminal.js";

const SERVER = fileURLToPath(new URL("../../tools-mcp/test/fixtures/server.mjs", import.meta.url));

describe.skipIf(!hasTmux)("MCP servers in the chat (skipped without tmux)", () => {
  let terminal: TestTerminal | undefined;
  let sandbox = new Sandbox();
  afterEach(() => terminal?.close());

  /** The built command in a terminal, with one server whose tools were approved and a model with these answers. */
  async function start(
    behaviour: Record<string, unknown>,
    answers: Parameters<typeof scripted>[0],
    env: Readonly<Record<string, string>> = {},
  ): Promise<TestTerminal> {
    sandbox = new Sandbox();
    const server = { command: process.execPath, args: [SERVER, JSON.stringify(behaviour)], enable: true };
    const packs = ["@agent/preset-default", ["@agent/tools-mcp", { servers: { docs: server } }]];
    sandbox.write("agent.config.mjs", scripted(answers, `packs: ${JSON.stringify(packs)}, mode: "auto",`));
    expect((await sandbox.run(["mcp", "update", "--yes", "--trust"])).code).toBe(0);
    const variables = { HOME: sandbox.home, AGENT_LOCAL_PORTS: "", ...env };
    terminal = new TestTerminal([process.execPath, BIN], { cwd: sandbox.project, env: variables });
    await terminal.until("/help lists the commands.");
    return terminal;
  }

  const ASKS = { tools: [{ name: "asks" }] };

  test("asks a question of a server under its name, and takes the answer field by field", async () => {
    const chat = await start(ASKS, [["mcp__docs__asks", {}], "Done."]);
    chat.send("go");
    await chat.until(/\? the MCP server "docs" asks:\n│ What is your name\?/);
    await chat.until(/Name · type an answer/);
    chat.send("Ada");
    await chat.until(/colour \(optional\)/);
    chat.type("blue");
    await chat.until("❯ blue");
    chat.press("Enter");
    await chat.until(/│ name: Ada\n│ colour: blue/);
    await chat.until("❯ send this");
    chat.press("Enter");
    await chat.until(/"action":"accept","content":\{"name":"Ada","colour":"blue"\}/);
    await chat.until("Done.");
  });

  test("lets the user refuse a question, or close it with escape, and keeps what was typed before", async () => {
    const chat = await start(ASKS, [["mcp__docs__asks", {}], ["mcp__docs__asks", {}], "Done."]);
    chat.send("go");
    await chat.until(/Name · type an answer/);
    chat.send("Ada");
    await chat.until(/colour/);
    chat.press("Enter");
    await chat.until("❯ send this");
    chat.press("Down");
    await chat.until("❯ no, refuse");
    chat.press("Enter");
    await chat.until(/"action":"decline"/);
    await chat.until(/What is your name\?[\s\S]*What is your name\?[\s\S]*Name · type an answer/);
    chat.press("Escape");
    await chat.until(/"action":"cancel"/);
    await chat.until("Done.");
  });

  test("asks the question as a line in plain lines as well", async () => {
    const chat = await start(ASKS, [["mcp__docs__asks", {}], "Done."], { TERM: "dumb" });
    chat.send("go");
    await chat.until(/the MCP server "docs" asks:[\s\S]*Name:/);
    chat.send("Ada");
    await chat.until(/colour[\s\S]*1 {2}red[\s\S]*Number/);
    chat.send("1");
    await chat.until(/1 {2}send this[\s\S]*Number/);
    chat.send("1");
    await chat.until(/"name":"Ada","colour":"red"/);
  });

  test("shows an address whole and never opens it", async () => {
    const behaviour = {
      tools: [{ name: "asks" }],
      question: { mode: "url", url: "https://issuer.example/pay?id=1" },
    };
    const chat = await start(behaviour, [["mcp__docs__asks", {}], "Done."]);
    chat.send("go");
    await chat.until("It wants you to open: https://issuer.example/pay?id=1");
    // Refusing comes first: one careless Enter agrees to nothing.
    await chat.until("❯ no, refuse");
    chat.press("Enter");
    await chat.until(/"action":"decline"/);
  });

  test("shows whatever a server writes into a question or a prompt as text", async () => {
    const evil = "\u001b[2J\u001b[31mX\u202e";
    const shown = String.raw`\\x1b\[2J\\x1b\[31mX\\u202e`;
    const properties = {
      [`${evil}name`]: { type: "string", description: `${evil}why`, default: `${evil}me` },
    };
    const behaviour = {
      tools: [{ name: "asks" }],
      question: { message: `${evil}who?`, requestedSchema: { type: "object", properties } },
      capabilities: { prompts: {} },
      prompts: [
        { name: "review", description: `${evil}reviews`, arguments: [{ name: evil, required: true }] },
      ],
    };
    const chat = await start(behaviour, [["mcp__docs__asks", {}], "Done."]);
    chat.type("/docs");
    await chat.until(new RegExp(`/docs:review.*${shown}reviews`));
    chat.press("Tab");
    await chat.until("› /docs:review");
    chat.press("Enter");
    await chat.until(new RegExp(`${shown} missing. Usage: /docs:review ${shown}=…`));
    chat.send("go");
    await chat.until(new RegExp(`│ ${shown}who\\?[\\s\\S]*│ ${shown}why`));
    await chat.until(new RegExp(`${shown}name .*\\n.*\\n❯ ${shown}me`));
    // Nothing was cleared.
    expect(chat.screen()).toContain("/help lists the commands.");
  });

  test("offers prompts as commands with arguments, completed after a slash", async () => {
    const prompts = [
      { name: "review", description: "Reviews a change", arguments: [{ name: "number", required: true }] },
    ];
    const chat = await start({ capabilities: { prompts: {} }, prompts }, ["Reviewed."]);
    chat.type("/docs");
    await chat.until(/❯ \/docs:review.*Reviews a change/);
    chat.press("Tab");
    await chat.until("› /docs:review");
    chat.press("Enter");
    await chat.until("number missing. Usage: /docs:review number=…");
    chat.send("/docs:review 42");
    await chat.until("Reviewed.");
  });

  test("applies approval from another terminal to a running chat, and explains in /tools why a tool is off", async () => {
    const folder = new Sandbox().project;
    const toolsFile = join(folder, "tools.json");
    const list = (description: string) =>
      writeFileSync(toolsFile, JSON.stringify([{ name: "announces", description }]));
    list("Announces.");
    const chat = await start({ toolsFile }, [
      ["mcp__docs__announces", { times: 1 }],
      "First.",
      ["mcp__docs__announces", {}],
      "Second.",
      ["mcp__docs__announces", {}],
      "Third.",
    ]);
    list("Announces loudly.");
    chat.send("one");
    await chat.until("First.");
    chat.send("two");
    await chat.until(/Tool not available: mcp__docs__announces \(its tool[\s\S]*Second\./);
    chat.send("/tools");
    await chat.until(/off +mcp__docs__announces +its tool "announces" is not/);
    expect((await sandbox.run(["mcp", "update", "--yes"])).code).toBe(0);
    chat.send("/tools");
    await chat.until(/on +mcp__docs__announces[\s\S]*Announces loudly\./);
    chat.send("three");
    await chat.until(/✓[\s\S]*Third\./);
  });

  test("completes mentions of resources, and returns the message for a wrong one", async () => {
    const chat = await start({ capabilities: { resources: {} } }, ["Read."]);
    chat.type("see @do");
    await chat.until(/❯ docs:/);
    chat.press("Tab");
    await chat.until(/❯ docs:file:\/\/\/a\.md +a/);
    chat.type("b.md");
    await chat.until(/❯ docs:.*b\.md/);
    chat.press("Tab");
    await chat.until("› see @docs:file:///b.md");
    chat.press("Enter");
    await chat.until("attached: docs:file:///b.md");
    await chat.until("Read.");
    chat.send("see @docs:nothing");
    await chat.until(/MCP server "docs": .*no resource nothing/);
    await chat.until(/› see @docs:nothing/);
  });
});
