import { describe, expect, test, vi } from "vitest";
import { agentWith, call, collect, expectValidHistory, toolTexts } from "../../test/conversation.js";
import { deferred, fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import { Conversation } from "../conversation/conversation.js";
import type { AgentEvent } from "../events.js";
import type { ChatProvider, ChatRequest } from "../providers/interface.js";
import { createToolRegistry } from "../tools/factory.js";

/** A tool that waits for the abort and then returns what it has, as a command does. */
function command() {
  const started = deferred();
  const mayStop = deferred();
  const tool = fakeTool("command", (_, running) => {
    running?.onOutput("half");
    started.resolve();
    return new Promise((resolve) => {
      running?.signal.addEventListener("abort", async () => {
        await mayStop.promise;
        resolve('{"stdout":"half","aborted":true}');
      });
    });
  });
  return { tool, started: started.promise, stop: () => mayStop.resolve() };
}

function patientAgent(answers: Parameters<typeof agentWith>[0], ...tools: ReturnType<typeof fakeTool>[]) {
  const conversation = new Conversation();
  const registry = createToolRegistry(conversation);
  return agentWith(answers, tools, { conversation, registry });
}

describe("an abort", () => {
  test("does not come after a message that has ended", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const tool = fakeTool("look", (_, running) => {
      signals.push(running?.signal);
      return "seen";
    });
    const answer = agentWith(
      [
        call("look"),
        ({ signal }) => {
          signals.push(signal);
          return "Done.";
        },
      ],
      [tool],
    );
    const { error } = await collect(answer, "go");
    expect(error).toBeUndefined();
    expect(signals.map((signal) => signal?.aborted)).toEqual([false, false]);
  });

  test("rejects immediately; the tool's own result joins the history, and settled tells when", async () => {
    const { tool, started, stop } = command();
    const controller = new AbortController();
    const agent = patientAgent([call("command"), "Second."], tool);
    const chat = agent.chat("go", { signal: controller.signal });
    await started;
    controller.abort();
    await expect(chat).rejects.toMatchObject({ code: "aborted" });
    expect(toolTexts(agent)).toEqual([]);
    expectValidHistory(agent);
    stop();
    await agent.settled();
    expect(toolTexts(agent)).toEqual(['{"stdout":"half","aborted":true}']);
    expectValidHistory(agent);
  });

  test("resolves settled to the events that come after the end of the stream", async () => {
    const { tool, started, stop } = command();
    const controller = new AbortController();
    const agent = patientAgent([call("command")], tool);
    const stream = collect(agent, "go", controller.signal);
    await started;
    controller.abort();
    const { events, error } = await stream;
    expect(error).toMatchObject({ code: "aborted" });
    expect(events.map(({ type }) => type)).not.toContain("tool_end");
    stop();
    expect(await agent.settled()).toMatchObject([{ type: "tool_end", outcome: "aborted" }]);
    expect(await agent.settled()).toEqual([]);
  });

  test("keeps the next message waiting until the tool has stopped, and shows it the result", async () => {
    const { tool, started, stop } = command();
    const controller = new AbortController();
    const requests: ChatRequest[] = [];
    const agent = patientAgent(
      [
        call("command"),
        (request) => {
          requests.push(request);
          return "Second.";
        },
      ],
      tool,
    );
    const first = agent.chat("go", { signal: controller.signal });
    await started;
    controller.abort();
    await expect(first).rejects.toThrow();
    const second = agent.chat("again");
    expect(requests).toEqual([]);
    stop();
    expect(await second).toBe("Second.");
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  });

  test("can stop a message that waits for the one before", async () => {
    const { tool, started, stop } = command();
    const controller = new AbortController();
    const agent = patientAgent([call("command")], tool);
    const first = agent.chat("go", { signal: controller.signal });
    await started;
    controller.abort();
    await expect(first).rejects.toThrow();
    const impatient = new AbortController();
    const second = agent.chat("again", { signal: impatient.signal });
    impatient.abort();
    await expect(second).rejects.toMatchObject({ code: "aborted" });
    stop();
    await agent.settled();
    expectValidHistory(agent);
  });

  test("gives up after the grace period a tool that never stops, and informs the model", async () => {
    const started = deferred();
    const controller = new AbortController();
    const deaf = fakeTool("deaf", () => {
      started.resolve();
      return new Promise(() => undefined);
    });
    const agent = agentWith([call("deaf")], [deaf]);
    const chat = agent.chat("go", { signal: controller.signal });
    await started.promise;
    controller.abort();
    await expect(chat).rejects.toThrow();
    await agent.settled();
    expect(toolTexts(agent)[0]).toMatch(/aborted; it did not stop within 20 ms and may still be running/);
  });

  test("does not wait for arguments whose check never ends", async () => {
    const asked = deferred();
    const controller = new AbortController();
    const tool = {
      ...fakeTool("odd"),
      parseArguments: () => {
        asked.resolve();
        return new Promise<never>(() => undefined);
      },
    };
    const agent = agentWith([call("odd"), "Next."], [tool]);
    const chat = agent.chat("go", { signal: controller.signal });
    await asked.promise;
    controller.abort();
    await expect(chat).rejects.toThrow();
    expect(await agent.chat("next")).toBe("Next.");
  });

  test("waits for an infinite grace period instead of ending immediately", async () => {
    const { tool, started, stop } = command();
    const controller = new AbortController();
    const conversation = new Conversation();
    const registry = createToolRegistry(conversation, [], { abortGraceMs: Infinity });
    const agent = agentWith([call("command")], [tool], { conversation, registry });
    const chat = agent.chat("go", { signal: controller.signal });
    await started;
    controller.abort();
    await expect(chat).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(toolTexts(agent)).toEqual([]);
    stop();
    await agent.settled();
    expect(toolTexts(agent)).toEqual(['{"stdout":"half","aborted":true}']);
  });

  test("does not ask again about a call that waits for a user when the user stops", async () => {
    const asked = deferred();
    const controller = new AbortController();
    const approve = vi.fn(() => {
      asked.resolve();
      return new Promise<never>(() => undefined);
    });
    const both = { calls: [{ name: "a" }, { name: "b" }] };
    const agent = agentWith([both], [fakeTool("a"), fakeTool("b")], { approve });
    const chat = agent.chat("go", { signal: controller.signal });
    await asked.promise;
    controller.abort();
    await expect(chat).rejects.toThrow();
    await agent.settled();
    expect(approve).toHaveBeenCalledOnce();
    expectValidHistory(agent);
  });
});

