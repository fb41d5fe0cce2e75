import { Agent, type AgentEvent, type ChatProvider } from "@agent/core";
import { Permissions } from "@agent/core/host";
import { functionTool } from "@agent/core/toolkit";
import { expect, test } from "vitest";
import type { SlashCommand } from "../commands/context.js";
import { slashCommands } from "../commands/slashCommands.js";
import type { Status } from "../screen/statusRow.js";
import { ChatController } from "./controller.js";
import type { ChatOptions } from "./types.js";
import type { ChatView } from "./view.js";

/** A chat without a screen: `turns` counts the turns that have ended. */
function chatWith(provider: ChatProvider, options: ChatOptions = {}) {
  const printed: string[] = [];
  const signals: string[] = [];
  const returned: string[] = [];
  const events: AgentEvent[] = [];
  let ended = (): void => undefined;
  const turn = () =>
    new Promise<void>((resolve) => {
      ended = resolve;
    });
  const view = new Proxy({} as ChatView, {
    get: (_target, name) => {
      if (name === "print") return (lines: readonly string[]) => printed.push(...lines);
      if (name === "event") return (event: AgentEvent) => void events.push(event);
      if (name === "giveBack") return (text: string) => returned.push(text);
      if (name === "turnEnded") return () => ended();
      if (["title", "progress", "notify", "copy"].includes(String(name)))
        return (...args: unknown[]) => void signals.push(`${String(name)} ${args.join(" ")}`);
      return () => undefined;
    },
  });
  const agent = new Agent(provider);
  const permissions = new Permissions({ registry: agent.registry, mode: "auto" });
  const controller = new ChatController(view);
  controller.start({ agent, permissions, options }, slashCommands);
  return { controller, agent, printed, returned, events, signals, turn };
}

test("starts with a notice a turn that is marked as not written by the user", async () => {
  const { controller, agent, printed, turn } = chatWith({
    respond: async () => ({ content: "I see.", toolCalls: [], finishReason: "stop" }),
  });
  const over = turn();
  controller.wake({ source: "job-1", text: "It ended: exit code 1.\nSee @notes.txt." });
  await over;
  expect(printed).toContain("⏰ job-1: It ended: exit code 1.");
  expect(agent.conversation.sessionContext).toEqual([
    { role: "user", from: "job-1", content: "It ended: exit code 1.\nSee @notes.txt." },
    { role: "assistant", content: "I see." },
  ]);
});

test("delays a notice until the message is answered", async () => {
  let answer = (): void => undefined;
  const asked: number[] = [];
  const { controller, agent, turn } = chatWith({
    respond: async ({ messages }) => {
      asked.push(messages.length);
      if (asked.length === 1) {
        await new Promise<void>((resolve) => {
          answer = resolve;
          controller.wake({ source: "job-1", text: "It ended." });
        });
      }
      return { content: "Yes.", toolCalls: [], finishReason: "stop" };
    },
  });
  const first = turn();
  controller.submit("Hello.");
  await expect.poll(() => asked.length).toBe(1);
  expect(agent.conversation.sessionContext).toHaveLength(1);
  answer();
  await first;
  const second = turn();
  await second;
  expect(agent.conversation.sessionContext.map((message) => [message.role, message.content])).toEqual([
    ["user", "Hello."],
    ["assistant", "Yes."],
    ["user", "It ended."],
    ["assistant", "Yes."],
  ]);
});

test("takes a queued message back to change it, and does not return it a second time", async () => {
  let answer = (): void => undefined;
  let asked = 0;
  const { controller, agent, returned, turn } = chatWith({
    respond: async ({ signal }) => {
      asked++;
      await new Promise<void>((resolve) => {
        answer = resolve;
        signal?.addEventListener("abort", () => resolve());
      });
      return { content: "Yes.", toolCalls: [], finishReason: "stop" };
    },
  });
  const over = turn();
  controller.submit("Hello.");
  await expect.poll(() => asked).toBe(1);
  controller.submit("And this.");
  await expect.poll(() => controller.takeBackQueued()).toBe("And this.");
  expect(controller.takeBackQueued()).toBeUndefined();
  controller.stopTurn();
  answer();
  await over;
  expect(returned).toEqual([]);
  expect(agent.conversation.sessionContext.filter(({ role }) => role === "user")).toHaveLength(1);
});

test("names a mentioned file that does not exist, and not a user or a package", async () => {
  const { controller, printed, turn } = chatWith({
    respond: async () => ({ content: "Yes.", toolCalls: [], finishReason: "stop" }),
  });
  const over = turn();
  controller.submit("Ask @alice about @types/node, @src/no/such.ts:3 and @missing.md.");
  await over;
  expect(printed).toEqual([
    "  not attached: @src/no/such.ts:3 does not exist",
    "  not attached: @missing.md does not exist",
  ]);
});

