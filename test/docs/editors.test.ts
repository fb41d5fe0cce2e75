import { basename } from "node:path";
import { createInterface } from "node:readline";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { snippets } from "./pages.js";
import { Workplace } from "./workplace.js";

/** What an editor starts, as a settings block of docs/mcp-and-editors.md tells it to. */
interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** The names of the variables that the block passes on. */
  readonly env: readonly string[];
}

const ANSWER = "Hello";
const model = new LLMock({ port: 0 });
model.on({ userMessage: /[\s\S]/ }, { content: ANSWER });
beforeAll(async () => void (await model.start()));
afterAll(() => model.stop());

function fromJson(code: string): Launch {
  const { agent } = JSON.parse(code).agent_servers;
  return { command: agent.command, args: agent.args, env: [] };
}

/** Reads a block of Lua by the names of its fields: it holds one command. */
function fromLua(code: string): Launch {
  const strings = (field: RegExp): string[] =>
    [...(field.exec(code)?.[1] ?? "").matchAll(/"([^"]*)"/g)].map(([, text = ""]) => text);
  const [command = "", ...args] = [
    ...strings(/command = ("[^"]*")/),
    ...strings(/args = \{([^}]*)\}/),
    ...strings(/default = \{([^}]*)\}/),
  ];
  const named = code.matchAll(/(\w+) = os\.getenv\("\1"\)/g);
  return { command, args, env: [...named].map(([, name = ""]) => name) };
}

test.each<[editor: string, heading: string, read: (code: string) => Launch, passesOn: readonly string[]]>([
  ["Zed", "zed", fromJson, []],
  ["JetBrains", "jetbrains", fromJson, []],
  // It hands the agent no variable but PATH and those that its block names.
  ["avante.nvim", "neovim", fromLua, ["HOME", "OPENAI_API_KEY"]],
  ["CodeCompanion", "neovim:2", fromLua, []],
])("starts with the settings for %s an agent that answers", async (_, heading, read, passesOn) => {
  const snippet = snippets().find((one) => one.id === `docs/mcp-and-editors.md#${heading}`);
  const { command, args, env } = read(snippet?.code ?? "");
  expect(env).toEqual(passesOn);
  const workplace = Workplace.create(model);
  // The directory in which it is installed is the reader's own.
  const agent = workplace.start(basename(command), args, workplace.vendors);
  const lines = createInterface({ input: agent.stdout })[Symbol.asyncIterator]();
  const said: string[] = [];
  let requests = 0;
  const ask = async (method: string, params: object) => {
    const id = ++requests;
    agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`The agent ended before it answered ${method}.`);
      const message = JSON.parse(value);
      if (message.id === id && message.method === undefined) return message.result;
      const { sessionUpdate, content } = message.params.update;
      if (sessionUpdate === "agent_message_chunk") said.push(content.text);
    }
  };
  const initialized = await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  expect(initialized).toMatchObject({ protocolVersion: 1, agentInfo: { name: "agent" } });
  const { sessionId } = await ask("session/new", { cwd: workplace.directory, mcpServers: [] });
  const prompt = [{ type: "text", text: "Hi" }];
  expect(await ask("session/prompt", { sessionId, prompt })).toEqual({ stopReason: "end_turn" });
  expect(said.join("")).toBe(ANSWER);
  agent.stdin.end();
});