describe("what the model had written when it was stopped", () => {
  /** A provider that writes a text and then waits for the abort, or ignores it. */
  function writing(requests: ChatRequest[]): ChatProvider {
    return {
      async respond(request) {
        requests.push(request);
        if (requests.length > 1) return { content: "Next.", toolCalls: [], finishReason: "stop" };
        request.onText?.("Once upon");
        await new Promise((resolve) => request.signal.addEventListener("abort", resolve, { once: true }));
        request.onText?.(" a late word");
        request.onReasoning?.("late thought");
        throw new Error("the connection was closed");
      },
    };
  }

  test("stays in the conversation, marked, and the model is informed with the next message", async () => {
    const requests: ChatRequest[] = [];
    const controller = new AbortController();
    const agent = new Agent(writing(requests));
    const events: AgentEvent[] = [];
    const stream = async () => {
      for await (const event of agent.streamChat("Tell a story.", { signal: controller.signal })) {
        events.push(event);
        controller.abort();
      }
    };
    await expect(stream()).rejects.toMatchObject({ code: "aborted" });
    expect(await agent.settled()).toEqual([]);
    expect(agent.context.sessionContext.at(-1)).toEqual({
      role: "assistant",
      content: "Once upon",
      stopped: true,
    });
    expect(events).toEqual([{ type: "text", text: "Once upon" }]);
    expect(await agent.chat("Go on.")).toBe("Next.");
    expect(requests[1]?.messages[1]).toEqual({
      role: "assistant",
      content: "Once upon\n\n[The user stopped this answer here.]",
    });
  });

  test("is not kept if a fault cut off half an answer", async () => {
    const agent = new Agent({
      async respond({ onText }) {
        onText?.("Once upon");
        throw new Error("connection lost");
      },
    });
    const { error } = await collect(agent, "Tell a story.");
    expect(error).toMatchObject({ code: "provider_failed" });
    expect(agent.context.sessionContext).toEqual([{ role: "user", content: "Tell a story." }]);
  });
});
