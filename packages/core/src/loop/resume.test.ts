import { describe, expect, test, vi } from "vitest";
import { agentWith, call, collect, expectValidHistory, toolTexts } from "../../test/conversation.js";
import { fakeTool, temporaryDirectory } from "../../test/fixtures.js";
import type { AgentOptions } from "../agentOptions.js";
import { Conversation } from "../conversation/conversation.js";
import { recordSession } from "../conversation/recorder.js";
import { loadSession } from "../conversation/session.js";
import { AgentError } from "../errors.js";
import type { ScriptedAnswer } from "../providers/replay.js";

const TWO_CALLS = {
  calls: [
    { name: "read", args: { n: 1 } },
    { name: "deploy", args: { to: "prod" } },
  ],
};

/** An agent that reads without approval and deploys only after a decision, which is not given yet. */
function deployer(answers: readonly ScriptedAnswer[], options: AgentOptions = {}) {
  const read = vi.fn(() => "page 1");
  const deploy = vi.fn(({ to }: Record<string, unknown>) => `deployed to ${to}`);
  const agent = agentWith(
    answers,
    [
      fakeTool("read", read, { capabilities: ["read"] }),
      fakeTool("deploy", deploy, { capabilities: ["execute"] }),
    ],
    { approve: ({ name }) => (name === "deploy" ? "suspend" : "allow"), ...options },
  );
  return { agent, read, deploy };
}

const suspended = {
  code: "suspended",
  message: "deploy waits for a decision. Continue with agent.resume().",
};

