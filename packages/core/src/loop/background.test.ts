import { expect, test } from "vitest";
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type ChatProvider,
  type ChatRequest,
  type ChildEvent,
  defineTool,
  type PackHost,
  type ToolPack,
} from "../index.js";

/** A model that answers when the test lets it; a message "use TOOL" calls that tool first. */
function heldModel() {
  const asked: { request: ChatRequest; answer: (text: string) => void }[] = [];
  let onAsked = (): void => undefined;
  const provider: ChatProvider = {
    model: "m",
    respond: (request) =>
      new Promise((resolve, reject) => {
        const last = request.messages.at(-1);
        const [, name] = /^use (\w+)$/.exec(last?.role === "user" ? String(last.content) : "") ?? [];
        if (name !== undefined) {
          const call = { id: "c1", type: "function", function: { name, arguments: "{}" } } as const;
          resolve({ content: null, toolCalls: [call], finishReason: "tool_calls" });
          return;
        }
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
        asked.push({
          request,
          answer: (content) => resolve({ content, toolCalls: [], finishReason: "stop" }),
        });
        onAsked();
      }),
  };
  const untilAsked = async (count: number): Promise<void> => {
    while (asked.length < count) {
      await new Promise<void>((resolve) => {
        onAsked = resolve;
      });
    }
  };
  return { provider, asked, untilAsked };
}

/** A pack that keeps the host it was given. */
function hostSpy(): { pack: ToolPack; host: () => PackHost | undefined } {
  let seen: PackHost | undefined;
  const register: ToolPack["register"] = (_, host) => {
    seen = host;
  };
  return { pack: { packName: "spy", register }, host: () => seen };
}

test("works on while messages are answered, and reports its events", async () => {
  const { provider, asked, untilAsked } = heldModel();
  const agent = new Agent(provider);
  const events: AgentEvent[] = [];
  const heard: ChildEvent[] = [];
  const release = agent.onBackgroundEvent((event) => heard.push(event));
  const child = agent.startAgent({ message: "look around", label: "scout" }, (event) => events.push(event));
  await untilAsked(1);
  const chat = agent.chat("hello");
  await untilAsked(2);
  asked[1]?.answer("hi");
  expect(await chat).toBe("hi");
  asked[0]?.answer("found it");
  expect(await child.done).toMatchObject({ text: "found it", turns: 1 });
  expect(events.at(-1)).toMatchObject({ type: "done", text: "found it" });
  expect(heard.map(({ event }) => event)).toEqual(events);
  expect(heard.at(-1)).toMatchObject({ type: "child", label: "scout", elapsedMs: expect.any(Number) });
  release();
  expect(agent.conversation.sessionContext).toHaveLength(2);
});

test("asks about its calls under its label", async () => {
  const { provider, asked, untilAsked } = heldModel();
  const labels: (string | undefined)[] = [];
  const approve: AgentOptions["approve"] = ({ label }) => {
    labels.push(label);
    return "allow";
  };
  const agent = new Agent(provider, { approve });
  agent.addTool(
    defineTool({ name: "touch", description: "Touches.", input: { type: "object" }, execute: () => "ok" }),
  );
  const { done } = agent.startAgent({ message: "use touch", label: "worker" });
  await untilAsked(1);
  asked[0]?.answer("touched");
  expect((await done).text).toBe("touched");
  expect(labels).toEqual(["worker"]);
});

/** An agent that may look without a question; touching waits until the test answers. */
function askingAgent(provider: ChatProvider) {
  const asked: { label: string | undefined; allow: () => void }[] = [];
  const ruled: (string | undefined)[] = [];
  let onQuestion = (): void => undefined;
  const agent = new Agent(provider, {
    rules: {
      decide: ({ name, label }) => {
        ruled.push(label);
        return { type: name === "look" ? "allow" : "ask" };
      },
      allow: () => undefined,
    },
    approve: ({ label }) =>
      new Promise((resolve) => {
        asked.push({ label, allow: () => resolve("allow") });
        onQuestion();
      }),
  });
  for (const name of ["look", "touch"]) {
    agent.addTool(defineTool({ name, description: name, input: { type: "object" }, execute: () => "ok" }));
  }
  const untilQuestion = (): Promise<void> =>
    new Promise((resolve) => {
      if (asked.length > 0) resolve();
      onQuestion = resolve;
    });
  return { agent, asked, ruled, untilQuestion };
}

test("holds up no calls that need no question while its own question is open", async () => {
  const { provider, asked: requests, untilAsked } = heldModel();
  const { agent, asked, untilQuestion } = askingAgent(provider);
  const child = agent.startAgent({ message: "use touch", label: "worker" });
  await untilQuestion();
  const chat = agent.chat("use look");
  await untilAsked(1);
  requests[0]?.answer("looked");
  expect(await chat).toBe("looked");
  asked[0]?.allow();
  await untilAsked(2);
  requests[1]?.answer("touched");
  expect((await child.done).text).toBe("touched");
});

