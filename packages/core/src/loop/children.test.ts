import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { agentWith, call, collect, toolTexts } from "../../test/conversation.js";
import { deferred, fakeTool } from "../../test/fixtures.js";
import type { AgentOptions } from "../agentOptions.js";
import { Conversation } from "../conversation/conversation.js";
import type { AgentEvent } from "../events.js";
import type { ChatMessage, ChatRequest, ChatResponse } from "../providers/interface.js";
import type { ScriptedAnswer } from "../providers/replay.js";
import { createToolRegistry } from "../tools/factory.js";
import type { ChildAgentAnswer, ChildAgentRequest } from "../tools/tool.js";
import { ChildSlots } from "./children.js";

/** A tool that starts one child agent with this request, and answers with its text. */
const delegate = (request: ChildAgentRequest, onAnswer?: (answer: ChildAgentAnswer) => void) =>
  fakeTool("delegate", async (_args, running) => {
    const answer = await running?.startAgent?.(request);
    if (answer) onAnswer?.(answer);
    return answer?.text ?? "no agent";
  });

const usage = { inputTokens: 10, outputTokens: 1 };
const say = (content: string): ChatResponse => ({ content, toolCalls: [], finishReason: "stop", usage });

describe("a child agent", () => {
  test("has its own conversation, and its answer is the tool's to use", async () => {
    const requests: ChatRequest[] = [];
    const agent = agentWith(
      [
        call("delegate"),
        (request) => {
          requests.push(request);
          return "Found it.";
        },
        "Done.",
      ],
      [delegate({ message: "Find it.", systemPrompt: "You find things." })],
    );
    expect(await agent.chat("Go.")).toBe("Done.");
    expect(requests[0]?.messages).toEqual([
      { role: "system", content: "You find things." },
      { role: "user", content: "Find it." },
    ]);
    expect(toolTexts(agent)).toEqual(["Found it."]);
  });

  test("fails with its conversation, which can be continued", async () => {
    let messages: readonly ChatMessage[] = [];
    const requests: ChatRequest[] = [];
    const agent = agentWith(
      [
        call("delegate"),
        call("read"),
        (request) => {
          requests.push(request);
          return "Continued.";
        },
        "Done.",
      ],
      [
        fakeTool("read"),
        fakeTool("delegate", async (_args, running) => {
          const failure = await running
            ?.startAgent?.({ message: "Find it.", maxTurns: 1 })
            .catch((error) => error);
          expect(failure).toMatchObject({ code: "turn_limit" });
          // A log must not print a whole conversation.
          expect(JSON.stringify(Object.entries(failure))).not.toContain("Find it.");
          ({ messages } = failure);
          return (await running?.startAgent?.({ message: "Go on.", history: messages }))?.text ?? "";
        }),
      ],
    );
    await agent.chat("Go.");
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(toolTexts(agent)).toEqual(["Continued."]);
  });

  test("gets the named tools among those its parent has enabled, and cannot call the others", async () => {
    let offered: string[] = [];
    const secret = vi.fn(() => "secret");
    const agent = agentWith(
      [
        call("delegate"),
        (request) => {
          offered = request.tools.map((tool) => tool.function.name);
          return { calls: [{ name: "secret" }, { name: "off" }, { name: "read" }] };
        },
        "Tried.",
        "Done.",
      ],
      [delegate({ message: "Try.", tools: ["read", "off"] }), fakeTool("read"), fakeTool("secret", secret)],
    );
    agent.addTool(fakeTool("off"), { enabled: false });
    const { events } = await collect(agent, "Go.");
    expect(offered).toEqual(["read"]);
    expect(secret).not.toHaveBeenCalled();
    expect(childEnds(events)).toEqual(["not_available", "not_available", "ok"]);
  });

  test("cannot reach a tool it was not given through one that redirects calls", async () => {
    const secret = vi.fn(() => "secret");
    const through = {
      ...fakeTool("call_tool"),
      redirect: ({ tool }: Readonly<Record<string, unknown>>) => ({ name: String(tool), args: {} }),
    };
    const names = ["read", "secret"].map((tool) => ({ name: "call_tool", args: { tool } }));
    const agent = agentWith(
      [call("delegate"), { calls: names }, "Tried.", "Done."],
      [
        delegate({ message: "Try.", tools: ["call_tool", "read"] }),
        fakeTool("read"),
        fakeTool("secret", secret),
        through,
      ],
    );
    const { events } = await collect(agent, "Go.");
    expect(secret).not.toHaveBeenCalled();
    expect(childEnds(events)).toEqual(["ok", "not_available"]);
  });

  test("reports its events inside the call that started it, and its tokens count for the whole", async () => {
    let answer: ChildAgentAnswer | undefined;
    const agent = agentWith(
      [{ ...call("delegate"), usage } as never, say("Found."), say("Done.")],
      [
        delegate({ message: "Find.", label: "finder" }, (given) => {
          answer = given;
        }),
      ],
    );
    const { events } = await collect(agent, "Go.");
    expect(answer).toMatchObject({ text: "Found.", finishReason: "stop", turns: 1, usage });
    const nested = events.filter((event) => event.type === "child");
    expect(nested.map(({ event }) => event.type)).toEqual(["text", "usage", "done"]);
    expect(nested[0]).toMatchObject({ id: "call_1_0", child: 0, label: "finder" });
    expect(events.at(-1)).toMatchObject({ type: "done", usage: { inputTokens: 20, outputTokens: 2 } });
  });

  test("is asked about like its parent: hooks and approve see its calls", async () => {
    const approve = vi.fn(({ name }: { name: string }) =>
      name === "write" ? { deny: "Not you." } : ("allow" as const),
    );
    const agent = agentWith(
      [call("delegate"), call("write"), "Could not.", "Done."],
      [delegate({ message: "Write." }), fakeTool("write")],
      { approve },
    );
    const { events } = await collect(agent, "Go.");
    expect(approve.mock.calls.map(([request]) => request.name)).toEqual(["delegate", "write"]);
    expect(childEnds(events)).toEqual(["denied"]);
  });

  test("stops with its parent", async () => {
    const asked = deferred();
    let signal: AbortSignal | undefined;
    const agent = agentWith(
      [
        call("delegate"),
        (request) => {
          signal = request.signal;
          asked.resolve();
          return new Promise<never>(() => undefined);
        },
      ],
      [delegate({ message: "Wait." })],
    );
    const controller = new AbortController();
    const chat = agent.chat("Go.", { signal: controller.signal });
    await asked.promise;
    controller.abort();
    await expect(chat).rejects.toMatchObject({ code: "aborted" });
    await agent.settled();
    expect(signal?.aborted).toBe(true);
  });

  test("is stopped when the tool returns if the tool did not wait for it", async () => {
    const asked = deferred();
    let signal: AbortSignal | undefined;
    const agent = agentWith(
      [
        call("start"),
        async (request) => {
          signal = request.signal;
          asked.resolve();
          return await new Promise<never>((_resolve, reject) => {
            request.signal.addEventListener("abort", () => reject(request.signal.reason));
          });
        },
        "Done.",
      ],
      [
        fakeTool("start", async (_args, running) => {
          void running?.startAgent?.({ message: "Go on forever." });
          await asked.promise;
          return "started";
        }),
      ],
    );
    expect(await agent.chat("Go.")).toBe("Done.");
    expect(signal?.aborted).toBe(true);
  });

  test("has ended, with its tools, before the tool that did not wait for it ends", async () => {
    const started = deferred();
    const order: string[] = [];
    const work = fakeTool("work", async (_args, running) => {
      started.resolve();
      await once(running?.signal as AbortSignal, "abort");
      await setImmediate();
      order.push("the child's tool ended");
      return "stopped";
    });
    const start = fakeTool("start", async (_args, running) => {
      void running?.startAgent?.({ message: "Work." });
      await started.promise;
      return "started";
    });
    const conversation = new Conversation();
    // With the usual grace period: on a busy machine, the one of the other tests may be too short for the tool.
    const registry = createToolRegistry(conversation);
    const agent = agentWith([call("start"), call("work"), "Done."], [start, work], {
      conversation,
      registry,
    });
    for await (const event of agent.streamChat("Go.")) {
      if (event.type === "tool_end" && event.name === "start") order.push("the tool ended");
    }
    expect(order).toEqual(["the child's tool ended", "the tool ended"]);
  });

  test("cannot start children without end: neither deep nor many", async () => {
    const agent = agentWith(
      Array.from({ length: 10 }, () => call("delegate")),
      [delegate({ message: "Again." })],
      { maxChildDepth: 2 },
    );
    const { error } = await collect(agent, "Go.");
    expect(error).toBeDefined();
    const wide = agentWith(
      [call("many"), ...Array.from({ length: 3 }, () => "one"), "Done."],
      [
        fakeTool("many", async (_args, running) => {
          for (;;) await running?.startAgent?.({ message: "One more." });
        }),
      ],
      { maxChildAgents: 3 },
    );
    expect(await wide.chat("Go.")).toBe("Done.");
    expect(toolTexts(wide)).toEqual([
      "Error executing many: At most 3 child agents may be started for one message. Raise maxChildAgents if more are needed.",
    ]);
  });

  test("is refused with a message below the deepest level, and the work continues there", async () => {
    const agent = agentWith(
      [call("delegate"), call("delegate"), "Then here.", "Done."],
      [delegate({ message: "Deeper." })],
      { maxChildDepth: 1 },
    );
    const { events } = await collect(agent, "Go.");
    const ends = events.flatMap((event) => (event.type === "child" ? [event.event] : []));
    expect(ends.find(({ type }) => type === "tool_end")).toMatchObject({
      outcome: "error",
      text: "Error executing delegate: An agent 1 levels below the first may not start another. Do the work here, or raise maxChildDepth.",
    });
  });

  test("uses up its parent's turns, so a tree of agents ends", async () => {
    const agent = agentWith(
      Array.from({ length: 50 }, (_, index) => call(index === 0 ? "delegate" : "read", { index })),
      [delegate({ message: "Read on." }), fakeTool("read", ({ index }) => `page ${index}`)],
      { maxTurns: 5 },
    );
    await expect(agent.chat("Go.")).rejects.toMatchObject({ code: "turn_limit" });
  });

  test("may have fewer turns than its parent", async () => {
    const agent = agentWith(
      [call("delegate"), call("read"), "Done."],
      [delegate({ message: "Read.", maxTurns: 1 }), fakeTool("read")],
    );
    expect(await agent.chat("Go.")).toBe("Done.");
    expect(toolTexts(agent)[0]).toContain("Stopped after 1 turns without an answer");
  });

  test.each([
    [{ message: "" }, "message is empty"],
    [{ message: 7 }, "must be a string or an array of parts"],
    [{ message: "x", tools: "read" }, "tools must be an array"],
    [{ message: "x", maxTurn: 1 }, 'Did you mean "maxTurns"?'],
    [undefined, "must be an object"],
  ])("is refused by name for an invalid request, %j", async (request, problem) => {
    const agent = agentWith([call("delegate"), "Done."], [delegate(request as never)]);
    await agent.chat("Go.");
    expect(toolTexts(agent)[0]).toContain(problem);
  });
});

