import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  Agent,
  type ChatProvider,
  Conversation,
  type ConversationOptions,
  defineTool,
  loadSession,
} from "@agent/core";
import { temporaryWorkspace } from "@agent/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { scriptedServer } from "./scriptedServer.js";
import { type StrictServer, type StrictWire, startStrictServer } from "./strict/server.js";
import { KEY, WIRES } from "./strictWires.js";

const MODES = ["JSON", "streaming"] as const;
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const IMAGE = { type: "image", mediaType: "image/png", data: PIXEL, name: "a.png" } as const;

const lookUp = defineTool({
  name: "look_up",
  description: "Looks a file up.",
  input: {
    type: "object",
    oneOf: [
      { properties: { path: { type: "string", pattern: "^file" } }, required: ["path"] },
      { properties: { url: { type: "string" } }, required: ["url"] },
    ],
  },
  execute: async () => ({ text: "found", parts: [IMAGE] }),
});

function agentOf(provider: ChatProvider, options: ConversationOptions = {}): Agent {
  const agent = new Agent(provider, {
    conversation: new Conversation({ systemPrompt: "Be brief.", ...options }),
  });
  agent.addTool(lookUp);
  return agent;
}

async function strict(wire: StrictWire): Promise<StrictServer> {
  const server = await startStrictServer(wire);
  onTestFinished(() => server.close());
  return server;
}

async function ask(agent: Agent, question: Parameters<Agent["chat"]>[0], mode: string): Promise<string> {
  if (mode === "JSON") return await agent.chat(question);
  let text = "";
  for await (const event of agent.streamChat(question)) if (event.type === "done") text = event.text;
  return text;
}

describe.each(WIRES)("an agent on $name, in front of a server that is as strict as the real one", (one) => {
  describe.each(MODES)("%s", (mode) => {
    test("holds a conversation with tools, and each request after the first hits the cache", async () => {
      const server = await strict(one.wire);
      const agent = agentOf(one.create(server.baseURL));
      expect(await ask(agent, "First question", mode)).toBe("Answer 2.");
      expect(await ask(agent, "Second question", mode)).toBe("Answer 5.");
      expect(server.refusals).toEqual([]);
      const [first, ...others] = server.cached;
      expect(first).toBe(0);
      expect(others).toHaveLength(5);
      expect(others.filter((cached) => cached === 0)).toEqual([]);
    });

    test("continues after an answer that reached its length limit while the model still thought", async () => {
      const server = await startStrictServer(one.wire, { cutsFirst: true });
      onTestFinished(() => server.close());
      const agent = agentOf(one.create(server.baseURL));
      expect(await ask(agent, "First question", mode)).toBe("");
      expect(await ask(agent, "Second question", mode)).toBe("Answer 2.");
      expect(server.refusals).toEqual([]);
    });

    test("shows images, and a question after one that failed", async () => {
      const server = await strict(one.wire);
      const agent = agentOf(one.create(server.baseURL));
      await expect(agent.chat("never sent", { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: "aborted",
      });
      expect(await ask(agent, [{ type: "text", text: "What is it?" }, IMAGE], mode)).toBe("Answer 2.");
      expect(server.refusals).toEqual([]);
      expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(PIXEL);
    });
  });

  test("begins each request with the last one, also after parallel calls, images and words of the user", async () => {
    const calls = ["a", "b"].map((id) => ({ id, name: "look_up", args: { path: `file_${id}` } }));
    const again = calls.map((call) => ({ ...call, id: `${call.id}2` }));
    const server = await scriptedServer(one.wire.dialect, [
      { text: "Looking.", reasoning: "Hm.", signature: "s1", calls },
      { signature: "s2", calls: again },
      { text: "First.", signature: "s3" },
      { text: "Second." },
    ]);
    onTestFinished(() => server.close());
    const agent = agentOf(one.create(server.baseURL));
    for await (const event of agent.streamChat([{ type: "text", text: "What is it?" }, IMAGE])) {
      if (event.type === "tool_end" && event.id === "a") agent.steer("Also the size.");
    }
    await agent.chat("And now?");
    const prompts = server.requests.map(({ body }) => one.wire.prompt(body).map(({ text }) => text));
    expect(prompts).toHaveLength(4);
    expect(JSON.stringify(prompts[1])).toContain("Also the size.");
    for (const [index, prompt] of prompts.slice(1).entries()) {
      const before = prompts[index] ?? [];
      expect(prompt.slice(0, before.length)).toEqual(before);
    }
  });

  test("reports how many tokens came from the cache", async () => {
    const server = await strict(one.wire);
    const agent = agentOf(one.create(server.baseURL));
    const cached: (number | undefined)[] = [];
    for await (const event of agent.streamChat("Question")) {
      if (event.type === "usage") cached.push(event.usage.cachedTokens);
    }
    expect(cached).toEqual(server.cached);
    expect(cached.slice(1).every((tokens) => (tokens ?? 0) > 0)).toBe(true);
  });

  test.each(WIRES.filter(({ name }) => name !== one.name))(
    "continues with a conversation that was saved on $name, and back",
    async (other) => {
      const [here, there] = [await strict(one.wire), await strict(other.wire)];
      const { path, remove } = await temporaryWorkspace();
      onTestFinished(remove);
      const file = join(path, "session.json");
      const first = agentOf(other.create(there.baseURL), { sessionContextFilePath: file });
      await first.chat("First question");
      await first.saveContext("test");
      expect(await readFile(file, "utf8")).not.toContain(KEY);

      const second = agentOf(one.create(here.baseURL), {
        session: await loadSession(file),
        sessionContextFilePath: file,
      });
      expect(await second.chat("Second question")).toBe("Answer 2.");
      await second.saveContext("test");

      const third = agentOf(other.create(there.baseURL), { session: await loadSession(file) });
      expect(await third.chat("Third question")).toBe("Answer 5.");
      expect([...here.refusals, ...there.refusals]).toEqual([]);
    },
  );
});
