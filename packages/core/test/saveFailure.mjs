// Saves a conversation in a directory that then has no room, or that takes nothing. Prints what came of it as JSON.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Agent, Conversation, loadSession, saveSession } from "../dist/index.js";
import { scriptedProvider } from "../dist/replay.js";

const directory = process.argv[2];
const path = join(directory, "session.jsonl");
const conversation = new Conversation({ sessionContextFilePath: path });
const agent = new Agent(scriptedProvider(["Hello.", "Long.", "Still here."]), { conversation });
const codeOf = (error) => error.code ?? error.cause?.code ?? error.message;

await agent.chat("Hi.");
const first = await agent.saveContext("small", { reject: true }).then(() => "saved", codeOf);
await agent.chat("x".repeat(1_000_000));
const second = await agent.saveContext("large", { reject: true }).then(() => "saved", codeOf);
const { systemPrompt, sessionContext: messages } = conversation;
const third = await saveSession(path, { systemPrompt, messages }).then(() => "saved", codeOf);
const many = await Promise.allSettled(
  Array.from({ length: 50 }, () => agent.saveContext("again", { reject: true })),
);
process.stdout.write(
  JSON.stringify({
    saves: [first, second, third],
    rejected: many.filter(({ status }) => status === "rejected").length,
    tool: (await agent.saveContext("as the model sees it")).replaceAll(directory, "DIR"),
    kept: existsSync(path) ? (await loadSession(path)).messages.length : 0,
    files: readdirSync(directory),
    answer: await agent.chat("Are you there?"),
    messages: conversation.sessionContext.length,
  }),
);
