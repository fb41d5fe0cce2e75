// A program that records a conversation and is killed at any moment. It says on standard output what is complete:
// "result <text>" once a tool's result was recorded, "answer <text>" once a message was answered.
import { writeSync } from "node:fs";
import { Agent, Conversation, defineTool, loadSession, recordSession } from "../dist/index.js";
import { scriptedProvider } from "../dist/replay.js";

const [path, name] = process.argv.slice(2);
const say = (line) => writeSync(1, `${line}\n`);

const session = await loadSession(path).catch(() => undefined);
const conversation = new Conversation(session ? { session } : {});
recordSession(conversation, path, { onError: (error) => say(`failed ${error.message}`) });
conversation.onChange((change) => {
  if (change.type === "result") say(`result ${change.message.content}`);
});

const work = defineTool({
  name: "work",
  description: "Gives a text of some length.",
  input: { type: "object", properties: { id: { type: "string" }, length: { type: "number" } } },
  capabilities: ["read"],
  execute: async ({ id, length }) => {
    await new Promise(setImmediate);
    return `${id} ${"x".repeat(length)}`;
  },
});

for (let turn = 0; ; turn++) {
  const id = `${name}-${turn}`;
  const calls = [0, 1, 2].map((call) => ({
    name: "work",
    args: { id: `${id}-${call}`, length: (turn * 97) % 5000 },
  }));
  const agent = new Agent(scriptedProvider([{ calls }, `done ${id}`]), { conversation });
  agent.addTool(work);
  say(`answer ${await agent.chat(`start ${id}`)}`);
}
