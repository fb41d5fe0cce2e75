import { expect, test, vi } from "vitest";
import { agentWith, call, collect, toolTexts } from "../../test/conversation.js";
import { deferred, fakeTool } from "../../test/fixtures.js";
import type { ChatRequest } from "../providers/interface.js";
import { ToolRegistry } from "../tools/registry.js";
import type { ChildAgentAnswer, ChildAgentRequest, ExecutableTool } from "../tools/tool.js";
import type { ApprovalRequest } from "./approval.js";
import type { AgentWorktree } from "./children.js";

/** A tool that starts one child agent with this request, and answers with its text. */
const delegate = (request: ChildAgentRequest, onAnswer?: (answer: ChildAgentAnswer) => void) =>
  fakeTool(
    "delegate",
    async (_args, running) => {
      const answer = await running?.startAgent?.(request);
      if (answer) onAnswer?.(answer);
      return answer?.text ?? "no agent";
    },
    { capabilities: ["read"] },
  );

function worktree(
  tools: readonly ExecutableTool[],
  rest: Partial<AgentWorktree> & { isKept?: boolean } = {},
): AgentWorktree {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  const { isKept = true, ...parts } = rest;
  const close = async () => ({ isKept, summary: isKept ? "Kept at /tree." : "Removed." });
  return { directory: "/tree", registry, close, ...parts };
}

test("runs the tools of the work tree, among those that its parent has on, and says what became of it", async () => {
  const inProject = vi.fn(() => "in the project");
  let answer: ChildAgentAnswer | undefined;
  let request: ChatRequest | undefined;
  const opened: string[] = [];
  const agent = agentWith(
    [
      call("delegate"),
      (asked) => {
        request = asked;
        return { calls: [{ name: "write" }, { name: "off" }, { name: "extra" }] };
      },
      "Written.",
      "Done.",
    ],
    [
      delegate({ message: "Write.", worktree: "w1", inheritPrompt: true, systemPrompt: "Work." }, (given) => {
        answer = given;
      }),
      fakeTool("write", inProject),
      fakeTool("off"),
    ],
    {
      systemPrompt: "You are in /project.",
      openWorktree: async (name) => {
        opened.push(name);
        const tools = [fakeTool("write", () => "in the tree"), fakeTool("off"), fakeTool("extra")];
        return worktree(tools, { systemPrompt: "You are in /tree." });
      },
    },
  );
  agent.disableTool("off");
  const { events } = await collect(agent, "Go.");
  const ends = events.flatMap((event) => (event.type === "child" ? [event.event] : []));
  expect(ends.flatMap((event) => (event.type === "tool_end" ? [event.text] : [])).sort()).toEqual([
    "Tool not available: extra",
    "Tool not available: off",
    "in the tree",
  ]);
  expect(inProject).not.toHaveBeenCalled();
  expect(opened).toEqual(["w1"]);
  expect(request?.messages[0]?.content).toBe("You are in /tree.\n\nWork.");
  expect(request?.tools.map((tool) => tool.function.name)).toEqual(["write"]);
  expect(answer?.worktree).toEqual({ directory: "/tree", isKept: true, summary: "Kept at /tree." });
});

test("asks in the agent's queue under the rules of the work tree, with its directory", async () => {
  const asked: (readonly [string | undefined, string])[] = [];
  let waiting = 0;
  const approve = async ({ directory, name }: ApprovalRequest) => {
    asked.push([directory, name]);
    expect(++waiting).toBe(1);
    await Promise.resolve();
    waiting--;
    return "allow" as const;
  };
  const rules = { decide: () => ({ type: "ask" as const }), allow: () => undefined };
  const agent = agentWith(
    [call("delegate"), { calls: [{ name: "write" }, { name: "write" }] }, "Written.", "Done."],
    [delegate({ message: "Write.", worktree: "w1" }), fakeTool("write")],
    {
      approve,
      openWorktree: async () => worktree([fakeTool("write")], { approval: { rules, approve } }),
    },
  );
  await agent.chat("Go.");
  expect(asked).toEqual([
    [undefined, "delegate"],
    ["/tree", "write"],
    ["/tree", "write"],
  ]);
});

test("lets children that write in their own work trees run at the same time", async () => {
  const arrived = { a: deferred(), b: deferred() };
  const meet = (own: "a" | "b", other: "a" | "b") =>
    fakeTool(
      "write",
      async () => {
        arrived[own].resolve();
        await arrived[other].promise;
        return own;
      },
      { capabilities: ["write"] },
    );
  const start = fakeTool(
    "start",
    async (_args, running) => {
      const children = ["a", "b"].map((worktree) => running?.startAgent?.({ message: "Go.", worktree }));
      return (await Promise.all(children)).map((child) => child?.text).join();
    },
    { capabilities: ["read"] },
  );
  const agent = agentWith(
    [call("start"), call("write"), call("write"), "Met.", "Met.", "Done."],
    [start, fakeTool("write", undefined, { capabilities: ["write"] })],
    { openWorktree: async (name) => worktree([name === "a" ? meet("a", "b") : meet("b", "a")]) },
  );
  await agent.chat("Go.");
  expect(toolTexts(agent)).toEqual(["Met.,Met."]);
});

test.each([true, false])("closes the tree of a child that fails; kept %s", async (isKept) => {
  const agent = agentWith(
    [call("delegate"), call("read"), "Done."],
    [delegate({ message: "Read.", maxTurns: 1, worktree: "w1" }), fakeTool("read")],
    { openWorktree: async () => worktree([fakeTool("read")], { isKept }) },
  );
  await agent.chat("Go.");
  expect(toolTexts(agent)[0]).toMatch(
    isKept ? /Stopped after 1 turns.* Kept at \/tree\.$/ : /Stopped after 1 turns.*raise maxTurns\.$/,
  );
});

test("closes the tree after an abort, when its tools have ended", async () => {
  const happened: string[] = [];
  const started = deferred();
  const slow = fakeTool("slow", async (_args, running) => {
    started.resolve();
    await new Promise<void>((resolve) =>
      running?.signal?.addEventListener("abort", () => resolve(), { once: true }),
    );
    happened.push("ended");
    return "stopped";
  });
  const controller = new AbortController();
  const agent = agentWith(
    [call("delegate"), call("slow")],
    [delegate({ message: "Wait.", worktree: "w1" }), fakeTool("slow")],
    {
      openWorktree: async () =>
        worktree([slow], {
          close: async () => {
            happened.push("closed");
            return { isKept: true, summary: "Kept." };
          },
        }),
    },
  );
  const chat = agent.chat("Go.", { signal: controller.signal });
  await started.promise;
  controller.abort();
  await expect(chat).rejects.toMatchObject({ code: "aborted" });
  await agent.settled();
  expect(happened).toEqual(["ended", "closed"]);
});

test.each([
  [undefined, "this program cannot give a child agent its own work tree"],
  [async () => Promise.reject(new Error("no repository here.")), "no repository here."],
])("refuses a work tree where there is none", async (openWorktree, problem) => {
  const agent = agentWith(
    [call("delegate"), "Done."],
    [delegate({ message: "Write.", worktree: "w1" })],
    openWorktree && { openWorktree },
  );
  expect(await agent.chat("Go.")).toBe("Done.");
  expect(toolTexts(agent)[0]).toContain(problem);
});
