import { describe, expect, test } from "vitest";
import { agentWith, call, collect, expectValidHistory, toolTexts } from "../../test/conversation.js";
import { deferred, fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import { Conversation } from "../conversation/conversation.js";
import { AgentError } from "../errors.js";
import type { AgentEvent } from "../events.js";
import type { ChatMessage, ChatProvider } from "../providers/interface.js";
import { scriptedProvider } from "../providers/replay.js";
import { estimateTokens } from "./estimate.js";

const isSummaryRequest = (messages: readonly ChatMessage[]): boolean =>
  String(messages[0]?.content).startsWith("You shorten conversations");

/** Runs `rounds` messages, each with one tool call of about 1000 tokens, under a budget. */
async function longConversation(contextTokens: number, rounds: number, summarise: () => Promise<string>) {
  const requests: (readonly ChatMessage[])[] = [];
  let calls = 0;
  const provider: ChatProvider = {
    async respond({ messages }) {
      if (isSummaryRequest(messages))
        return { content: await summarise(), toolCalls: [], finishReason: "stop" };
      requests.push(messages);
      if (messages.at(-1)?.role === "tool")
        return { content: `answer ${calls}`, toolCalls: [], finishReason: "stop" };
      const id = `c${calls++}`;
      return {
        content: null,
        toolCalls: [{ id, type: "function", function: { name: "read", arguments: `{"n":${calls}}` } }],
        finishReason: "tool_calls",
      };
    },
  };
  const agent = new Agent(provider, { contextTokens, systemPrompt: "Be brief." });
  agent.addTool(fakeTool("read", ({ n }) => `file ${n}: ${"x".repeat(4000)}`));
  const events = [];
  for (let round = 1; round <= rounds; round++) {
    const result = await collect(agent, `request ${round}`);
    if (result.error) throw result.error;
    events.push(...result.events.filter((event) => event.type === "context"));
  }
  return { agent, events, requests };
}

describe("a conversation that outgrows its budget", () => {
  test("has old tool output shortened first, with a notice; the latest stays whole; the user sees an event", async () => {
    const { agent, events } = await longConversation(6000, 6, async () => "never needed");
    expect(events[0]).toMatchObject({ action: "shortened" });
    const texts = toolTexts(agent);
    expect(texts[0]).toContain("Shortened to save room");
    expect(texts.at(-1)).toBe(`file 6: ${"x".repeat(4000)}`);
    expectValidHistory(agent);
  });

  test("has older turns summarised next by the model; the first request, the system prompt and the latest turns stay", async () => {
    const { agent, events, requests } = await longConversation(
      3000,
      40,
      async () => "The user asked for many files.",
    );
    expect(events.some((event) => event.action === "summarised")).toBe(true);
    const messages = agent.context.sessionContext;
    expect(messages[0]).toEqual({ role: "user", content: "request 1" });
    expect(messages[1]).toEqual({
      role: "user",
      content: "[Summary of the conversation so far]\nThe user asked for many files.",
      generated: true,
    });
    expect(JSON.stringify(requests)).not.toContain("generated");
    expect(messages.at(-1)?.content).toBe("answer 40");
    for (const request of requests) {
      expect(request[0]).toEqual({ role: "system", content: "Be brief." });
      expect(estimateTokens(request)).toBeLessThan(3100);
    }
    expectValidHistory(agent);
  });

  test.each<[problem: string, summarise: () => Promise<string>]>([
    ["cannot be written", () => Promise.reject(new Error("no summary today"))],
    ["is empty", async () => ""],
  ])(
    "drops the older turns with a notice if the summary %s, and the request still succeeds",
    async (_, summarise) => {
      const { agent, events } = await longConversation(3000, 30, summarise);
      expect(events.some((event) => event.action === "dropped")).toBe(true);
      expect(agent.context.sessionContext[1]?.content).toBe("[Earlier turns were left out to save room.]");
      expectValidHistory(agent);
    },
  );

  test("has output shortened in one turn that is too much by itself", async () => {
    const agent = agentWith(
      [{ calls: Array(4).fill({ name: "big" }) }, "done"],
      [fakeTool("big", () => "y".repeat(20_000))],
      {
        contextTokens: 4000,
      },
    );
    expect(await agent.chat("go")).toBe("done");
    expect(estimateTokens(agent.context.sessionContext)).toBeLessThan(4000);
    expectValidHistory(agent);
  });

  test("records no change for short output when long output is shortened", async () => {
    const conversation = new Conversation();
    const replaced: unknown[] = [];
    conversation.onChange((change) => {
      if (change.type === "replace") replaced.push(...change.messages.map(({ content }) => content));
    });
    const turn = [{ calls: [{ name: "small" }, { name: "big" }] }, "done"] as const;
    const tools = [fakeTool("small", () => "short"), fakeTool("big", () => "y".repeat(4000))];
    const script = Array.from({ length: 6 }, () => turn).flat();
    const agent = agentWith(script, tools, { contextTokens: 6000, conversation });
    for (let message = 0; message < 6; message++) await agent.chat(`request ${message}`);
    expect(replaced).toContainEqual(expect.stringContaining("Shortened to save room"));
    expect(replaced).not.toContain("short");
  });

  test("is not changed without a budget", async () => {
    const agent = agentWith([call("big"), "done"], [fakeTool("big", () => "y".repeat(200_000))]);
    await agent.chat("go");
    expect(toolTexts(agent)[0]).toHaveLength(200_000);
  });

  test("rejects on abort during the summary and stays valid", async () => {
    const asked = deferred();
    const controller = new AbortController();
    const provider: ChatProvider = {
      respond: ({ messages }) => {
        if (!isSummaryRequest(messages)) {
          return Promise.resolve({ content: "z".repeat(2000), toolCalls: [], finishReason: "stop" });
        }
        asked.resolve();
        return new Promise(() => undefined);
      },
    };
    const agent = new Agent(provider, { contextTokens: 1000 });
    for (let n = 0; n < 2; n++) await agent.chat(`message ${n}`);
    const answer = agent.chat("one more", { signal: controller.signal });
    await asked.promise;
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: "aborted" });
    expectValidHistory(agent);
  });
});

