import { describe, expect, test, vi } from "vitest";
import { agentWith, call, collect, expectValidHistory, toolTexts } from "../../test/conversation.js";
import { deferred, fakeTool } from "../../test/fixtures.js";
import type { Agent } from "../agent.js";
import type { AgentOptions } from "../agentOptions.js";
import type { ScriptedAnswer } from "../providers/replay.js";
import type { ExecutableTool } from "../tools/tool.js";

describe("approval", () => {
  const approved = (
    answers: readonly ScriptedAnswer[],
    approve: NonNullable<AgentOptions["approve"]>,
    tools: readonly ExecutableTool[],
  ) => agentWith(answers, tools, { approve });

  test("asks nothing without approve, and about each call with it, with its final arguments", async () => {
    const asked: unknown[] = [];
    const agent = approved(
      [call("t", { path: "a" }), "done"],
      ({ name, args }) => {
        asked.push([name, args]);
        return "allow";
      },
      [fakeTool("t", ({ path }) => `path=${path}`)],
    );
    await agent.chat("go");
    expect(asked).toEqual([["t", { path: "a" }]]);
    expect(toolTexts(agent)).toEqual(["path=a"]);
  });

  test("returns a denial as an ordinary result whose reason reaches the model", async () => {
    const execute = vi.fn(() => "ran");
    const agent = approved([call("t"), "understood"], () => ({ deny: "not on Fridays" }), [
      fakeTool("t", execute),
    ]);
    const { events } = await collect(agent, "go");
    expect(execute).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual(["Tool call denied: not on Fridays"]);
    expect(events.find((event) => event.type === "tool_end")).toMatchObject({ outcome: "denied" });
    expect(events.at(-1)).toMatchObject({ type: "done", text: "understood" });
  });

  test("an async function may return a plain text, and one that is not a decision denies the call", async () => {
    const allowing = agentWith([call("t"), "done"], [fakeTool("t", () => "ran")], {
      approve: async () => "allow",
    });
    await allowing.chat("go");
    expect(toolTexts(allowing)).toEqual(["ran"]);
    const mistaken = agentWith([call("t"), "done"], [fakeTool("t", () => "ran")], {
      approve: async () => "alow",
    });
    await mistaken.chat("go");
    expect(toolTexts(mistaken)[0]).toContain("which is not a decision");
  });

  test("ignores changes to the arguments while deciding", async () => {
    const agent = approved(
      [call("t", { path: "safe" }), "done"],
      ({ args }) => {
        (args as { path: string }).path = "/etc/passwd";
        return "allow";
      },
      [fakeTool("t", ({ path }) => String(path))],
    );
    await agent.chat("go");
    expect(toolTexts(agent)).toEqual(["safe"]);
  });

  test("asks for parallel calls one at a time, and runs none without asking", async () => {
    let open = 0;
    let most = 0;
    const decide = vi.fn(async () => {
      most = Math.max(most, ++open);
      await new Promise(setImmediate);
      open--;
      return "allow" as const;
    });
    const agent = approved([{ calls: Array(5).fill({ name: "t" }) }, "done"], decide, [fakeTool("t")]);
    await agent.chat("go");
    expect(decide).toHaveBeenCalledTimes(5);
    expect(most).toBe(1);
  });

  test("applies always to that tool from then on, also to calls already waiting, and to no other tool", async () => {
    const asked: string[] = [];
    const agent = approved(
      [{ calls: [{ name: "a" }, { name: "a" }, { name: "b" }] }, call("a"), "done"],
      ({ name }) => {
        asked.push(name);
        return name === "a" ? "always" : "allow";
      },
      [fakeTool("a"), fakeTool("b")],
    );
    await agent.chat("go");
    expect(asked).toEqual(["a", "b"]);
  });

  test("applies allow once: a repeated call is asked again", async () => {
    const decide = vi.fn(() => "allow" as const);
    const agent = approved([call("t"), call("t"), "done"], decide, [fakeTool("t")]);
    await agent.chat("go");
    expect(decide).toHaveBeenCalledTimes(2);
  });

  test("calls that cannot run are not asked about", async () => {
    const decide = vi.fn(() => "allow" as const);
    const strict = fakeTool("t", undefined, {
      parameters: { type: "object", properties: {}, required: ["path"] },
    });
    const agent = approved(
      [{ calls: [{ name: "nope" }, { name: "t" }, { name: "t", args: "{" }] }, "done"],
      decide,
      [strict],
    );
    await agent.chat("go");
    expect(decide).not.toHaveBeenCalled();
  });

  test.each([[undefined], ["yes"], [true], [{}]])("treats an answer of %j as a denial", async (decision) => {
    const execute = vi.fn(() => "ran");
    const agent = approved([call("t"), "done"], () => decision as unknown as "allow", [
      fakeTool("t", execute),
    ]);
    await agent.chat("go");
    expect(execute).not.toHaveBeenCalled();
    expect(toolTexts(agent)[0]).toMatch(/^Tool call denied: /);
  });

  test("treats an approve that throws as a denial", async () => {
    const execute = vi.fn(() => "ran");
    const agent = approved([call("t"), "done"], () => {
      throw new Error("terminal gone");
    }, [fakeTool("t", execute)]);
    await agent.chat("go");
    expect(execute).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual(["Tool call denied: the approval failed: terminal gone"]);
  });

  test("does not run a tool disabled while the user decides", async () => {
    const execute = vi.fn(() => "ran");
    const agent: Agent = approved([call("t"), "done"], () => {
      agent.disableTool("t");
      return "allow";
    }, [fakeTool("t", execute)]);
    await agent.chat("go");
    expect(execute).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual(["Tool not available: t"]);
  });

  test("rejects immediately and runs nothing on abort while the question is open", async () => {
    const controller = new AbortController();
    const asked = deferred();
    const execute = vi.fn(() => "ran");
    const agent = approved([call("t"), "done"], () => {
      asked.resolve();
      return new Promise(() => undefined);
    }, [fakeTool("t", execute)]);
    const answer = agent.chat("go", { signal: controller.signal });
    await asked.promise;
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: "aborted" });
    expect(execute).not.toHaveBeenCalled();
    expectValidHistory(agent);
  });
});
