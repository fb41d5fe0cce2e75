import { describe, expect, test, vi } from "vitest";
import { agentWith, call, collect, expectValidHistory, toolTexts } from "../../test/conversation.js";
import { fakeTool } from "../../test/fixtures.js";
import { AgentError } from "../errors.js";
import type { ChatResponse } from "../providers/interface.js";
import type { ToolResult } from "../tools/execution.js";
import type { Steps } from "./steps.js";

/** A journal in memory, as an engine would keep it: JSON by key. */
class Journal implements Steps {
  readonly entries = new Map<string, string>();
  readonly intents = new Set<string>();

  async answer(...[key, ask]: Parameters<Steps["answer"]>): Promise<ChatResponse> {
    return await this.#step(JSON.stringify(key), ask);
  }

  async call(...[key, run]: Parameters<Steps["call"]>): Promise<ToolResult> {
    const { args: _, ...rest } = key;
    const name = JSON.stringify(rest);
    if (this.intents.has(name) && !this.entries.has(name) && !key.repeatable) {
      return { outcome: "interrupted", text: "It may or may not have run.", durationMs: 0 };
    }
    return await this.#step(
      name,
      () => run(() => void this.intents.add(name)),
      ({ outcome }) => outcome !== "aborted",
    );
  }

  async #step<T>(
    key: string,
    work: () => Promise<T>,
    isKept: (value: T) => boolean = () => true,
  ): Promise<T> {
    const recorded = this.entries.get(key);
    if (recorded !== undefined) return JSON.parse(recorded);
    const value = await work();
    if (isKept(value)) this.entries.set(key, JSON.stringify(value));
    return value;
  }
}

const script = [call("write", { n: 1 }), call("write", { n: 2 }), "Done."];

