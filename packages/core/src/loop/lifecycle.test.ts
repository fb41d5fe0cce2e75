import { describe, expect, onTestFinished, test, vi } from "vitest";
import { agentWith, call, collect } from "../../test/conversation.js";
import { fakeTool } from "../../test/fixtures.js";
import type { ChatRequest } from "../providers/interface.js";
import type { CallHooks } from "./hooks.js";

const hooksWith = (hooks: Omit<CallHooks, "name">): CallHooks => ({ name: "memory", ...hooks });
const ADDED = '[Added by "memory", not written by the user]';

const userTexts = (agent: ReturnType<typeof agentWith>) =>
  agent.conversation.sessionContext.flatMap((message) => (message.role === "user" ? [message.content] : []));

describe("onMessage", () => {
  test("adds to a message", async () => {
    const agent = agentWith(["Done."], [], {
      hooks: [hooksWith({ onMessage: () => ({ add: "It rains." }) })],
    });
    await agent.chat("Go.");
    expect(userTexts(agent)).toEqual([`Go.\n\n${ADDED}\nIt rains.`]);
  });

  test("refuses a message, and the conversation stays as it was", async () => {
    const agent = agentWith(["Done."], [], {
      hooks: [
        hooksWith({
          onMessage: ({ content }) => (content === "secret" ? { deny: "no secrets" } : undefined),
        }),
      ],
    });
    await expect(agent.chat("secret")).rejects.toMatchObject({
      code: "message_denied",
      message: 'The hook "memory" refused the message: no secrets',
    });
    expect(userTexts(agent)).toEqual([]);
    expect(await agent.chat("Go.")).toBe("Done.");
  });

  test.each([
    [() => Promise.reject(new Error("broken")), "failed, so the message was not sent: broken"],
    [() => new Promise<never>(() => undefined), "did not decide within 20 ms"],
    [() => ({ allow: true }) as never, "returned object, which is not a decision"],
  ])("refuses the message if it fails", async (onMessage, problem) => {
    const agent = agentWith(["Done."], [], { hooks: [hooksWith({ onMessage, timeoutMs: 20 })] });
    await expect(agent.chat("Go.")).rejects.toThrow(problem);
  });

  test("sees a message given to steer, and refuses it with a notice", async () => {
    const agent = agentWith(
      [call("wait"), "Done."],
      [
        fakeTool("wait", () => {
          agent.steer("secret");
          agent.steer("more");
          return "ok";
        }),
      ],
      {
        hooks: [
          hooksWith({ onMessage: ({ content }) => (content === "secret" ? { deny: "no" } : undefined) }),
        ],
      },
    );
    const { events } = await collect(agent, "Go.");
    expect(userTexts(agent)).toEqual(["Go.", "more"]);
    expect(events.filter(({ type }) => type === "notice")).toEqual([
      { type: "notice", text: 'The hook "memory" refused the message: no' },
    ]);
  });
});

describe("onStop", () => {
  test("lets the model continue with a reason, at most three times", async () => {
    const seen: number[] = [];
    const agent = agentWith(["1", "2", "3", "4"], [], {
      hooks: [
        hooksWith({
          onStop: ({ continued }) => {
            seen.push(continued);
            return { deny: "The tests fail." };
          },
        }),
      ],
    });
    expect(await agent.chat("Go.")).toBe("4");
    expect(seen).toEqual([0, 1, 2]);
    expect(userTexts(agent).at(-1)).toBe(`${ADDED}\nThe tests fail.`);
  });

  test("ends the message with a notice if the hook fails", async () => {
    const agent = agentWith(["Done."], [], {
      hooks: [
        hooksWith({
          onStop: () => {
            throw new Error("broken");
          },
        }),
      ],
    });
    const { events, error } = await collect(agent, "Go.");
    expect(error).toBeUndefined();
    expect(events).toContainEqual({
      type: "notice",
      text: 'The hook "memory" failed in onStop: broken',
    });
  });
});

describe("onCompact", () => {
  test("adds what the summary must keep", async () => {
    const systems: unknown[] = [];
    const summary = (request: ChatRequest): string => {
      systems.push(request.messages[0]?.content);
      return "Summary.";
    };
    const agent = agentWith(["1", "2", "3", summary], [], {
      hooks: [hooksWith({ onCompact: () => ({ add: "the plan" }) })],
    });
    for (const message of ["a", "b", "c"]) await agent.chat(message);
    await agent.compact({ focus: "the tests" });
    expect(systems).toEqual([expect.stringMatching(/Keep this above all: the tests\n\n.*\nthe plan$/s)]);
  });
});