describe("a model that says the conversation is too long", () => {
  const tooLong = (limit: number, asked: number[]): ChatProvider => ({
    async respond({ messages }) {
      if (isSummaryRequest(messages))
        return { content: "short summary", toolCalls: [], finishReason: "stop" };
      asked.push(estimateTokens(messages));
      if (estimateTokens(messages) > limit) throw new AgentError("context_overflow", "too long");
      if (messages.at(-1)?.role === "tool")
        return { content: "fits now", toolCalls: [], finishReason: "stop" };
      return {
        content: null,
        toolCalls: [{ id: "1", type: "function", function: { name: "big", arguments: "{}" } }],
        finishReason: "tool_calls",
      };
    },
  });

  test("gets the request again with less", async () => {
    const asked: number[] = [];
    const agent = new Agent(tooLong(3000, asked));
    agent.addTool(fakeTool("big", () => "y".repeat(20_000)));
    expect(await agent.chat("go")).toBe("fits now");
    expect(asked).toHaveLength(3);
    expectValidHistory(agent);
  });

  test("causes a clear error if it still says so after that", async () => {
    const agent = new Agent(tooLong(1, []));
    await expect(agent.chat("go")).rejects.toMatchObject({ code: "context_overflow" });
    expectValidHistory(agent);
  });
});