test("compacts with what the user wants to keep", async () => {
  const prompts: string[] = [];
  const { controller, printed, turn } = chatWith({
    respond: async ({ messages: [first] }) => {
      if (first?.role === "system") prompts.push(first.content);
      return { content: "Yes.", toolCalls: [], finishReason: "stop" };
    },
  });
  for (const text of ["1", "2", "3", "/compact the failing tests"]) {
    const over = turn();
    controller.submit(text);
    await over;
  }
  await expect.poll(() => printed.at(-1)).toMatch(/^Compacted: /);
  expect(prompts).toEqual([expect.stringMatching(/Keep this above all: the failing tests$/)]);
});

test("tells the terminal what runs, and notifies the user when a long turn asks and ends", async () => {
  const chat = chatWith(
    {
      respond: async () => {
        chat.controller.asks();
        return { content: "Yes.\n```js\nlet a;\n```\n", toolCalls: [], finishReason: "stop" };
      },
    },
    { title: true, progress: true, notifyAfterMs: 0, notifyBy: "osc9", sessionName: () => "Work" },
  );
  const over = chat.turn();
  chat.controller.submit("Hello.");
  await over;
  await expect.poll(() => chat.signals.at(-1)).toBe("notify Work done osc9");
  expect(chat.signals.filter((signal, at) => signal !== chat.signals[at - 2])).toEqual([
    "title Work – agent",
    "progress false",
    "title ● Work – agent",
    "progress true",
    "notify Work asks you something osc9",
    "title Work – agent",
    "progress false",
    "notify Work done osc9",
  ]);
  for (const command of ["/copy", "/copy code"]) chat.controller.submit(command);
  await expect.poll(() => chat.signals).toContain("copy let a;\n");
  expect(chat.signals).toContain("copy Yes.\n```js\nlet a;\n```\n");
});

test("makes the text of the status row again only when the status has changed", async () => {
  const made: string[] = [];
  const { controller, turn } = chatWith(
    { respond: async () => ({ content: "Yes.", toolCalls: [], finishReason: "stop" }) },
    { statusText: async ({ mode }) => String(made.push(mode)) },
  );
  await expect.poll(() => made).toHaveLength(1);
  const over = turn();
  controller.submit("Hello.");
  await over;
  await expect.poll(() => made.length, { timeout: 20_000 }).toBe(2);
});

test("counts what agents in the background cost", async () => {
  const usage = { inputTokens: 1000, outputTokens: 50, cost: 0.25 };
  const costs: unknown[] = [];
  const statusText = async ({ cost }: Status): Promise<string> => {
    costs.push(cost);
    return "";
  };
  const respond: ChatProvider["respond"] = async () => ({
    ...{ content: "Found.", toolCalls: [], finishReason: "stop" as const, usage },
  });
  const { agent } = chatWith({ respond }, { statusText });
  await agent.startAgent({ message: "Look around.", label: "scout" }).done;
  await expect.poll(() => costs.at(-1)).toBe(0.25);
});

test("runs a command after the changes of the answer are stored, which it may need", async () => {
  let store = (): void => undefined;
  const stored = new Promise<void>((resolve) => {
    store = resolve;
  });
  let isStoring = false;
  const end = async (): Promise<void> => {
    isStoring = true;
    await stored;
  };
  const state: SlashCommand = {
    usage: "/state",
    help: "tells whether a message is answered",
    run: (_argument, { busy }) => [String(busy())],
  };
  const { controller, printed, turn } = chatWith(
    { respond: async () => ({ content: "Yes.", toolCalls: [], finishReason: "stop" }) },
    { turns: { begin: () => undefined, end }, commands: { "/state": state } },
  );
  const over = turn();
  controller.submit("Hello.");
  await expect.poll(() => isStoring).toBe(true);
  controller.submit("/state");
  store();
  await over;
  await expect.poll(() => printed).toEqual(["false"]);
});

test("names how to turn on a tool that is off, unless the tool has another reason to be off", async () => {
  const names = ["off", "replaced"];
  let asked = 0;
  const { controller, agent, events, turn } = chatWith({
    respond: async () => {
      const toolCalls = names.map((name) => ({
        id: name,
        type: "function" as const,
        function: { name, arguments: "{}" },
      }));
      return asked++ === 0
        ? { content: null, toolCalls, finishReason: "tool_calls" }
        : { content: "Yes.", toolCalls: [], finishReason: "stop" };
    },
  });
  for (const name of names) {
    const tool = {
      name,
      getSchema: () => functionTool(name, "A tool.", {}),
      execute: async () => "",
    };
    agent.registry.register(tool, { enabled: false });
  }
  agent.registry.enable("replaced");
  agent.registry.withhold("replaced", "use another one");
  const over = turn();
  controller.submit("Hello.");
  await over;
  const texts = events.flatMap((event) => (event.type === "tool_end" ? [event.text] : []));
  expect(texts).toEqual([
    "Tool not available: off\nTurn it on: /enable off",
    "Tool not available: replaced (use another one)",
  ]);
});