function childEnds(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "child" && event.event.type === "tool_end" ? [event.event.outcome] : [],
  );
}

test("gives a child the effort of its parent, or its own", async () => {
  const efforts: unknown[] = [];
  const note = (request: ChatRequest) => {
    efforts.push(request.effort);
    return "Found.";
  };
  for (const effort of [undefined, "low"] as const) {
    const tool = delegate({ message: "Look.", ...(effort && { effort }) });
    await agentWith([call("delegate"), note, "Done."], [tool], { effort: "high" }).chat("Go.");
  }
  expect(efforts).toEqual(["high", "low"]);
});

describe("the request of a child agent", () => {
  const seen = async (
    request: ChildAgentRequest,
    options: AgentOptions = {},
    answer: ScriptedAnswer = "Found.",
  ) => {
    const requests: ChatRequest[] = [];
    const answers: ChildAgentAnswer[] = [];
    const note = (given: ChatRequest) => {
      requests.push(given);
      return answer;
    };
    const agent = agentWith(
      [call("delegate"), note, "Done."],
      [delegate(request, (given) => answers.push(given))],
      options,
    );
    await agent.chat("Go.");
    return { request: requests[0], answer: answers[0], text: toolTexts(agent)[0] };
  };

  test("continues the messages of an earlier one, and returns all of them", async () => {
    const history = [
      { role: "user" as const, content: "Before?" },
      { role: "assistant" as const, content: "Yes." },
    ];
    const { request, answer } = await seen({ message: "And now?", history });
    const messages = [...history, { role: "user", content: "And now?" }];
    expect(request?.messages).toEqual(messages);
    expect(answer?.messages).toEqual([...messages, { role: "assistant", content: "Found." }]);
  });

  test.each([
    [{}, undefined],
    [{ systemPrompt: "Child." }, "Child."],
    [{ inheritPrompt: true }, "Parent."],
    [{ inheritPrompt: true, systemPrompt: "Child." }, "Parent.\n\nChild."],
    [{ inheritPrompt: false, systemPrompt: "Child." }, "Child."],
  ])("has, for %j, the system prompt %j", async (more, expected) => {
    const { request } = await seen({ message: "Go.", ...more }, { systemPrompt: "Parent." });
    const [first] = request?.messages ?? [];
    expect(first?.role === "system" ? first.content : undefined).toBe(expected);
  });

  test("answers in the form that it asks for", async () => {
    const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    const { answer } = await seen({ message: "2 + 2?", output }, {}, '{"n":4}');
    expect(answer).toMatchObject({ text: '{"n":4}', output: { n: 4 } });
    expect((await seen({ message: "2 + 2?" })).answer?.output).toBeUndefined();
  });

  test.each([
    [{ maxTurns: 0 }, "maxTurns"],
    [{ effort: "huge" }, "effort"],
    [{ model: 7 }, "model"],
    [{ small: "yes" }, "small"],
    [{ maxCost: -1 }, "maxCost"],
    [{ maxTokens: 0 }, "maxTokens"],
    [{ exclusive: 1 }, "exclusive"],
    [{ inheritPrompt: "no" }, "inheritPrompt"],
    [{ worktree: 1 }, "worktree"],
    [{ label: {} }, "label"],
    [{ history: "x" }, "history"],
    [{ output: "x" }, "output"],
  ])("is refused with %j", async (more, name) => {
    const { text } = await seen({ message: "Go.", ...more } as never);
    expect(text).toMatch(new RegExp(`^Error executing delegate: .*${name}`));
  });
});

