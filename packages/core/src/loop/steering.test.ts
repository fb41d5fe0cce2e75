import { describe, expect, test } from "vitest";
import { agentWith, call, collect, expectValidHistory } from "../../test/conversation.js";
import { deferred, fakeTool } from "../../test/fixtures.js";
import type { Agent } from "../agent.js";
import type { ChatMessage, ChatRequest } from "../providers/interface.js";

/** An answer that records what it was asked with. */
function watched(requests: ChatRequest[], answer: string) {
  return (request: ChatRequest) => {
    requests.push(request);
    return answer;
  };
}

const users = (messages: readonly ChatMessage[]) =>
  messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));

describe("steering", () => {
  test("adds a message after the tools that run, before the model is asked again", async () => {
    const requests: ChatRequest[] = [];
    let agent: Agent;
    const tool = fakeTool("work", () => {
      expect(agent.steer("Use metric units.")).toBe(true);
      return "worked";
    });
    agent = agentWith([call("work"), watched(requests, "Done.")], [tool]);
    const { events } = await collect(agent, "go");
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
    expect(requests[0]?.messages.at(-1)).toEqual({ role: "user", content: "Use metric units." });
    expect(events).toContainEqual({ type: "steered", id: expect.any(String), content: "Use metric units." });
    expectValidHistory(agent);
  });

  test("answers a message that comes while the model answers, too, before the end", async () => {
    const requests: ChatRequest[] = [];
    let agent: Agent;
    agent = agentWith([
      () => {
        agent.steer("And in French?");
        return "Hello.";
      },
      watched(requests, "Bonjour."),
    ]);
    expect(await agent.chat("Greet me.")).toBe("Bonjour.");
    expect(users(agent.context.sessionContext)).toEqual(["Greet me.", "And in French?"]);
  });

  test("sends several messages to the model as one, since servers refuse two of the user in a row", async () => {
    const requests: ChatRequest[] = [];
    let agent: Agent;
    const tool = fakeTool("work", () => {
      agent.steer("one");
      agent.steer([{ type: "text", text: "two" }]);
      return "worked";
    });
    agent = agentWith([call("work"), watched(requests, "Done.")], [tool]);
    await agent.chat("go");
    const roles = requests[0]?.messages.map(({ role }) => role) ?? [];
    expect(roles.filter((role, index) => role === "user" && roles[index - 1] === "user")).toEqual([]);
  });

  test("keeps nothing before the start and after the end, and informs the caller", async () => {
    const agent = agentWith(["Hello."]);
    expect(agent.steer("too early")).toBe(false);
    await agent.chat("hi");
    expect(agent.steer("too late")).toBe(false);
    expect(agent.takeSteering()).toEqual([]);
  });

  test("delivers every message that is accepted, whenever it comes, and refuses the others", async () => {
    const agent = agentWith(Array.from({ length: 30 }, () => "Hello."));
    const accepted: string[] = [];
    let refused = 0;
    const probe = (): void => {
      const text = `message ${accepted.length}`;
      if (accepted.length >= 20) return;
      if (agent.steer(text)) accepted.push(text);
      else refused++;
      if (refused < 20) queueMicrotask(probe);
    };
    agent.conversation.onChange((change) => {
      if (change.type === "message" && change.message.role === "assistant") queueMicrotask(probe);
    });
    await agent.chat("hi");
    expect(users(agent.context.sessionContext)).toEqual(["hi", ...accepted]);
    expect(refused).toBeGreaterThan(0);
    expect(agent.takeSteering()).toEqual([]);
  });

  test("withdraws what was not delivered, while the message is answered and after it was stopped", async () => {
    const started = deferred();
    const controller = new AbortController();
    const tool = fakeTool("wait", (_, running) => {
      started.resolve();
      return new Promise((resolve) => running?.signal.addEventListener("abort", () => resolve("stopped")));
    });
    const agent = agentWith([call("wait")], [tool]);
    const chat = agent.chat("go", { signal: controller.signal });
    await started.promise;
    agent.steer("withdrawn");
    expect(agent.takeSteering()).toEqual(["withdrawn"]);
    agent.steer("never delivered");
    controller.abort();
    expect(agent.steer("while it stops")).toBe(false);
    await expect(chat).rejects.toMatchObject({ code: "aborted" });
    expect(agent.takeSteering()).toEqual(["never delivered"]);
  });

  test("sends what was not withdrawn before the next message, in the order it was given", async () => {
    let agent: Agent;
    agent = agentWith([
      () => {
        agent.steer("older");
        throw new Error("no connection");
      },
      "Done.",
    ]);
    await expect(agent.chat("first")).rejects.toThrow("no connection");
    await agent.chat("newer");
    expect(users(agent.context.sessionContext)).toEqual(["first", "older", "newer"]);
  });

  test.each([[""], [7], [[]], [[{ type: "video" }]]])("refuses steer(%j)", (message) => {
    expect(() => agentWith([]).steer(message as string)).toThrow(/message/);
  });
});