describe("a call that waits for a decision", () => {
  test("ends the message; the conversation says what waits, and stays valid", async () => {
    const { agent, read, deploy } = deployer([TWO_CALLS, "Done."]);
    await expect(agent.chat("Deploy.")).rejects.toMatchObject(suspended);
    expect(read).toHaveBeenCalledTimes(1);
    expect(deploy).not.toHaveBeenCalled();
    expect(agent.conversation.pending?.calls).toEqual([
      {
        id: "call_1_1",
        name: "deploy",
        args: { to: "prod" },
        capabilities: ["execute"],
        description: { title: "", kind: "execute", needs: [] },
      },
    ]);
    expectValidHistory(agent);
  });

  test.each(["recorded", "saved"])(
    "is part of the %s conversation: another process decides and continues, and nothing runs twice",
    async (how) => {
      const path = `${temporaryDirectory()}/session.jsonl`;
      const conversation = new Conversation({ sessionContextFilePath: path });
      const first = deployer([TWO_CALLS], { conversation });
      const recorder = how === "recorded" ? recordSession(conversation, path) : undefined;
      await expect(first.agent.chat("Deploy.")).rejects.toMatchObject(suspended);
      await (recorder?.close() ?? first.agent.saveContext("waiting", { reject: true }));

      const loaded = new Conversation({ session: await loadSession(path) });
      const second = deployer(["Deployed."], { conversation: loaded });
      const again = recordSession(loaded, path);
      expect(await second.agent.resume({ call_1_1: "allow" })).toMatchObject({ text: "Deployed." });
      await again.close();
      expect(second.read).not.toHaveBeenCalled();
      expect(second.deploy).toHaveBeenCalledTimes(1);
      expect(toolTexts(second.agent)).toEqual(["page 1", "deployed to prod"]);
      expect(loaded.pending).toBeUndefined();
      expectValidHistory(second.agent);
      const kept = await loadSession(path);
      expect(kept.messages).toEqual(loaded.sessionContext);
      expect(kept.pending).toBeUndefined();
    },
  );

  test("survives a compaction, in memory and in the recorded file, and runs once it is allowed", async () => {
    const path = `${temporaryDirectory()}/session.jsonl`;
    const conversation = new Conversation();
    const long = "word ".repeat(1500);
    const first = deployer([long, long, long, TWO_CALLS, "the summary"], { conversation });
    const recorder = recordSession(conversation, path);
    for (const text of ["one", "two", "three"]) await first.agent.chat(text);
    await expect(first.agent.chat("Deploy.")).rejects.toMatchObject(suspended);
    const waiting = conversation.pending;
    expect(await first.agent.compact()).toBe(true);
    await recorder.close();
    expect(JSON.stringify(conversation.sessionContext)).toContain("the summary");
    expect(conversation.pending).toEqual(waiting);
    expect(first.deploy).not.toHaveBeenCalled();

    const loaded = new Conversation({ session: await loadSession(path) });
    expect(loaded.sessionContext).toEqual(conversation.sessionContext);
    expect(loaded.pending).toEqual(waiting);
    const second = deployer(["Deployed."], { conversation: loaded });
    const id = waiting?.calls[0]?.id ?? "";
    expect(await second.agent.resume({ [id]: "allow" })).toMatchObject({ text: "Deployed." });
    expect(second.read).not.toHaveBeenCalled();
    expect(second.deploy).toHaveBeenCalledTimes(1);
    expect(toolTexts(second.agent)).toEqual(["page 1", "deployed to prod"]);
    expectValidHistory(second.agent);
  });

  test("may be denied, and the model is informed why", async () => {
    const { agent, deploy } = deployer([TWO_CALLS, "Then not."]);
    await agent.chat("Deploy.").catch(() => undefined);
    const events = [];
    for await (const event of agent.streamResume({ call_1_1: { deny: "Not on Friday." } }))
      events.push(event);
    expect(events.map(({ type }) => type)).toEqual(["tool_end", "text", "done"]);
    expect(deploy).not.toHaveBeenCalled();
    expect(toolTexts(agent)[1]).toBe("Tool call denied: Not on Friday.");
  });

  test("is asked about again if no one decided about it, and may continue to wait", async () => {
    const { agent } = deployer([TWO_CALLS, "Done."]);
    await agent.chat("Deploy.").catch(() => undefined);
    await expect(agent.resume({})).rejects.toMatchObject(suspended);
    expect(agent.conversation.pending?.calls).toHaveLength(1);
    expect(await agent.resume({ call_1_1: "allow" })).toMatchObject({ text: "Done." });
  });

  test("holds back the calls after it, which are asked about in their turn", async () => {
    const asked: string[] = [];
    const deploys = { calls: ["a", "b"].map((to) => ({ name: "deploy", args: { to } })) };
    const { agent, deploy } = deployer([deploys, "Done."], {
      approve: ({ args }) => {
        asked.push(String(args.to));
        return "suspend";
      },
    });
    await agent.chat("Deploy.").catch(() => undefined);
    expect(asked).toEqual(["a"]);
    expect(agent.conversation.pending?.calls.map(({ args }) => args.to)).toEqual(["a", "b"]);
    expect(await agent.resume({ call_1_0: "allow", call_1_1: "allow" })).toMatchObject({ text: "Done." });
    expect(deploy).toHaveBeenCalledTimes(2);
  });

  test("is given up when the user sends another message", async () => {
    const { agent, deploy } = deployer([TWO_CALLS, "As you like."]);
    await agent.chat("Deploy.").catch(() => undefined);
    expect(await agent.chat("Never mind.")).toBe("As you like.");
    expect(deploy).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual([
      "page 1",
      "Not run: the user sent another message instead of a decision.",
    ]);
    expect(agent.conversation.pending).toBeUndefined();
  });

  test("may be suspended by an error, and cleared with the conversation", async () => {
    const { agent } = deployer([TWO_CALLS], {
      approve: () => {
        throw new AgentError("suspended", "The office is closed.");
      },
    });
    const { error } = await collect(agent, "Deploy.");
    expect(error).toMatchObject({ code: "suspended" });
    agent.clearContext();
    expect(agent.conversation.pending).toBeUndefined();
    expect(agent.context.sessionContext).toEqual([]);
  });

  test("refuses a decision about another call and an invalid decision", async () => {
    const { agent, deploy } = deployer([TWO_CALLS, "Denied."]);
    await expect(agent.resume({ call_1_1: "allow" })).rejects.toThrow(
      "No tool call in this conversation is waiting for approval",
    );
    await agent.chat("Deploy.").catch(() => undefined);
    await expect(agent.resume({ other: "allow" })).rejects.toThrow(
      'The call "other" is not waiting for approval. Waiting: call_1_1.',
    );
    await expect(agent.resume("allow" as never)).rejects.toThrow("decisions must be an object");
    await agent.resume({ call_1_1: "yes" as never });
    expect(deploy).not.toHaveBeenCalled();
    expect(toolTexts(agent)[1]).toContain("which is not a decision");
  });

  test("is refused with a message if its file is damaged", () => {
    const answer = call("x");
    const pending = {
      answer: { role: "assistant", content: null, tool_calls: [] },
      results: [],
      calls: [answer],
    };
    const session = { systemPrompt: "", messages: [], pending };
    expect(() => new Conversation({ session: session as never })).toThrow(
      "waits for a decision, and no one made it",
    );
  });
});
