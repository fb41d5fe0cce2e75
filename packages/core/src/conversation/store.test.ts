import fs, { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { windowsNameProblem } from "@agent/internal";
import { expect, onTestFinished, test, vi } from "vitest";
import { call, expectValidHistory, toolTexts } from "../../test/conversation.js";
import { fakeTool, temporaryDirectory } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import type { ChatRequest } from "../providers/interface.js";
import { scriptedProvider } from "../providers/replay.js";
import { Conversation, type ConversationChange } from "./conversation.js";
import { fileStore, SessionFile } from "./fileStore.js";
import { recordSession } from "./recorder.js";
import { loadSession } from "./session.js";
import { type ConversationStore, memoryStore, openConversation } from "./store.js";

test("keeps a conversation the same after every change, as JSON, with ids and times", async () => {
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

test("runs a tool that can change something only once everything before it is stored", async () => {
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

test("interrupts a call that was running when the program died, and continues the conversation", async () => {
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

test("refuses tools that can change something if a store fails, and keeps what it gets later", async () => {
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

test("does not store an append twice if its answer was lost", async () => {
  const memory = memoryStore();
  let isLost = true;
  const store: ConversationStore = {
    load: memory.load,
    append: async (...stored) => {
      await memory.append(...stored);
      if (!isLost) return;
      isLost = false;
      throw new Error("the connection was closed");
    },
  };
  const { conversation, close } = await openConversation(store, "a");
  const agent = new Agent(scriptedProvider([call("write"), "Done."]), {
    conversation,
    tools: [fakeTool("write", undefined, { capabilities: ["write"] })],
  });
  await agent.chat("Go.");
  await close();
  expect(toolTexts(agent)).toEqual(["write ran"]);
  expect((await openConversation(memory, "a")).conversation.sessionContext).toEqual(
    conversation.sessionContext,
  );
});

test("stores on flush what an append that was already running could not store", async () => {
  const memory = memoryStore();
  const running: ((error: Error) => void)[] = [];
  const store: ConversationStore = {
    load: memory.load,
    append: (...changes) =>
      running.length > 0
        ? memory.append(...changes)
        : new Promise((_, reject) => {
            running.push(reject);
          }),
  };
  const { conversation, flush } = await openConversation(store, "a");
  conversation.append({ role: "user", content: "one" });
  await vi.waitUntil(() => running.length === 1);
  const flushed = flush();
  running[0]?.(new Error("the connection was closed"));
  await flushed;
  expect((await openConversation(memory, "a")).conversation.sessionContext).toMatchObject([
    { content: "one" },
  ]);
});

test("keeps conversations apart on files, cuts a half-written line, and refuses a second writer", async () => {
  const directory = temporaryDirectory();
  const ids = ["ann", "../ann", "Zoë/1"];
  for (const id of ids) {
    const { conversation, close } = await openConversation(fileStore(directory), id, { systemPrompt: id });
    await new Agent(scriptedProvider([`Hello, ${id}.`]), { conversation }).chat("Hi.");
    await close();
  }
  expect(readdirSync(directory).toSorted()).toEqual(["%5Ao%C3%AB%2F1.jsonl", "..%2Fann.jsonl", "ann.jsonl"]);
  appendFileSync(join(directory, "ann.jsonl"), '{"type":"message","mess');
  const again = await openConversation(fileStore(directory), "ann");
  expect(again.conversation.systemPrompt).toBe("ann");
  const late = await openConversation(fileStore(directory), "ann");
  again.conversation.append({ role: "user", content: "Again." });
  await again.close();
  late.conversation.append({ role: "user", content: "Me too." });
  await expect(late.flush()).rejects.toThrow("another program");
  // The format is that of session files.
  const { messages } = await loadSession(join(directory, "ann.jsonl"));
  expect(messages.map(({ content }) => content)).toEqual(["Hi.", "Hello, ann.", "Again."]);
  await expect(openConversation(fileStore(directory), "x".repeat(300))).rejects.toThrow("at most 200 bytes");
  await expect(openConversation(fileStore(directory), "")).rejects.toThrow("at most 200 bytes");
});

test("a store on files keeps ids apart that differ only in case, also on a disk that ignores it", async () => {
  const directory = temporaryDirectory();
  for (const id of ["user", "User", "USER", "%55ser", "Ä/ä"]) {
    const { conversation, close } = await openConversation(fileStore(directory), id);
    conversation.append({ role: "user", content: id });
    await close();
  }
  const names = readdirSync(directory);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(5);
  const { conversation } = await openConversation(fileStore(directory), "User");
  expect(conversation.sessionContext).toMatchObject([{ content: "User" }]);
});

test("keeps in a store on files ids whose names Windows gives to devices or does not allow", async () => {
  const directory = temporaryDirectory();
  const ids = ["con", "Nul", "com1.log", "a*b", "%63on"];
  for (const id of ids) {
    const { conversation, close } = await openConversation(fileStore(directory), id);
    conversation.append({ role: "user", content: id });
    await close();
  }
  const names = readdirSync(directory);
  expect(new Set(names).size).toBe(ids.length);
  expect(names.filter((name) => windowsNameProblem(name) !== undefined)).toEqual([]);
  const { conversation } = await openConversation(fileStore(directory), "con");
  expect(conversation.sessionContext).toMatchObject([{ content: "con" }]);
});

test("appends to a conversation of a store on files after very many others were opened", async () => {
  const store = fileStore(temporaryDirectory());
  const said = (content: string) => ({ type: "message", message: { role: "user", content } }) as const;
  const openOthers = async (): Promise<void> => {
    for (let other = 0; other < 1500; other++) await store.load(`other-${other}`);
  };
  await store.append("first", [said("one")], 0);
  await openOthers();
  await store.append("first", [said("two")], 1);
  await openOthers();
  await expect(store.append("first", [said("three")], 1)).rejects.toThrow("another program is writing");
  expect(await store.load("first")).toEqual([said("one"), said("two")]);
});

test("keeps the changes for later if a store on files cannot be written", async () => {
  const directory = join(temporaryDirectory(), "later");
  const { conversation, flush } = await openConversation(fileStore(directory), "a");
  writeFileSync(directory, "a file where the directory must be");
  conversation.append({ role: "user", content: "one" });
  await expect(flush()).rejects.toThrow();
  rmSync(directory);
  await flush();
  expect((await loadSession(join(directory, "a.jsonl"))).messages).toHaveLength(1);
});

test("closes the file of an append that fails, and appends the same changes once it can", async () => {
  const path = join(temporaryDirectory(), "a.jsonl");
  const { conversation, flush } = await openConversation(fileStore(dirname(path)), "a");
  const [opened, closed] = [vi.spyOn(fs, "openSync"), vi.spyOn(fs, "closeSync")];
  const write = vi.spyOn(fs, "writeSync").mockImplementation(() => {
    throw new Error("ENOSPC: no space left on device");
  });
  onTestFinished(() => void vi.restoreAllMocks());
  conversation.append({ role: "user", content: "one" });
  for (let tries = 0; tries < 3; tries++) await expect(flush()).rejects.toThrow("ENOSPC");
  const descriptors = opened.mock.results.map(({ value }) => value as number);
  expect(descriptors.length).toBeGreaterThan(0);
  expect(closed.mock.calls.map(([descriptor]) => descriptor)).toEqual(descriptors);
  write.mockRestore();
  await flush();
  expect((await loadSession(path)).messages).toMatchObject([{ content: "one" }]);
});

test.each([
  [
    "a damaged file",
    '{"format":"agent-session","version":2,"createdAt":"","systemPrompt":""}\n{"type":"other"}\n',
    "is not an intact session",
  ],
  [
    "a session of version 1",
    '{"format":"agent-session","version":1,"systemPrompt":"","messages":[]}\n',
    "is a session of an older version",
  ],
])("opens no conversation from %s, and leaves it as it is", async (_, content, problem) => {
  const path = join(temporaryDirectory(), "a.jsonl");
  writeFileSync(path, content);
  await expect(openConversation(fileStore(dirname(path)), "a")).rejects.toThrow(problem);
  expect(readFileSync(path, "utf8")).toBe(content);
});

test("removes the part of an append that was written before the disk was full", async () => {
  const path = join(temporaryDirectory(), "a.jsonl");
  const { conversation, flush } = await openConversation(fileStore(dirname(path)), "a");
  conversation.append({ role: "user", content: "one" });
  await flush();
  const before = readFileSync(path, "utf8");
  const write = fs.writeSync;
  onTestFinished(() => void vi.restoreAllMocks());
  const spy = vi.spyOn(fs, "writeSync");
  spy.mockImplementationOnce((descriptor, bytes) =>
    write(descriptor, (bytes as unknown as Buffer).subarray(0, 10)),
  );
  spy.mockImplementation(() => {
    throw new Error("ENOSPC: no space left on device");
  });
  conversation.append({ role: "user", content: "two" });
  await expect(flush()).rejects.toThrow("ENOSPC");
  expect(readFileSync(path, "utf8")).toBe(before);
  spy.mockRestore();
  await flush();
  expect((await loadSession(path)).messages).toMatchObject([{ content: "one" }, { content: "two" }]);
});

test("continues a round of which one call was decided and another waits", () => {
  const ask = { type: "function", function: { name: "write", arguments: "{}" } } as const;
  const calls = ["1", "2"].map((id) => ({ id, name: "write", args: {}, capabilities: ["write"] as const }));
  const conversation = Conversation.from([
    {
      type: "message",
      message: { role: "assistant", content: null, tool_calls: calls.map(({ id }) => ({ ...ask, id })) },
    },
    { type: "suspended", calls },
    { type: "result", message: { role: "tool", tool_call_id: "1", content: "done" } },
  ]);
  expect(conversation.pending).toMatchObject({ results: [{ tool_call_id: "1" }], calls: [calls[1]] });
});

test("stores a change that comes at any moment around the end of an append", async () => {
  for (let ticks = 0; ticks < 12; ticks++) {
    const stored: ConversationChange[] = [];
    const done: (() => void)[] = [];
    const store: ConversationStore = {
      load: async () => [],
      append: (_, changes) => {
        stored.push(...changes);
        return new Promise((resolve) => done.push(resolve));
      },
    };
    const { conversation } = await openConversation(store, "a");
    conversation.append({ role: "user", content: "one" });
    await vi.waitUntil(() => done.length === 1);
    done[0]?.();
    for (let tick = 0; tick < ticks; tick++) await undefined;
    conversation.append({ role: "user", content: "two" });
    await expect.poll(() => stored.length, { message: `after ${ticks} ticks` }).toBe(2);
  }
});

test("writes a recorded session to the disk before a tool that can change something runs", async () => {
  const path = join(temporaryDirectory(), "session.jsonl");
  const conversation = new Conversation();
  const synced = vi.spyOn(SessionFile.prototype, "sync");
  onTestFinished(() => synced.mockRestore());
  recordSession(conversation, path);
  const steps: number[] = [];
  const agent = new Agent(scriptedProvider([call("write"), "Done."]), {
    conversation,
    tools: [
      fakeTool("write", () => `ok ${steps.push(synced.mock.settledResults.length)}`, {
        capabilities: ["write"],
      }),
    ],
  });
  await agent.chat("Go.");
  // The message and the answer with the call were synced, and nothing was under way.
  expect(synced.mock.settledResults.slice(0, steps[0]).every(({ type }) => type === "fulfilled")).toBe(true);
  expect(steps[0]).toBeGreaterThan(0);
});

test("refuses a second writer by the store, and does not run its tools", async () => {
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

test("waits for a decision on a question that was open when the program died, but not on one that was decided", async () => {
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

test("answers a message again under its id and from its sender, also after a failure", async () => {
  const seen: unknown[] = [];
  const answer = (text: string) => (request: ChatRequest) => {
    seen.push(request.messages.at(-1)?.content);
    return text;
  };
  const fail = (): never => {
    throw new Error("no network");
  };
  const agent = new Agent(scriptedProvider([fail, answer("It ended."), answer("It has ended.")]));
  await expect(agent.chat("The job has ended.", { from: "job-1" })).rejects.toThrow("no network");
  const { conversation } = agent;
  const [message] = conversation.sessionContext;
  const { id } = conversation.infoOf(message as never);
  for (const text of ["It ended.", "It has ended."]) {
    expect((await agent.retry()).text).toBe(text);
    expect(conversation.sessionContext).toHaveLength(2);
    expect(conversation.sessionContext[0]).toEqual(message);
    expect(conversation.indexOf(id)).toBe(0);
  }
  const notice = '[A notice from "job-1", not written by the user]\n\nThe job has ended.';
  expect(seen).toEqual([notice, notice]);
});

test("answers the newest message again on retry; edits an earlier one with replaces; copies with branch", async () => {
  const agent = new Agent(scriptedProvider(["One.", "Uno.", "Two.", "Deux.", "Other."]));
  await agent.chat("1");
  expect(await agent.retry()).toMatchObject({ text: "Uno." });
  await agent.chat("2");
  const texts = () => agent.context.sessionContext.map(({ content }) => content);
  expect(texts()).toEqual(["1", "Uno.", "2", "Two."]);
  const { conversation } = agent;
  const [first, , second] = conversation.sessionContext.map((message) => conversation.infoOf(message).id);
  conversation.packState("notes").set("after the second message");
  conversation.addSpending({ tokens: 5, cost: 1 });
  const branch = conversation.branch(second);
  expect(branch.packState("notes").get()).toBeUndefined();
  expect(branch.spending).toEqual(conversation.spending);
  const whole = conversation.branch();
  expect(whole.packState("notes").get()).toBe("after the second message");
  whole.rewind(2);
  expect(whole.changes()).toEqual(branch.changes());
  expect(await agent.chat("2, in French", { replaces: second as string })).toBe("Deux.");
  expect(texts()).toEqual(["1", "Uno.", "2, in French", "Deux."]);
  expect(branch.sessionContext.map(({ content }) => content)).toEqual(["1", "Uno."]);
  expect(branch.infoOf(branch.sessionContext[0] as never).id).toBe(first);
  await agent.chat("3", { id: "third" }).catch(() => undefined);
  expect(conversation.indexOf("third")).toBeGreaterThan(0);
  await expect(agent.chat("x", { id: "third" })).rejects.toThrow(
    "an id that no message of this conversation has",
  );
  expect(Conversation.from(JSON.parse(JSON.stringify(conversation.changes()))).changes()).toEqual(
    conversation.changes(),
  );
  await expect(agent.chat("x", { replaces: "nope" })).rejects.toThrow(
    'replaces must be the id of a message of the user in this conversation, got string "nope"',
  );
  expect(() => new Agent(scriptedProvider([])).streamRetry()).toThrow("no message to answer again");
});

test("returns from whole() the messages that compaction replaced, from a store too", async () => {
  const { conversation } = await openConversation(memoryStore(), "one");
  conversation.append({ role: "user", content: "first" });
  conversation.append({ role: "user", content: "second" });
  conversation.replace(0, 1, [{ role: "user", content: "a summary", generated: true }]);
  const whole = await conversation.whole();
  expect(whole.sessionContext.map(({ content }) => content)).toEqual(["first", "a summary", "second"]);
});

test("refuses what is not a store", async () => {
  const store = { load: async () => [] } as unknown as ConversationStore;
  await expect(openConversation(store, "one")).rejects.toThrow(
    "store must be a ConversationStore with load() and append(), got",
  );
});
