import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { call, collect, toolTexts } from "../../test/conversation.js";
import { deferred, fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import type { AgentOptions } from "../agentOptions.js";
import { Conversation } from "../conversation/conversation.js";
import type { ChatMessage, ChatProvider, ChatRequest, ChatResponse } from "../providers/interface.js";
import { type ScriptedAnswer, scriptedProvider } from "../providers/replay.js";
import { textStream } from "./eventStream.js";

const DONE: ChatResponse = { content: "Done.", toolCalls: [], finishReason: "stop" };
const IMAGE = { type: "image", mediaType: "image/png", data: "aGk=" } as const;

/** A scripted model that keeps its requests. */
function model(answers: readonly ScriptedAnswer[], more: Partial<ChatProvider> = {}) {
  const requests: ChatRequest[] = [];
  const script = scriptedProvider(answers);
  const provider: ChatProvider = {
    ...more,
    respond: (request) => {
      requests.push(request);
      return script.respond(request);
    },
  };
  return { provider, requests };
}

/** The messages that a model gets after this conversation and one more message. */
async function sentAfter(messages: readonly ChatMessage[], more: Partial<ChatProvider> = {}) {
  const { provider, requests } = model(["Done."], more);
  const conversation = new Conversation({ session: { systemPrompt: "", messages } });
  await new Agent(provider, { conversation }).chat("Next?");
  return requests[0]?.messages ?? [];
}

describe("the messages of a request", () => {
  const user = (content: string): ChatMessage => ({ role: "user", content });

  test("say where the user stopped an answer, also before it began", async () => {
    const stopped = (content: string): ChatMessage => ({ role: "assistant", content, stopped: true });
    expect(await sentAfter([user("a"), stopped("Once"), user("b"), stopped("")])).toEqual([
      user("a"),
      { role: "assistant", content: "Once\n\n[The user stopped this answer here.]" },
      user("b"),
      { role: "assistant", content: "[The user stopped this before there was an answer.]" },
      user("Next?"),
    ]);
  });

  test("join those of the user that follow one another, with their parts", async () => {
    const parts: ChatMessage = { role: "user", content: [IMAGE] };
    expect(await sentAfter([user("a"), user("b")])).toEqual([user("a\n\nb\n\nNext?")]);
    expect(await sentAfter([user("a"), parts], { accepts: () => true })).toEqual([
      { role: "user", content: [{ type: "text", text: "a" }, IMAGE, { type: "text", text: "Next?" }] },
    ]);
  });

  test("have parts only for a model that takes them", async () => {
    const history: ChatMessage[] = [
      { role: "user", content: [IMAGE] },
      { role: "assistant", content: "A cat." },
    ];
    const [shown] = await sentAfter(history, { accepts: (type) => type === "image/png" });
    expect(shown?.content).toEqual([IMAGE]);
    const [named] = await sentAfter(history);
    expect(JSON.stringify(named?.content)).not.toContain(IMAGE.data);
    expect(JSON.stringify(named?.content)).toContain("image/png");
  });

  test("are the same objects as in the conversation where nothing changes, so that caches hit", async () => {
    const conversation = new Conversation();
    const { provider, requests } = model([call("look"), "Done."]);
    const agent = new Agent(provider, { conversation, tools: [fakeTool("look")] });
    await agent.chat("Go.");
    const [first, second, third] = conversation.sessionContext;
    expect(requests[1]?.messages[0]).toBe(first);
    expect(requests[1]?.messages[1]).toBe(second);
    expect(requests[1]?.messages[2]).toBe(third);
  });
});

describe("toolChoice", () => {
  const choices = async (options: AgentOptions) => {
    const { provider, requests } = model([call("look"), "Done."]);
    await new Agent(provider, { tools: [fakeTool("look")], ...options }).chat("Go.");
    return requests.map(({ toolChoice }) => toolChoice);
  };

  test("applies none to every request, and required to the first", async () => {
    expect(await choices({ toolChoice: "none" })).toEqual(["none", "none"]);
    expect(await choices({ toolChoice: "required" })).toEqual(["required", undefined]);
    expect(await choices({})).toEqual([undefined, undefined]);
  });

  test("prefers the choice of a request to that of the agent", async () => {
    const beforeRequest = ({ turn }: { turn: number }) =>
      turn === 2 ? ({ toolChoice: { tool: "look" } } as const) : undefined;
    expect(await choices({ toolChoice: "auto", beforeRequest })).toEqual(["auto", { tool: "look" }]);
  });

  test.each([["auto"], ["none"], ["required"], [{ tool: "look" }]])("accepts %j", (toolChoice) => {
    expect(() => new Agent(scriptedProvider([]), { toolChoice: toolChoice as never })).not.toThrow();
  });

  test.each([["any"], [{ tool: 7 }], [{}], [7], [null]])("refuses %j", (toolChoice) => {
    expect(() => new Agent(scriptedProvider([]), { toolChoice: toolChoice as never })).toThrow(
      'toolChoice must be "auto", "none", "required" or { tool: name }',
    );
  });
});

describe("beforeRequest", () => {
  test("changes the effort of one request, and no other", async () => {
    const { provider, requests } = model([call("look"), "Done."]);
    await new Agent(provider, {
      tools: [fakeTool("look")],
      effort: "low",
      beforeRequest: ({ turn }) => (turn === 1 ? { effort: "high" } : (null as never)),
    }).chat("Go.");
    expect(requests.map(({ effort }) => effort)).toEqual(["high", "low"]);
  });

  test("sees the context of the message and the usage so far", async () => {
    const usage = { inputTokens: 10, outputTokens: 2 };
    const calling: ChatResponse = {
      ...DONE,
      toolCalls: [{ id: "1", type: "function", function: { name: "look", arguments: "{}" } }],
      usage,
    };
    const seen = vi.fn(() => undefined);
    const { provider } = model([calling, "Done.", "Done."]);
    const agent = new Agent(provider, { tools: [fakeTool("look")], beforeRequest: seen });
    await agent.chat("Go.", { context: { user: 1 } });
    await agent.chat("Again.");
    expect(seen.mock.calls.map(([next]: unknown[]) => next)).toMatchObject([
      { turn: 1, context: { user: 1 }, usage: { inputTokens: 0 } },
      { turn: 2, context: { user: 1 }, usage },
      { turn: 1, usage: { inputTokens: 0 } },
    ]);
    expect((seen.mock.calls[2] as unknown[])[0]).not.toHaveProperty("context");
  });

  test.each([
    [{ provider: {} }, "provider must be a ChatProvider with respond()"],
    [{ provider: null }, "provider must be a ChatProvider with respond()"],
    [{ tools: "look" }, "tools must be an array"],
    [{ toolChoice: "any" }, "toolChoice must be"],
    [{ messages: "Hi" }, "messages must be an array"],
    [{ effort: "huge" }, "effort must be"],
    ["look", "The result of beforeRequest must be an object"],
  ])("stops the message if it returns %j", async (change, problem) => {
    const { provider, requests } = model(["Never."]);
    const agent = new Agent(provider, { beforeRequest: () => change as never });
    await expect(agent.chat("Go.")).rejects.toThrow(problem);
    expect(requests).toEqual([]);
  });

  test("is not waited for after an abort, and nothing is sent", async () => {
    const controller = new AbortController();
    const { provider, requests } = model(["Never."]);
    const agent = new Agent(provider, {
      beforeRequest: () => {
        controller.abort();
        return new Promise<never>(() => undefined);
      },
    });
    await expect(agent.chat("Go.", { signal: controller.signal })).rejects.toMatchObject({ code: "aborted" });
    await agent.settled();
    expect(requests).toEqual([]);
  });

  test("does not apply to child agents", async () => {
    const turns: number[] = [];
    const { provider } = model([call("delegate"), "Child.", "Done."]);
    const delegate = fakeTool(
      "delegate",
      async (_args, running) => (await running?.startAgent?.({ message: "Go." }))?.text,
    );
    const agent = new Agent(provider, {
      tools: [delegate],
      beforeRequest: ({ turn }) => void turns.push(turn),
    });
    await agent.chat("Go.");
    expect(turns).toEqual([1, 2]);
    expect(toolTexts(agent)).toEqual(["Child."]);
  });
});

describe("what a model writes while it answers", () => {
  test("names the arguments of a call once, and again after the request was repeated", async () => {
    const look = {
      ...fakeTool("look", undefined, {
        parameters: { type: "object", properties: { path: { type: "string" } } },
      }),
      titleFrom: "path",
    };
    const provider: ChatProvider = {
      async respond({ onToolDraft, onRetry, onReasoning, onNotice }) {
        const draft = (index: number) => onToolDraft?.({ index, name: "look", delta: "{" });
        onReasoning?.("Hm.");
        onNotice?.("The server is slow.");
        draft(0);
        draft(0);
        draft(1);
        onRetry?.({ attempt: 1, delayMs: 0, reason: "503" });
        draft(0);
        return DONE;
      },
    };
    const { events } = await collect(new Agent(provider, { tools: [look] }), "Go.");
    const draft = { type: "tool_draft", name: "look", delta: "{" };
    expect(events.slice(0, -1)).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "notice", text: "The server is slow." },
      { ...draft, index: 0, titleFrom: ["path"] },
      { ...draft, index: 0 },
      { ...draft, index: 1, titleFrom: ["path"] },
      { type: "retry", attempt: 1, delayMs: 0, reason: "503" },
      { ...draft, index: 0, titleFrom: ["path"] },
      { type: "text", text: "Done." },
    ]);
  });

  test("has the whole text in one event if the provider does not stream, also after a repeated request", async () => {
    let asked = 0;
    const provider: ChatProvider = {
      async respond({ onText, onRetry }) {
        if (++asked > 1) return DONE;
        onText?.("Do");
        onRetry?.({ attempt: 1, delayMs: 0, reason: "503" });
        return DONE;
      },
    };
    const agent = new Agent(provider);
    const texts = [];
    for (let message = 0; message < 2; message++) {
      const { events } = await collect(agent, "Go.");
      texts.push(events.flatMap((event) => (event.type === "text" ? [event.text] : [])));
    }
    expect(texts).toEqual([["Do", "ne."], ["Done."]]);
  });

  test("arrives while the model still writes", async () => {
    const read = deferred();
    const provider: ChatProvider = {
      async respond({ onText }) {
        // A reader waits for it by then.
        await setImmediate();
        onText?.("Do");
        await read.promise;
        onText?.("ne.");
        return DONE;
      },
    };
    const texts: string[] = [];
    for await (const text of textStream(new Agent(provider).streamChat("Go."))) {
      texts.push(text);
      read.resolve();
    }
    expect(texts).toEqual(["Do", "ne."]);
  });

  test("is a stream of text, which rejects with the message and stops it when it is left", async () => {
    const { provider } = model([call("look"), "Done.", "Never read."]);
    const agent = new Agent(provider, { tools: [fakeTool("look")] });
    let text = "";
    for await (const piece of textStream(agent.streamChat("Go."))) text += piece;
    expect(text).toBe("Done.");
    for await (const piece of textStream(agent.streamChat("Again."))) {
      expect(piece).not.toBe("");
      break;
    }
    await agent.settled();
    expect(agent.conversation.sessionContext.at(-1)).toMatchObject({ role: "assistant" });
    const rest = textStream(agent.streamChat("Once more."));
    await expect(rest.next()).rejects.toMatchObject({ code: "replay_mismatch" });
  });

  test("is not asked for by chat(), which has no listener", async () => {
    const { provider, requests } = model(["Done."]);
    await new Agent(provider).chat("Go.");
    expect(Object.keys(requests[0] ?? {})).not.toContain("onText");
    expect(requests[0]?.onRetry).toBeTypeOf("function");
  });
});
