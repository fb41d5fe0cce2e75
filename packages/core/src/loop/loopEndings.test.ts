import { describe, expect, test, vi } from "vitest";
import { agentWith, call, expectValidHistory, send, toolTexts } from "../../test/conversation.js";
import { deferred, fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import type { ChatProvider, ChatResponse } from "../providers/interface.js";

describe.each(["chat", "streamChat"] as const)("the loop in %s", (mode) => {
  test("stops a runaway loop at a turn limit with a clear error and a valid history", async () => {
    let n = 0;
    const agent = agentWith(
      Array(20).fill(() => call("t", { n: n++ })),
      [fakeTool("t")],
      { maxTurns: 5 },
    );
    await expect(send(agent, "go", mode)).rejects.toMatchObject({
      code: "turn_limit",
      message: expect.stringContaining("5 turns"),
    });
    expect(toolTexts(agent)).toHaveLength(5);
    expectValidHistory(agent);
  });

  test("points out the same call with the same result to the model, then stops it", async () => {
    const agent = agentWith(Array(20).fill(call("t")), [fakeTool("t")], { maxRepeats: 5 });
    await expect(send(agent, "go", mode)).rejects.toMatchObject({ code: "repeated_calls" });
    expect(toolTexts(agent)).toHaveLength(5);
    expect(toolTexts(agent)[1]).toBe("t ran");
    expect(toolTexts(agent)[2]).toContain("the same call gave the same result 3 times in a row");
    expectValidHistory(agent);
  });

  test("does not treat the same call with changing results as a repetition", async () => {
    let n = 0;
    const agent = agentWith(
      [...Array(8).fill(call("poll")), "ready"],
      [fakeTool("poll", () => `attempt ${n++}`)],
      { maxRepeats: 3 },
    );
    expect(await send(agent, "go", mode)).toBe("ready");
  });

  test("rejects on a provider error, keeps the user's text, and the next message works", async () => {
    let failing = true;
    const provider: ChatProvider = {
      async respond(request) {
        if (failing) throw new Error("connection lost");
        return { content: `${request.messages.length} messages`, toolCalls: [], finishReason: "stop" };
      },
    };
    const agent = new Agent(provider);
    await expect(send(agent, "important", mode)).rejects.toMatchObject({
      code: "provider_failed",
      message: "The provider failed: connection lost",
    });
    expect(agent.context.sessionContext).toEqual([{ role: "user", content: "important" }]);
    failing = false;
    // Some servers refuse two messages of the user in a row, so they go out as one.
    expect(await send(agent, "again", mode)).toBe("1 messages");
    expect(agent.context.sessionContext).toHaveLength(3);
  });

  test.each([undefined, null, "text", {}, { toolCalls: "x" }])(
    "reports a clear error for a provider that resolves to %j",
    async (response) => {
      const agent = new Agent({ respond: async () => response as unknown as ChatResponse });
      await expect(send(agent, "go", mode)).rejects.toThrow(
        /^The provider resolved to .*, not to a response\.$/,
      );
    },
  );

  test("sends no request for a message that is aborted before its start", async () => {
    const respond = vi.fn();
    const agent = new Agent({ respond });
    await expect(send(agent, "go", mode, AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
    expect(respond).not.toHaveBeenCalled();
  });

  test("rejects immediately on abort while the model answers, also if the provider ignores the signal", async () => {
    const asked = deferred();
    const controller = new AbortController();
    const agent = new Agent({
      respond: () => {
        asked.resolve();
        return new Promise(() => undefined);
      },
    });
    const answer = send(agent, "go", mode, controller.signal);
    await asked.promise;
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: "aborted" });
    expect(agent.context.sessionContext).toEqual([
      { role: "user", content: "go" },
      { role: "assistant", content: "", stopped: true },
    ]);
  });

  test("rejects on abort inside a tool before anything else that waits for its turn", async () => {
    const running = deferred();
    const stuck = fakeTool("stuck", () => {
      running.resolve();
      return new Promise(() => undefined);
    });
    const controller = new AbortController();
    const order: string[] = [];
    const answer = send(agentWith([call("stuck")], [stuck]), "go", mode, controller.signal).catch(() =>
      order.push("rejected"),
    );
    await running.promise;
    controller.abort();
    // Whatever was due before the abort, or is due right after it, comes later than the rejection.
    const later = new Promise<void>((resolve) => setImmediate(() => resolve(void order.push("immediate"))));
    const latest = new Promise<void>((resolve) => setTimeout(() => resolve(void order.push("timer")), 0));
    await Promise.all([answer, later, latest]);
    expect(order[0]).toBe("rejected");
  });

  test("signals the tool on abort inside it, rejects, and leaves every call with a result", async () => {
    const controller = new AbortController();
    const running = deferred();
    const signalled = deferred();
    const stuck = fakeTool("stuck", (_, toolCall) => {
      toolCall?.signal.addEventListener("abort", () => signalled.resolve());
      running.resolve();
      return new Promise(() => undefined);
    });
    const agent = agentWith(
      [{ calls: [{ name: "quick" }, { name: "stuck" }] }, "next answer"],
      [fakeTool("quick"), stuck],
    );
    const answer = send(agent, "go", mode, controller.signal);
    await running.promise;
    await new Promise(setImmediate);
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: "aborted" });
    await signalled.promise;
    await agent.settled();
    expect(toolTexts(agent)).toEqual([
      "quick ran",
      "Error executing stuck: aborted; it did not stop within 20 ms and may still be running.",
    ]);
    expectValidHistory(agent);
    expect(await send(agent, "and now?", mode)).toBe("next answer");
  });

  test("refuses a second message while one is answered; the first continues", async () => {
    const hold = deferred<string>();
    const agent = agentWith([async () => await hold.promise]);
    const first = send(agent, "one", mode);
    await new Promise(setImmediate);
    await expect(send(agent, "two", mode)).rejects.toMatchObject({ code: "busy" });
    expect(() => agent.clearContext()).toThrow(/answering another message/);
    hold.resolve("first answer");
    expect(await first).toBe("first answer");
    expect(agent.context.sessionContext).toHaveLength(2);
  });

  test("refuses a second agent in the same conversation while one answers", async () => {
    const hold = deferred<string>();
    const agent = agentWith([async () => await hold.promise]);
    const other = agentWith(["second answer", "third answer"], [], { conversation: agent.conversation });
    const first = send(agent, "one", mode);
    await new Promise(setImmediate);
    await expect(send(other, "two", mode)).rejects.toMatchObject({
      code: "busy",
      message: expect.stringContaining("give this agent its own Conversation"),
    });
    await expect(other.compact()).rejects.toMatchObject({ code: "busy" });
    expect(() => other.clearContext()).toThrow(/Another agent is answering/);
    hold.resolve("first answer");
    await first;
    expect(await send(other, "two", mode)).toBe("second answer");
    expect(agent.context.sessionContext.map(({ content }) => content)).toEqual([
      "one",
      "first answer",
      "two",
      "second answer",
    ]);
  });
});