describe("a session", () => {
  test("starts before the first message and ends when the agent is disposed of", async () => {
    const seen: string[] = [];
    const agent = agentWith(["1", "2"], [], {
      hooks: [
        hooksWith({
          onSessionStart: ({ resumed }) => {
            seen.push(`start ${resumed}`);
            return { add: "Today is Monday." };
          },
          onSessionEnd: () => void seen.push("end"),
        }),
      ],
    });
    await agent.chat("a");
    await agent.chat("b");
    await agent.dispose();
    expect(seen).toEqual(["start false", "end"]);
    expect(userTexts(agent)).toEqual([`a\n\n${ADDED}\nToday is Monday.`, "b"]);
  });
});

describe("a hook of the lifecycle", () => {
  test.each([
    ["fails", () => Promise.reject(new Error("broken")), "failed in onSessionStart: broken"],
    ["hangs", () => new Promise<never>(() => undefined), "did not decide within 5 ms"],
    ["returns a text", () => "Monday", "returned object from onSessionStart, which is not a decision"],
    ["refuses", () => ({ deny: "no" }), "returned object from onSessionStart, which is not a decision"],
  ])(
    "is reported if it %s at the start of a session, and the message is answered",
    async (_, onSessionStart, problem) => {
      const agent = agentWith(["Done."], [], {
        hooks: [hooksWith({ timeoutMs: 5, onSessionStart: onSessionStart as never })],
      });
      const { events, error } = await collect(agent, "Go.");
      expect(error).toBeUndefined();
      expect(userTexts(agent)).toEqual(["Go."]);
      expect(events).toContainEqual({ type: "notice", text: expect.stringContaining(problem) });
    },
  );

  test("is reported if it returns no decision at the end of a message, and the next hook is asked", async () => {
    const next = vi.fn(() => undefined);
    const agent = agentWith(["Done."], [], {
      hooks: [
        hooksWith({ onStop: () => ({ add: "x" }) as never }),
        hooksWith({ onStop: () => null as never }),
        hooksWith({ onStop: next }),
      ],
    });
    const { events } = await collect(agent, "Go.");
    expect(events).toContainEqual({
      type: "notice",
      text: 'The hook "memory" returned object from onStop, which is not a decision.',
    });
    expect(next).toHaveBeenCalledWith(
      expect.objectContaining({ text: "Done.", finishReason: "stop", turns: 1, continued: 0 }),
    );
  });

  test("is reported if it fails before a compaction, and the summary is written", async () => {
    const agent = agentWith(["1", "2", "3", "Summary."], [], {
      hooks: [hooksWith({ onCompact: () => Promise.reject(new Error("broken")) })],
    });
    for (const message of ["a", "b", "c"]) await agent.chat(message);
    const notices: unknown[] = [];
    expect(await agent.compact({ onEvent: (event) => void notices.push(event) })).toBe(true);
    expect(notices).toContainEqual({ type: "notice", text: 'The hook "memory" failed in onCompact: broken' });
    expect(userTexts(agent)).toContain("[Summary of the conversation so far]\nSummary.");
  });

  test("does not keep the end of an agent waiting, nor fail it", async () => {
    const ended: string[] = [];
    const agent = agentWith(["Done."], [], {
      hooks: [
        hooksWith({ onSessionEnd: () => Promise.reject(new Error("broken")) }),
        hooksWith({ timeoutMs: 5, onSessionEnd: () => new Promise<void>(() => undefined) }),
        hooksWith({ onSessionEnd: ({ resumed }) => void ended.push(`resumed ${resumed}`) }),
        hooksWith({ onStop: () => undefined }),
      ],
    });
    await agent.chat("Go.");
    await agent.dispose();
    expect(ended).toEqual(["resumed false"]);
  });

  test("adds at most 8,000 bytes, without known secrets, to the parts of a message too", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-a-very-secret-key");
    onTestFinished(() => void vi.unstubAllEnvs());
    const agent = agentWith(["Done."], [], {
      hooks: [hooksWith({ onMessage: () => ({ add: `sk-a-very-secret-key ${"x".repeat(20_000)}` }) })],
    });
    const image = { type: "image", mediaType: "image/png", data: "aGk=" } as const;
    await agent.chat([image]);
    const [content] = userTexts(agent);
    expect(content).toMatchObject([image, { type: "text" }]);
    const added = JSON.stringify(content);
    expect(added).toContain("not written by the user]\\n[secret] xxx");
    expect(added).not.toContain("sk-a-very-secret-key");
    expect(added.length).toBeLessThan(8500);
  });

  test("sees a copy of the message", async () => {
    const agent = agentWith(["Done."], [], {
      hooks: [
        hooksWith({
          onMessage: ({ content }) => {
            if (typeof content !== "string") Object.assign(content[0] ?? {}, { text: "changed" });
            return undefined;
          },
        }),
      ],
    });
    await agent.chat([{ type: "text", text: "as sent" }]);
    expect(userTexts(agent)).toEqual([[{ type: "text", text: "as sent" }]]);
  });
});