test("reports that a child waits for another one, and when it starts", async () => {
  const start = fakeTool(
    "start",
    async (_args, running) => {
      const children = ["a", "b"].map((message) => running?.startAgent?.({ message, exclusive: true }));
      return (await Promise.all(children)).map((child) => child?.text).join();
    },
    { capabilities: ["read"] },
  );
  const { events } = await collect(agentWith([call("start"), "One.", "Two.", "Done."], [start]), "Go.");
  const children = events.flatMap((event) => (event.type === "child" ? [event] : []));
  const noticed = children.flatMap(({ child, event }) =>
    event.type === "notice" ? [`${child} ${event.text}`] : event.type === "done" ? [`${child} done`] : [],
  );
  expect(noticed).toEqual(["1 waits for another agent", "0 done", "1 starts", "1 done"]);
});

test("lets a child wait for its turn, and gives up the wait of one that is stopped", async () => {
  const slots = new ChildSlots(1);
  const release = await slots.acquire(new AbortController().signal);
  const controller = new AbortController();
  const stopped = slots.acquire(controller.signal);
  const order: string[] = [];
  const second = slots.acquire(new AbortController().signal).then((done) => {
    order.push("second");
    return done;
  });
  const third = slots.acquire(new AbortController().signal).then(() => order.push("third"));
  controller.abort();
  await expect(stopped).rejects.toMatchObject({ code: "aborted" });
  expect(order).toEqual([]);
  release();
  (await second)();
  await third;
  expect(order).toEqual(["second", "third"]);
});

test("passes on a slot that was freed for a child that is stopped at the same time", async () => {
  const slots = new ChildSlots(1);
  const release = await slots.acquire(new AbortController().signal);
  const controller = new AbortController();
  const stopped = slots.acquire(controller.signal);
  controller.abort();
  release();
  await expect(stopped).rejects.toMatchObject({ code: "aborted" });
  const next = await slots.acquire(new AbortController().signal);
  expect(next).toBeTypeOf("function");
});
