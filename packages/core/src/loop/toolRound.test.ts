import { describe, expect, test } from "vitest";
import { agentWith, call, collect, expectValidHistory, toolTexts } from "../../test/conversation.js";
import { fakeTool } from "../../test/fixtures.js";
import type { ContentPart } from "../conversation/content.js";
import type { ToolMessage } from "../conversation/conversation.js";
import { AgentError } from "../errors.js";
import type { Steps } from "./steps.js";

const image = (data: string): ContentPart => ({ type: "image", mediaType: "image/png", data });

const results = (agent: ReturnType<typeof agentWith>): ToolMessage[] =>
  agent.conversation.sessionContext.filter((message) => message.role === "tool");

describe("the parts of results", () => {
  test("make a result new: a model that looks at changing pictures does not repeat itself", async () => {
    let count = 0;
    const look = fakeTool("look", (_, running) => {
      running?.attach?.(image(`${count++}`.padStart(4, "A")));
      return "a picture";
    });
    const agent = agentWith([...Array(6).fill(call("look")), "Done."], [look], { maxRepeats: 3 });
    expect(await agent.chat("Watch.")).toBe("Done.");
    const same = fakeTool("look", (_, running) => {
      running?.attach?.(image("AAAA"));
      return "a picture";
    });
    const stuck = agentWith(Array(6).fill(call("look")), [same], { maxRepeats: 3 });
    await expect(stuck.chat("Watch.")).rejects.toMatchObject({ code: "repeated_calls" });
  });

  test("stay with a result that was complete when another call was suspended", async () => {
    const look = fakeTool("look", (_, running) => {
      running?.attach?.(image("AAAA"));
      return "a picture";
    });
    const agent = agentWith(
      [{ calls: [{ name: "look" }, { name: "send" }] }, "Done."],
      [look, fakeTool("send", () => "sent", { capabilities: ["execute"] })],
      { approve: ({ name }) => (name === "send" ? "suspend" : "allow") },
    );
    await expect(agent.chat("Go.")).rejects.toMatchObject({ code: "suspended" });
    await agent.resume({ call_1_1: "allow" });
    expect(results(agent).map(({ content }) => content)).toEqual([
      [{ type: "text", text: "a picture" }, image("AAAA")],
      "sent",
    ]);
  });
});

test.each([
  ["with its parts", [image("AAAA")]],
  ["of text alone", []],
])("shortens a result %s after another call was suspended", async (_, parts) => {
  const look = fakeTool("look", (_args, running) => {
    for (const part of parts) running?.attach?.(part);
    return "a picture ".repeat(800);
  });
  const agent = agentWith(
    [{ calls: [{ name: "look" }, { name: "send" }] }, "Done."],
    [look, fakeTool("send", () => "sent ".repeat(1600), { capabilities: ["execute"] })],
    { approve: ({ name }) => (name === "send" ? "suspend" : "allow"), contextTokens: 10_000 },
  );
  await expect(agent.chat("Go.")).rejects.toMatchObject({ code: "suspended" });
  await agent.resume({ call_1_1: "allow" });
  const text = expect.stringContaining("ask for less at a time");
  expect(results(agent)[0]?.content).toEqual(parts.length > 0 ? [{ type: "text", text }, ...parts] : text);
});

test("notes on the last result that more calls were dropped than one answer may hold", async () => {
  const agent = agentWith([{ calls: Array(4).fill({ name: "t" }) }, "Done."], [fakeTool("t")], {
    maxCallsPerAnswer: 2,
  });
  await agent.chat("Go.");
  expect(toolTexts(agent)).toEqual([
    "t ran",
    "t ran\n[Note: the answer held 2 more tool calls than the 2 that one answer may hold. They were not run.]",
  ]);
  expectValidHistory(agent);
});

test("runs at most sixteen calls at the same time", async () => {
  let running = 0;
  let most = 0;
  const read = fakeTool(
    "read",
    async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return "read";
    },
    { capabilities: ["read"] },
  );
  const agent = agentWith([{ calls: Array(40).fill({ name: "read" }) }, "Done."], [read]);
  await agent.chat("Go.");
  expect(most).toBe(16);
  expect(toolTexts(agent)).toHaveLength(40);
});

describe("a round whose steps fail", () => {
  /** Steps that cannot record the call of this tool. */
  const failing = (tool: string): Steps => ({
    answer: (_key, ask) => ask(),
    call: async ({ name }, run) => {
      const result = await run();
      if (name === tool) throw new AgentError("provider_failed", "the journal is gone");
      return result;
    },
  });

  test("gives every call a result: what is known of it, and nothing runs after the failure", async () => {
    const names = ["before", "lost", "after"];
    const ran: string[] = [];
    const tools = names.map((name) =>
      fakeTool(name, () => ran.push(name) > 0 && name, { capabilities: ["write"] }),
    );
    const agent = agentWith([{ calls: names.map((name) => ({ name })) }], tools, { steps: failing("lost") });
    const { error } = await collect(agent, "Go.");
    expect(error).toMatchObject({ message: "the journal is gone" });
    expect(ran).toEqual(["before", "lost"]);
    expect(toolTexts(agent)).toEqual([
      "before",
      "Interrupted: whether this call has run is not known. Check before you repeat it.",
      "Not run: the message was interrupted by an earlier call of this answer.",
    ]);
    expectValidHistory(agent);
    expect(agent.conversation.pending).toBeUndefined();
  });
});

describe("calls after one that waits for a decision", () => {
  test("are described for the user, also those that cannot run", async () => {
    const save = {
      ...fakeTool("save", () => "saved", { capabilities: ["write"] }),
      describeCall: () => ({ targets: [{ type: "text" as const, text: "a" }] }),
      previewCall: () => ({ changes: [], basis: "v1" }),
    };
    const agent = agentWith(
      [{ calls: [{ name: "save" }, { name: "save" }, { name: "nope" }, { name: "save", args: "{" }] }],
      [save],
      { approve: () => "suspend" },
    );
    await expect(agent.chat("Go.")).rejects.toMatchObject({ code: "suspended" });
    const described = {
      name: "save",
      description: { targets: [{ type: "text", text: "a" }] },
      preview: { changes: [], basis: "v1" },
      capabilities: ["write"],
    };
    expect(agent.conversation.pending?.calls).toMatchObject([
      { id: "call_1_0", ...described },
      { id: "call_1_1", ...described },
      { id: "call_1_2", name: "nope", capabilities: [] },
      { id: "call_1_3", name: "save", capabilities: ["write"] },
    ]);
    expect(agent.conversation.pending?.calls[3]).not.toHaveProperty("description");
  });
});