describe("compaction on demand", () => {
  test("replaces older turns by a summary, keeps the first request and the latest turn, and says whether it did", async () => {
    const { agent } = await longConversation(1_000_000, 6, async () => "Six files were read.");
    const before = agent.context.sessionContext.length;
    const events: AgentEvent[] = [];
    expect(await agent.compact({ onEvent: (event) => events.push(event) })).toBe(true);
    expect(events.map(({ type }) => type)).toContain("context");
    const messages = agent.context.sessionContext;
    expect(messages.length).toBeLessThan(before);
    expect(messages[0]).toEqual({ role: "user", content: "request 1" });
    expect(messages[1]?.content).toContain("Six files were read.");
    expect(messages.at(-1)).toMatchObject({ role: "assistant", content: "answer 6" });
    expectValidHistory(agent);
    expect(await agentWith([]).compact()).toBe(false);
  });

  test("asks for no summary of a single message", async () => {
    const agent = agentWith(["long ".repeat(400), "Short."]);
    await agent.chat("one");
    await agent.chat("two");
    const before = structuredClone(agent.context.sessionContext);
    expect(await agent.compact()).toBe(false);
    expect(agent.context.sessionContext).toEqual(before);
  });

  test.each<[problem: string, error: string, summarise: () => Promise<string>]>([
    ["cannot be written", "503 Down", () => Promise.reject(new AgentError("provider_failed", "503 Down"))],
    ["is empty", "The model wrote an empty summary", async () => ""],
  ])("fails, and drops nothing, if the summary %s", async (_, error, summarise) => {
    const { agent } = await longConversation(1_000_000, 4, summarise);
    const before = structuredClone(agent.context.sessionContext);
    await expect(agent.compact()).rejects.toThrow(error);
    expect(agent.context.sessionContext).toEqual(before);
  });

  test("is refused while a message is answered, and can be stopped", async () => {
    const { agent } = await longConversation(1_000_000, 4, async () => "Summary.");
    const controller = new AbortController();
    controller.abort();
    await expect(agent.compact({ signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    const chat = agent.chat("Go on.");
    await expect(agent.compact()).rejects.toMatchObject({ code: "busy" });
    await chat;
    expectValidHistory(agent);
  });
});

describe("the budget that a model is known for", () => {
  const modelOf = (contextTokens?: number): ChatProvider => ({
    ...scriptedProvider([call("read"), "Done."]),
    ...(contextTokens !== undefined && { contextTokens }),
  });
  const read = fakeTool("read", () => "x".repeat(400_000));

  test("bounds what one large read may take of it", async () => {
    const agent = new Agent(modelOf(10_000));
    agent.addTool(read);
    await agent.chat("Read.");
    expect(estimateTokens(agent.context.sessionContext)).toBeLessThan(2600);
    expect(toolTexts(agent)[0]).toContain("ask for less at a time");
  });

  test("gives way to what the program says, and an unknown model has the fixed bound", async () => {
    const wide = new Agent(modelOf(10_000), { contextTokens: 1_000_000 });
    wide.addTool(read);
    await wide.chat("Read.");
    expect(toolTexts(wide)[0]).toHaveLength(400_000);
    const unknown = new Agent(modelOf());
    unknown.addTool(fakeTool("read", () => "x".repeat(900_000)));
    await unknown.chat("Read.");
    expect(toolTexts(unknown)[0]?.length).toBeLessThan(513 * 1024);
  });
});

test("tells the model what the summary must keep, and who wrote each message", async () => {
  const prompts: string[] = [];
  const transcripts: unknown[] = [];
  const provider: ChatProvider = {
    respond: async ({ messages: [first, second] }) => {
      if (first?.role === "system") {
        prompts.push(first.content);
        transcripts.push(second?.content);
      }
      return { content: "ok", toolCalls: [], finishReason: "stop" };
    },
  };
  const agent = new Agent(provider);
  for (const message of ["1", "2", "3"]) await agent.chat(message);
  expect(await agent.compact({ focus: "the failing tests" })).toBe(true);
  expect(prompts).toEqual([expect.stringMatching(/Keep this above all: the failing tests$/)]);
  expect(transcripts).toEqual([expect.stringMatching(/^assistant: ok\n+user: 2\n/)]);
  for (const message of ["4", "5"]) await agent.chat(message);
  expect(await agent.compact()).toBe(true);
  expect(prompts[1]).not.toContain("Keep this above all");
});
