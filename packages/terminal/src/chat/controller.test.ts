import { Agent, type ChatProvider } from "@agent/core";
import { Permissions } from "@agent/core/host";
import { expect, test } from "vitest";
import { slashCommands } from "../commands/slashCommands.js";
import { ChatController } from "./controller.js";
import type { ChatView } from "./view.js";

/** A chat without a screen: `turns` counts the turns that have ended. */
function chatWith(provider: ChatProvider) {
  const printed: string[] = [];
  let ended = (): void => undefined;
  const turn = () =>
    new Promise<void>((resolve) => {
      ended = resolve;
    });
  const view = new Proxy({} as ChatView, {
    get: (_target, name) => {
      if (name === "print") return (lines: readonly string[]) => printed.push(...lines);
      if (name === "turnEnded") return () => ended();
      return () => undefined;
    },
  });
  const agent = new Agent(provider);
  const permissions = new Permissions({ registry: agent.registry, mode: "auto" });
  const controller = new ChatController(view);
  controller.start({ agent, permissions, options: {} }, slashCommands);
  return { controller, agent, printed, turn };
}

test("a notice starts a turn that is marked as not written by the user", async () => {
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

test("a notice waits until the message is answered", async () => {
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
