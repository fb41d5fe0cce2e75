import { expect, test } from "vitest";
import { call, expectValidHistory, toolTexts } from "../../test/conversation.js";
import { fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import { scriptedProvider } from "../providers/replay.js";
import { Conversation, type ConversationChange } from "./conversation.js";
import { type ConversationStore, memoryStore, openConversation } from "./store.js";

test("a conversation is the same after every change, as JSON, with ids and times", async () => {
  const changes: ConversationChange[] = [];
  const conversation = new Conversation();
  conversation.onChange((change) => changes.push(structuredClone(change)));
  const agent = new Agent(scriptedProvider([call("look"), "Blue."]), {
    conversation,
    tools: [fakeTool("look")],
    systemPrompt: "Be brief.",
  });
  await agent.chat("Look.");
  const copy = Conversation.from(JSON.parse(JSON.stringify(changes)));
  expect(copy.sessionContext).toEqual(conversation.sessionContext);
  expect(copy.systemPrompt).toBe("Be brief.");
  expect(copy.sessionContext.map((message) => copy.infoOf(message))).toEqual(
    conversation.sessionContext.map((message) => conversation.infoOf(message)),
  );
  expect(copy.infoOf(copy.sessionContext[0] as never).at).toMatch(/^\d{4}-\d\d-\d\dT/);
});

test("a tool that can change something runs only once everything before it is stored", async () => {
  const memory = memoryStore();
  const log: string[] = [];
  const slow: ConversationStore = {
    load: memory.load,
    append: async (id, changes, position) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      await memory.append(id, changes, position);
      for (const change of changes) log.push(change.type);
    },
  };
  const { conversation, close } = await openConversation(slow, "a", { systemPrompt: "Be brief." });
  const agent = new Agent(scriptedProvider([call("write"), "Done."]), {
    conversation,
    tools: [fakeTool("write", () => `ok ${log.push("wrote")}`, { capabilities: ["write"] })],
  });
  await agent.chat("Go.");
  await close();
  // The system prompt, the message and the answer with the call are stored before the tool runs.
  expect(log).toEqual(["system", "message", "message", "wrote", "result", "message"]);
  const again = await openConversation(memory, "a");
  expect(again.conversation.sessionContext).toEqual(conversation.sessionContext);
  expect(again.conversation.systemPrompt).toBe("Be brief.");
});

test("a call that was running when the program died is interrupted, and the conversation continues", async () => {
  const store = memoryStore();
  const { conversation } = await openConversation(store, "a");
  let running = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    running = resolve;
  });
  const agent = new Agent(scriptedProvider([call("write")]), {
    conversation,
    tools: [
      fakeTool(
        "write",
        () => {
          running();
          return new Promise(() => undefined);
        },
        { capabilities: ["write"] },
      ),
    ],
  });
  void agent.chat("Go.").catch(() => undefined);
  await started;
  // The program dies here: nothing more is stored.
  const next = await openConversation(store, "a");
  const other = new Agent(scriptedProvider(["Understood."]), { conversation: next.conversation });
  expect(toolTexts(other)[0]).toMatch(/^Interrupted: /);
  expect(await other.chat("And?")).toBe("Understood.");
  expectValidHistory(other);
});

test("a store that fails refuses tools that can change something, and keeps what it gets later", async () => {
  const memory = memoryStore();
  let broken = true;
  const store: ConversationStore = {
    load: memory.load,
    append: async (...stored) => {
      if (broken) throw new Error("the disk is full");
      await memory.append(...stored);
    },
  };
  const { conversation, close } = await openConversation(store, "a");
  const agent = new Agent(scriptedProvider([call("write"), call("read"), "Done."]), {
    conversation,
    tools: [
      fakeTool("write", undefined, { capabilities: ["write"] }),
      fakeTool("read", undefined, { capabilities: ["read"] }),
    ],
  });
  await agent.chat("Go.");
  expect(toolTexts(agent)).toEqual([
    expect.stringContaining("The conversation cannot be stored: the disk is full"),
    "read ran",
  ]);
  broken = false;
  await close();
  expect((await openConversation(memory, "a")).conversation.sessionContext).toEqual(
    conversation.sessionContext,
  );
});

test("a second writer is refused by the store, and its tools do not run", async () => {
  const store = memoryStore();
  const first = await openConversation(store, "a");
  const second = await openConversation(store, "a");
  await new Agent(scriptedProvider(["One."]), { conversation: first.conversation }).chat("1");
  await first.flush();
  const agent = new Agent(scriptedProvider([call("write"), "Two."]), {
    conversation: second.conversation,
    tools: [fakeTool("write", undefined, { capabilities: ["write"] })],
  });
  await agent.chat("2");
  expect(toolTexts(agent)[0]).toContain("another process is writing");
});

test("a question that was open when the program died waits for a decision; one that was decided does not", async () => {
  const store = memoryStore();
  const { conversation, flush } = await openConversation(store, "a");
  const pending = { id: "call_1_0", name: "write", args: {}, capabilities: ["write"] as const };
  let asked = async (): Promise<void> => undefined;
  const agent = new Agent(scriptedProvider([call("write"), "Done."]), {
    conversation,
    tools: [fakeTool("write", undefined, { capabilities: ["write"] })],
    approve: async () => {
      conversation.noteWaiting([pending]);
      await flush();
      await asked();
      conversation.noteWaiting([]);
      return "allow" as const;
    },
  });
  asked = async () => {
    const dead = (await openConversation(store, "a")).conversation;
    expect(dead.pending?.calls).toEqual([pending]);
  };
  await agent.chat("Go.");
  await flush();
  expect((await openConversation(store, "a")).conversation.pending).toBeUndefined();
});

test("retry answers the newest message again; replaces edits an earlier one; branch copies", async () => {
  const agent = new Agent(scriptedProvider(["One.", "Uno.", "Two.", "Deux.", "Other."]));
  await agent.chat("1");
  expect(await agent.retry()).toMatchObject({ text: "Uno." });
  await agent.chat("2");
  const texts = () => agent.context.sessionContext.map(({ content }) => content);
  expect(texts()).toEqual(["1", "Uno.", "2", "Two."]);
  const { conversation } = agent;
  const [first, , second] = conversation.sessionContext.map((message) => conversation.infoOf(message).id);
  const branch = conversation.branch(second);
  expect(await agent.chat("2, in French", { replaces: second as string })).toBe("Deux.");
  expect(texts()).toEqual(["1", "Uno.", "2, in French", "Deux."]);
  expect(branch.sessionContext.map(({ content }) => content)).toEqual(["1", "Uno."]);
  expect(branch.infoOf(branch.sessionContext[0] as never).id).toBe(first);
  await expect(agent.chat("x", { replaces: "nope" })).rejects.toThrow(
    'replaces must be the id of a message of the user in this conversation, got string "nope"',
  );
  expect(() => new Agent(scriptedProvider([])).streamRetry()).toThrow("no message to answer again");
});
