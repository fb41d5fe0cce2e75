import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import { agentWith, call, collect, expectValidHistory } from "../test/conversation.js";
import { deferred, fakeTool } from "../test/fixtures.js";
import { Agent } from "./agent.js";
import type { ChatResponse } from "./providers/interface.js";

describe("streamChat", () => {
  test("reports text, the request, the start, live output, tool end with outcome and duration, usage and done, in order", async () => {
    const usage = { inputTokens: 10, outputTokens: 2 };
    const calling: ChatResponse = {
      content: "Looking.",
      toolCalls: [{ id: "c1", type: "function", function: { name: "t", arguments: '{"a":1}' } }],
      finishReason: "tool_calls",
      usage,
    };
    const agent = agentWith(
      [calling, { content: "Done.", toolCalls: [], finishReason: "stop", usage }],
      [
        fakeTool("t", (_, toolCall) => {
          toolCall?.onProcess?.(4242);
          toolCall?.onOutput("line 1\n");
          toolCall?.report?.({ ok: false, summary: "exit code 1" });
          return "output";
        }),
      ],
    );
    const { events } = await collect(agent, "go");
    expect(events).toEqual([
      { type: "text", text: "Looking." },
      { type: "usage", usage, total: usage },
      { type: "tool_requested", id: "c1", name: "t", args: { a: 1 }, title: "", kind: "other" },
      { type: "tool_start", id: "c1", name: "t", args: { a: 1 }, about: { title: "", kind: "other" } },
      { type: "tool_process", id: "c1", name: "t", pid: 4242 },
      { type: "tool_output", id: "c1", name: "t", chunk: "line 1\n" },
      {
        type: "tool_end",
        id: "c1",
        name: "t",
        about: { title: "", kind: "other" },
        outcome: "error",
        summary: "exit code 1",
        text: "output",
        durationMs: expect.any(Number),
      },
      { type: "text", text: "Done." },
      { type: "usage", usage, total: { inputTokens: 20, outputTokens: 4 } },
      {
        type: "done",
        text: "Done.",
        finishReason: "stop",
        turns: 2,
        usage: { inputTokens: 20, outputTokens: 4 },
      },
    ]);
  });

  test("aborts the request and the tools on an early break, and the conversation continues", async () => {
    const signalled = deferred();
    const stuck = fakeTool("stuck", (_, toolCall) => {
      toolCall?.signal.addEventListener("abort", () => signalled.resolve());
      return new Promise(() => undefined);
    });
    const agent = agentWith([call("stuck"), "later"], [stuck]);
    for await (const event of agent.streamChat("go")) if (event.type === "tool_start") break;
    await signalled.promise;
    expectValidHistory(agent);
    expect(await agent.chat("again")).toBe("later");
  });

  test("leaves no listener of the caller's signal, also after an early break", async () => {
    const { signal } = new AbortController();
    for await (const _ of agentWith(["one"], []).streamChat("go", { signal }));
    for await (const _ of agentWith(["one"], []).streamChat("go", { signal })) break;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("aborts the request on an early break while text streams, and keeps what was written as stopped by the user", async () => {
    const aborted = deferred();
    const agent = new Agent({
      respond: ({ onText, signal }) => {
        onText?.("half an ans");
        signal.addEventListener("abort", () => aborted.resolve());
        return new Promise(() => undefined);
      },
    });
    for await (const _ of agent.streamChat("go")) break;
    await aborted.promise;
    await agent.settled();
    expect(agent.context.sessionContext).toEqual([
      { role: "user", content: "go" },
      { role: "assistant", content: "half an ans", stopped: true },
    ]);
  });

  test("accepts the next message as soon as it reports that it is done", async () => {
    const agent = agentWith(["one", "two"]);
    let second = "";
    for await (const event of agent.streamChat("first")) {
      if (event.type === "done") second = await agent.chat("second");
    }
    expect(second).toBe("two");
  });

  test("does nothing before the first event is asked for", () => {
    const respond = vi.fn();
    new Agent({ respond }).streamChat("go");
    expect(respond).not.toHaveBeenCalled();
  });

  test("reports a retry, so that a display can revert what it showed", async () => {
    const agent = new Agent({
      async respond({ onText, onRetry }) {
        onText?.("first try");
        onRetry?.({ attempt: 1, delayMs: 5, reason: "the stream ended" });
        onText?.("second try");
        return { content: "second try", toolCalls: [], finishReason: "stop" };
      },
    });
    const { events } = await collect(agent, "go");
    expect(events.map((event) => event.type)).toEqual(["text", "retry", "text", "done"]);
    expect(events[2]).toMatchObject({ whole: "second try" });
  });

  test.each<[what: string, attempts: string[][], printed: string]>([
    [
      "repeats the text",
      [
        ["Hel", "lo"],
        ["He", "llo, ", "you."],
      ],
      "Hello, you.",
    ],
    ["is the same", [["Hello."], ["Hel", "lo."]], "Hello."],
    ["fails twice", [["Hel"], ["He"], ["Hello."]], "Hello."],
    ["is another one", [["Hello"], ["Good ", "day."]], "Hello\n\n[The answer starts again.]\n\nGood day."],
    ["is shorter", [["Hello, you."], ["Hello"]], "Hello, you.\n\n[The answer starts again.]\n\nHello"],
  ])(
    "prints the answer once in a loop that prints every text if the new attempt %s",
    async (_, attempts, printed) => {
      const agent = new Agent({
        async respond({ onText, onRetry }) {
          for (const [index, pieces] of attempts.entries()) {
            if (index > 0) onRetry?.({ attempt: index, delayMs: 0, reason: "the stream ended" });
            for (const piece of pieces) onText?.(piece);
          }
          return { content: attempts.at(-1)?.join("") ?? "", toolCalls: [], finishReason: "stop" };
        },
      });
      const { events } = await collect(agent, "go");
      expect(events.map((event) => (event.type === "text" ? event.text : "")).join("")).toBe(printed);
      // A display that discards text at a retry.
      let shown = "";
      for (const event of events) {
        if (event.type === "retry") shown = "";
        if (event.type === "text") shown += event.whole ?? event.text;
      }
      expect(shown).toBe(attempts.at(-1)?.join(""));
    },
  );
});