describe("a journal under the agent", () => {
  test("runs no completed call and asks for no answer again for a message that is run again", async () => {
    const steps = new Journal();
    const write = vi.fn(({ n }: Record<string, unknown>) => `wrote ${n}`);
    const tool = fakeTool("write", write, { capabilities: ["write"] });
    const first = agentWith(script, [tool], { steps });
    expect(await first.chat("go")).toBe("Done.");
    const again = agentWith([], [tool], { steps });
    const { events, error } = await collect(again, "go");
    expect(error).toBeUndefined();
    expect(write).toHaveBeenCalledTimes(2);
    expect(again.context.sessionContext).toEqual(first.context.sessionContext);
    const reported = events.filter(({ type }) => type === "tool_requested" || type === "tool_end");
    expect(reported).toHaveLength(4);
    for (const event of reported) expect(event).toMatchObject({ replayed: true });
    expect(events.map(({ type }) => type)).not.toContain("tool_start");
  });

  test("marks no event as replayed without a journal", async () => {
    const { events } = await collect(agentWith(script, [fakeTool("write")]), "go");
    expect(events.filter((event) => "replayed" in event)).toEqual([]);
  });

  test("continues after the last completed step", async () => {
    const steps = new Journal();
    const ran: unknown[] = [];
    const tool = fakeTool(
      "write",
      ({ n }) => {
        ran.push(n);
        return `wrote ${n}`;
      },
      { capabilities: ["write"] },
    );
    const killed = agentWith(
      [
        ...script.slice(0, 2),
        () => {
          throw new Error("killed here");
        },
      ],
      [tool],
      { steps },
    );
    await expect(killed.chat("go")).rejects.toThrow("killed here");
    const resumed = agentWith(["Done."], [tool], { steps });
    expect(await resumed.chat("go")).toBe("Done.");
    expect(ran).toEqual([1, 2]);
  });

  test("interrupts a call with an intent and no result, unless its tool only reads", async () => {
    const steps = new Journal();
    const lost = new Error("the process died");
    const dying: Steps = {
      answer: (key, ask) => steps.answer(key, ask),
      call: async (key, run) => {
        await steps.call(key, async (intent) => {
          await run(intent);
          throw lost;
        });
        throw lost;
      },
    };
    const both = { calls: [{ name: "write" }, { name: "read" }] };
    const write = vi.fn(() => "wrote");
    const read = vi.fn(() => "read");
    const tools = [
      fakeTool("read", read, { capabilities: ["read"] }),
      fakeTool("write", write, { capabilities: ["write"] }),
    ];
    await expect(agentWith([both], tools, { steps: dying }).chat("go")).rejects.toBe(lost);
    const resumed = agentWith(["Done."], tools, { steps });
    const { events } = await collect(resumed, "go");
    expect(write).toHaveBeenCalledOnce();
    expect(toolTexts(resumed)).toEqual(["It may or may not have run.", "read"]);
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_end", outcome: "interrupted" }));
  });

  test("ends the message on a suspended approval; once decided, continues without running anything twice", async () => {
    const steps = new Journal();
    const read = vi.fn(() => "read");
    const write = vi.fn(() => "wrote");
    const tools = [fakeTool("read", read), fakeTool("write", write, { capabilities: ["write"] })];
    const both = { calls: [{ name: "read" }, { name: "write" }, { name: "read" }] };
    const waiting = agentWith([both], tools, {
      steps,
      approve: ({ name }) => {
        if (name === "write") throw new AgentError("suspended", "Someone must decide.");
        return "allow";
      },
    });
    await expect(waiting.chat("go")).rejects.toMatchObject({ code: "suspended" });
    expect(write).not.toHaveBeenCalled();
    expectValidHistory(waiting);
    expect(waiting.conversation.pending?.calls.map(({ name }) => name)).toEqual(["write", "read"]);
    const resumed = agentWith(["Done."], tools, { steps, approve: () => "allow" });
    expect(await resumed.chat("go")).toBe("Done.");
    expect(read).toHaveBeenCalledTimes(2);
    expect(toolTexts(resumed)).toEqual(["read", "wrote", "read"]);
  });

  test("keeps a denied call denied, although no one would deny it now", async () => {
    const steps = new Journal();
    const tool = fakeTool("write");
    await agentWith(script, [tool], { steps, approve: () => ({ deny: "no" }) }).chat("go");
    const again = agentWith([], [tool], { steps, approve: () => "allow" });
    await again.chat("go");
    expect(toolTexts(again)).toEqual(["Tool call denied: no", "Tool call denied: no"]);
  });

  test("uses a recorded result, also while its tool is not there yet", async () => {
    const steps = new Journal();
    await agentWith(script, [fakeTool("write")], { steps }).chat("go");
    const again = agentWith([], [], { steps });
    await again.chat("go");
    expect(toolTexts(again)).toEqual(["write ran", "write ran"]);
  });

  test("gives the answers of child agents separate keys, also when a server numbers calls anew", async () => {
    const sameId = (name: string): ChatResponse => ({
      content: null,
      toolCalls: [{ id: "call_0", type: "function", function: { name, arguments: "{}" } }],
      finishReason: "tool_calls",
    });
    const steps = new Journal();
    const ask = fakeTool("ask", async (_, running) => (await running?.startAgent?.({ message: "hi" }))?.text);
    const killed = agentWith(
      [
        sameId("ask"),
        "child one",
        sameId("ask"),
        () => {
          throw new Error("killed here");
        },
      ],
      [ask],
      { steps },
    );
    await expect(killed.chat("go")).rejects.toThrow();
    expect(toolTexts(killed)).toEqual(["child one", expect.stringContaining("killed here")]);
    // The second call failed in its own words; a new process that lost only that result asks the child again.
    for (const key of steps.entries.keys()) if (key.includes('"turn":2,"callId"')) steps.entries.delete(key);
    const resumed = agentWith(["child two", "Done."], [ask], { steps });
    steps.intents.clear();
    await resumed.chat("go");
    expect(toolTexts(resumed)).toEqual(["child one", "child two"]);
  });

  test("accepts a provider's error as a recorded result of a step", async () => {
    const steps: Steps = {
      answer: () => Promise.reject(new AgentError("provider_failed", "recorded: no credit")),
      call: (_, run) => run(),
    };
    await expect(agentWith(["never asked"], [], { steps }).chat("go")).rejects.toMatchObject({
      code: "provider_failed",
      message: "recorded: no credit",
    });
  });

  test("suspends the message of a parent whose child agent waits for a decision, whatever the tool makes of it", async () => {
    const steps = new Journal();
    const write = vi.fn(() => "wrote");
    const asked: unknown[] = [];
    const tools = [
      fakeTool(
        "ask",
        async (_, running) => {
          try {
            return (await running?.startAgent?.({ message: "hi" }))?.text;
          } catch {
            return "the child failed";
          }
        },
        { repeatable: true },
      ),
      fakeTool("write", write, { capabilities: ["write"] }),
    ];
    const waiting = agentWith([call("ask"), call("write")], tools, {
      steps,
      approve: ({ name, scope, turn, id }) => {
        if (name === "ask") return "allow";
        asked.push({ scope, turn, id });
        throw new AgentError("suspended", "Someone must decide.");
      },
    });
    await expect(waiting.chat("go")).rejects.toMatchObject({ code: "suspended" });
    expect(asked).toEqual([{ scope: "1/call_1_0/0/", turn: 1, id: "call_2_0" }]);
    const resumed = agentWith(["child done", "Done."], tools, { steps, approve: () => "allow" });
    expect(await resumed.chat("go")).toBe("Done.");
    expect(write).toHaveBeenCalledOnce();
    expect(toolTexts(resumed)).toEqual(["child done"]);
  });

  test.each([
    [["read"], true],
    [["read", "network"], true],
    [["network"], false],
    [["read", "execute"], false],
    [[], false],
  ] as const)(
    "marks an interrupted call of a tool that can %j as repeatable: %s",
    async (capabilities, expected) => {
      const asked: boolean[] = [];
      const steps: Steps = {
        answer: (_, ask) => ask(),
        call: (key, run) => {
          asked.push(key.repeatable);
          return run();
        },
      };
      const tool = fakeTool("t", undefined, { capabilities: [...capabilities] });
      await agentWith([call("t"), "Done."], [tool], { steps }).chat("go");
      expect(asked).toEqual([expected]);
    },
  );
});