test("ends when it is stopped while its question waits for that of another", async () => {
  const { provider, asked: requests, untilAsked } = heldModel();
  const { agent, asked, ruled, untilQuestion } = askingAgent(provider);
  const first = agent.startAgent({ message: "use touch", label: "first" });
  await untilQuestion();
  const second = agent.startAgent({ message: "use touch", label: "second" });
  await expect.poll(() => ruled).toContain("second");
  second.stop();
  await expect(second.done).rejects.toMatchObject({ code: "aborted" });
  const third = agent.startAgent({ message: "use touch", label: "third" });
  asked[0]?.allow();
  await untilAsked(1);
  requests[0]?.answer("touched");
  await first.done;
  await expect.poll(() => asked.map(({ label }) => label)).toEqual(["first", "third"]);
  third.stop();
  await expect(third.done).rejects.toMatchObject({ code: "aborted" });
});

test("ends when it is stopped, and with the agent", async () => {
  const { provider, untilAsked } = heldModel();
  const agent = new Agent(provider);
  const [first, second] = [agent.startAgent({ message: "one" }), agent.startAgent({ message: "two" })];
  await untilAsked(2);
  first.stop();
  await expect(first.done).rejects.toMatchObject({ code: "aborted" });
  await agent.dispose();
  await expect(second.done).rejects.toMatchObject({ code: "aborted" });
});

test("keeps to the limits: so many at the same time, so deep, and one that writes at a time", async () => {
  const { provider, asked, untilAsked } = heldModel();
  const agent = new Agent(provider, { maxChildAgents: 2, maxConcurrentChildren: 2 });
  const one = agent.startAgent({ message: "one", exclusive: true });
  const two = agent.startAgent({ message: "two", exclusive: true });
  await expect(agent.startAgent({ message: "three" }).done).rejects.toMatchObject({ code: "child_limit" });
  await untilAsked(1);
  expect(asked).toHaveLength(1);
  asked[0]?.answer("1");
  await one.done;
  await untilAsked(2);
  asked[1]?.answer("2");
  await two.done;
  const flat = new Agent(provider, { maxChildDepth: 0 });
  await expect(flat.startAgent({ message: "x" }).done).rejects.toMatchObject({ code: "child_limit" });
});

test("works with the context and within the limits of the message that started it", async () => {
  const contexts: unknown[] = [];
  const { pack, host } = hostSpy();
  let child: Promise<unknown> | undefined;
  const usage = { inputTokens: 500, outputTokens: 500 };
  const provider: ChatProvider = {
    model: "m",
    respond: async ({ messages }) => {
      const last = messages.at(-1);
      const [, name] = /^use (\w+)$/.exec(last?.role === "user" ? String(last.content) : "") ?? [];
      if (name === undefined) return { content: "done", toolCalls: [], finishReason: "stop", usage };
      const call = { id: "c1", type: "function", function: { name, arguments: "{}" } } as const;
      return { content: null, toolCalls: [call], finishReason: "tool_calls", usage };
    },
  };
  const agent = new Agent(provider, { packs: [pack], host: { wake: () => undefined } });
  const tool = (name: string, execute: (context: unknown) => string): void =>
    agent.addTool(
      defineTool({
        name,
        description: "d",
        input: { type: "object" },
        execute: (_, { context }) => execute(context),
      }),
    );
  tool("look", (context) => {
    contexts.push(context);
    return "seen";
  });
  tool("begin", () => {
    child = host()?.startAgent?.({ message: "use look" }).done;
    child?.catch(() => undefined);
    return "started";
  });
  // Three requests of 1000 tokens each fit: two of the message, and the first of the child.
  const limited = agent.run("use begin", { context: { user: "ann" }, maxTokens: 3000 });
  await Promise.allSettled([limited]);
  await expect(child).rejects.toMatchObject({ code: "budget_exceeded" });
  expect(contexts).toEqual([{ user: "ann" }]);
  // The limits end with the message.
  expect(await agent.startAgent({ message: "use look" }).done).toMatchObject({ text: "done" });
  expect(contexts).toEqual([{ user: "ann" }, undefined]);
});

test.each([
  [{ wake: () => undefined }, true],
  [{}, false],
])("offers packs to start one only where a turn can be started", async (host, isThere) => {
  const { pack, host: given } = hostSpy();
  new Agent(heldModel().provider, { packs: [pack], host });
  expect(typeof given()?.startAgent === "function").toBe(isThere);
});
