import { describe, expect, test, vi } from "vitest";
import { agentWith, call, collect, toolTexts } from "../../test/conversation.js";
import { fakeTool, temporaryDirectory } from "../../test/fixtures.js";
import type { AgentOptions } from "../agentOptions.js";
import { Conversation } from "../conversation/conversation.js";
import { recordSession } from "../conversation/recorder.js";
import { loadSession } from "../conversation/session.js";
import type { CallDescription } from "../tools/callDescription.js";
import type { ExecutableTool } from "../tools/tool.js";
import type { ApprovalRequest } from "./approval.js";

const NAMED = {
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

/** A tool that writes a path, with what it says about its calls. */
function writer(more: Partial<ExecutableTool> = {}) {
  const run = vi.fn((_args: Record<string, unknown>, _call?: unknown) => "written");
  const tool: ExecutableTool = { ...fakeTool("save", run, { ...NAMED, capabilities: ["write"] }), ...more };
  return { tool, run };
}

const targetAt = (path: string, realPath?: string): CallDescription => ({
  targets: [{ type: "file", path, access: "write", ...(realPath !== undefined && { realPath }) }],
});

const oneCall = [call("save", { path: "a.txt" }), "Done."];

describe("the description of a call", () => {
  test("reaches the question, the start and the result", async () => {
    const { tool } = writer({
      describeCall: () => targetAt("/p/a.txt"),
      previewCall: () => ({ changes: [] }),
    });
    const asked: ApprovalRequest[] = [];
    const agent = agentWith(oneCall, [tool], {
      approve: (request) => {
        asked.push(request);
        return "allow";
      },
    });
    const { events } = await collect(agent, "go");
    expect(asked[0]?.description).toEqual({
      title: "a.txt",
      kind: "edit",
      needs: [],
      ...targetAt("/p/a.txt"),
    });
    expect(asked[0]?.preview).toEqual({ changes: [] });
    const about = { title: "a.txt", kind: "edit", files: [{ path: "/p/a.txt" }] };
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_start", about }));
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_end", about }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool_requested", title: "a.txt", kind: "edit" }),
    );
  });

  test("cannot change the arguments that run", async () => {
    const change = (args: Record<string, unknown>): CallDescription => {
      args.path = "changed.txt";
      return {};
    };
    const { tool, run } = writer({ describeCall: (args) => change(args as Record<string, unknown>) });
    const agent = agentWith(oneCall, [tool], { approve: () => "allow" });
    await agent.chat("go");
    expect(run.mock.calls[0]?.[0]).toEqual({ path: "a.txt" });
    expect(agent.conversation.sessionContext[1]).toMatchObject({
      tool_calls: [{ function: { arguments: '{"path":"a.txt"}' } }],
    });
  });

  test("is not asked for without a gate, a listener or a hook", async () => {
    const describeCall = vi.fn(() => ({}));
    const { tool, run } = writer({ describeCall });
    await agentWith(oneCall, [tool]).chat("go");
    expect(run).toHaveBeenCalledTimes(1);
    expect(describeCall).not.toHaveBeenCalled();
  });

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("no idea");
      },
    ],
    ["returns a list", () => []],
    ["returns a target of an unknown type", () => ({ targets: [{ type: "planet" }] })],
    [
      "returns cyclic data",
      () => {
        const value: Record<string, unknown> = {};
        value.self = value;
        return value;
      },
    ],
    ["returns 10 MB", () => ({ title: "x".repeat(10 * 1024 * 1024) })],
  ])("is unknown and grants nothing if the tool %s", async (_name, describeCall) => {
    const { tool, run } = writer({ describeCall: describeCall as never });
    const asked: ApprovalRequest[] = [];
    const agent = agentWith(oneCall, [tool], {
      approve: (request) => {
        asked.push(request);
        return "allow";
      },
    });
    await agent.chat("go");
    expect(asked[0]?.description).toMatchObject({ title: "a.txt", needs: [], problem: expect.any(String) });
    expect(asked[0]?.description.targets).toBeUndefined();
    expect(run.mock.calls[0]?.[1]).toMatchObject({ granted: [] });
  });

  test("is given up if the tool never answers", async () => {
    vi.useFakeTimers();
    try {
      const { tool } = writer({ describeCall: () => new Promise(() => undefined) });
      const approve = vi.fn((_request: ApprovalRequest) => "allow" as const);
      const done = agentWith(oneCall, [tool], { approve }).chat("go");
      await vi.advanceTimersByTimeAsync(2000);
      await done;
      expect(approve.mock.calls[0]?.[0].description.problem).toContain("it took longer than 2000 ms");
    } finally {
      vi.useRealTimers();
    }
  });

  test("ends a call that the tool would refuse, without a question", async () => {
    const approve = vi.fn(() => "allow" as const);
    const { tool, run } = writer({ describeCall: () => ({ refusal: "a.txt is a directory." }) });
    const agent = agentWith(oneCall, [tool], { approve });
    await agent.chat("go");
    expect(approve).not.toHaveBeenCalled();
    expect(run).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual(["Error executing save: a.txt is a directory."]);
  });

  test("ends a call that its preview refuses, without a question", async () => {
    const approve = vi.fn(() => "allow" as const);
    const { tool, run } = writer({ previewCall: () => ({ changes: [], refusal: "a.txt has changed." }) });
    const agent = agentWith(oneCall, [tool], { approve });
    await agent.chat("go");
    expect(approve).not.toHaveBeenCalled();
    expect(run).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual(["Error executing save: a.txt has changed."]);
  });

  test("passes the tool's advice of caution to the question", async () => {
    const approve = vi.fn(() => "allow" as const);
    const { tool } = writer({ describeCall: () => ({ caution: "the address is not from you" }) });
    await agentWith(oneCall, [tool], { approve }).chat("go");
    expect(approve).toHaveBeenCalledWith(
      expect.objectContaining({
        description: expect.objectContaining({ caution: "the address is not from you" }),
      }),
    );
  });

  test("takes the needs of a tool that has only findAccessNeeds", async () => {
    const need = { kind: "write", path: "/etc/hosts", reason: "outside the project" } as const;
    const { tool, run } = writer({ findAccessNeeds: () => [need] });
    await agentWith(oneCall, [tool], { approve: () => "allow" }).chat("go");
    expect(run.mock.calls[0]?.[1]).toMatchObject({ granted: [need] });
  });

  test("offers at most five rules, each of which a user can read, and names their reasons on one line", async () => {
    const patterns = ["src/**", "a\u202eb", "two\nlines", ...Array.from({ length: 50 }, (_, at) => `p${at}`)];
    const need = { kind: "write", path: "/etc/hosts", reason: "outside\n? yes" } as const;
    const { tool } = writer({
      describeCall: () => ({
        always: patterns.map((pattern) => ({ pattern, label: `${pattern}\nlabel` })),
        needs: [need],
      }),
    });
    const approve = vi.fn((_request: ApprovalRequest) => "allow" as const);
    await agentWith(oneCall, [tool], { approve }).chat("go");
    expect(approve.mock.calls[0]?.[0].description).toMatchObject({
      always: ["src/**", "p0", "p1", "p2", "p3"].map((pattern) => ({ pattern, label: `${pattern} label` })),
      needs: [{ ...need, reason: "outside ? yes" }],
    });
  });

  const changeOf = (lines: readonly string[], more: object = {}) => ({
    path: "/p/a.txt",
    change: "edited",
    added: 1,
    removed: 0,
    hunks: [{ oldStart: 1, newStart: 1, lines }],
    ...more,
  });

  test.each<[string, object]>([
    ["a line that is two", { changes: [changeOf(["+one\n? allowed"])] }],
    ["a line without a sign", { changes: [changeOf(["@@ -1 +1 @@"])] }],
    ["a path of 1 MB", { changes: [changeOf(["+a"], { path: "x".repeat(1024 * 1024) })] }],
    ["a token of 1 MB", { changes: [changeOf(["+a"])], basis: "x".repeat(1024 * 1024) }],
  ])("leaves out a preview with %s", async (_name, preview) => {
    const { tool, run } = writer({ previewCall: () => preview as never });
    const approve = vi.fn((_request: ApprovalRequest) => "allow" as const);
    await agentWith(oneCall, [tool], { approve }).chat("go");
    expect(approve.mock.calls[0]?.[0].preview).toBeUndefined();
    expect(run).toHaveBeenCalledTimes(1);
  });

  test("leaves out the empty hunks of a preview", async () => {
    const empty = { oldStart: 1, newStart: 1, lines: [] };
    const hunks = [...Array.from({ length: 200_000 }, () => empty), { ...empty, lines: ["+a"] }];
    const { tool } = writer({ previewCall: () => ({ changes: [changeOf([], { hunks })] }) as never });
    const approve = vi.fn((_request: ApprovalRequest) => "allow" as const);
    await agentWith(oneCall, [tool], { approve }).chat("go");
    expect(approve.mock.calls[0]?.[0].preview?.changes).toEqual([changeOf(["+a"])]);
  });

  test("returns the token of the preview to the tool", async () => {
    const { tool, run } = writer({ previewCall: () => ({ changes: [], basis: "v1" }) });
    await agentWith(oneCall, [tool], { approve: () => "allow" }).chat("go");
    expect(run.mock.calls[0]?.[1]).toMatchObject({ basis: "v1" });
  });
});

describe("a decision given later", () => {
  /** An agent whose call of `save` is suspended; `described` is what the tool says when it is asked. */
  async function suspendedAgent(described: { now: CallDescription }, options: AgentOptions = {}) {
    const { tool, run } = writer({ describeCall: () => described.now });
    const asked = vi.fn(() => "suspend" as const);
    const agent = agentWith([call("save", { path: "a.txt" }), "Done."], [tool], {
      approve: asked,
      ...options,
    });
    await expect(agent.chat("go")).rejects.toMatchObject({ code: "suspended" });
    const [pending] = agent.conversation.pending?.calls ?? [];
    return { agent, run, asked, id: pending?.id ?? "" };
  }

  test("counts for what was shown", async () => {
    const need = { kind: "write", path: "/etc/hosts", reason: "outside the project" } as const;
    const described = { now: { ...targetAt("/p/a.txt"), needs: [need] } };
    const { agent, run, id } = await suspendedAgent(described);
    await agent.resume({ [id]: "allow" });
    expect(run.mock.calls[0]?.[1]).toMatchObject({ granted: [need] });
  });

  test.each<[string, CallDescription]>([
    ["a link that now points elsewhere", targetAt("/p/a.txt", "/etc/hosts")],
    [
      "a need that was not shown",
      { ...targetAt("/p/a.txt"), needs: [{ kind: "write", path: "/etc/hosts", reason: "x" }] },
    ],
    ["targets that are now unknown", {}],
    [
      "one more target",
      { targets: [...(targetAt("/p/a.txt").targets ?? []), ...(targetAt("/b").targets ?? [])] },
    ],
  ])("is asked for again because of %s", async (_name, later) => {
    const described = { now: targetAt("/p/a.txt") };
    const { agent, run, asked, id } = await suspendedAgent(described);
    described.now = later;
    await expect(agent.resume({ [id]: "allow" })).rejects.toMatchObject({ code: "suspended" });
    expect(run).not.toHaveBeenCalled();
    expect(asked).toHaveBeenCalledTimes(2);
    await agent.resume({ [id]: "allow" });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test("is asked for again where the call no longer runs in a sandbox, as in another process", async () => {
    const described: { now: CallDescription } = { now: { ...targetAt("/p/a.txt"), contained: true } };
    const { agent, run, asked, id } = await suspendedAgent(described);
    described.now = targetAt("/p/a.txt");
    await expect(agent.resume({ [id]: "allow" })).rejects.toMatchObject({ code: "suspended" });
    expect(run).not.toHaveBeenCalled();
    expect(asked).toHaveBeenCalledTimes(2);
    await agent.resume({ [id]: "allow" });
    expect(run.mock.calls[0]?.[1]).not.toHaveProperty("contained");
  });

  test("is asked for again if a hook now changes the arguments", async () => {
    let path = "a.txt";
    const hooks = [{ name: "move", beforeCall: () => ({ args: { path } }) }];
    const { agent, run, asked, id } = await suspendedAgent({ now: {} }, { hooks });
    path = "b.txt";
    await expect(agent.resume({ [id]: "allow" })).rejects.toMatchObject({ code: "suspended" });
    expect(run).not.toHaveBeenCalled();
    expect(asked).toHaveBeenCalledTimes(2);
  });

  test("leaves a session that can be loaded if it is of a child agent", async () => {
    const path = `${temporaryDirectory()}/session.jsonl`;
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path);
    const { tool } = writer();
    const parent: ExecutableTool = {
      ...fakeTool("delegate", () => ""),
      execute: async (_args, running) => (await running?.startAgent?.({ message: "go" }))?.text ?? "",
    };
    const agent = agentWith([call("delegate"), call("save", { path: "a" }), "Done."], [parent, tool], {
      conversation,
      approve: ({ name }) => (name === "save" ? "suspend" : "allow"),
    });
    await expect(agent.chat("go")).rejects.toMatchObject({ code: "suspended" });
    await recorder.close();
    const session = await loadSession(path);
    expect(session.pending?.calls.map(({ name }) => name)).toEqual(["delegate"]);
  });

  test("does not overrule the rules", async () => {
    let ruling: "ask" | "deny" = "ask";
    const rules = {
      decide: () =>
        ruling === "ask" ? ({ type: "ask" } as const) : ({ type: "deny", reason: "plan mode." } as const),
      allow: () => undefined,
    };
    const { agent, run, id } = await suspendedAgent({ now: targetAt("/p/a.txt") }, { rules });
    ruling = "deny";
    await agent.resume({ [id]: "allow" });
    expect(run).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual(["Tool call denied: plan mode."]);
  });

  test("runs the hooks that see a call right before it runs", async () => {
    const beforeRun = vi.fn(async () => undefined);
    const { agent, id } = await suspendedAgent({ now: {} }, { hooks: [{ name: "undo", beforeRun }] });
    expect(beforeRun).not.toHaveBeenCalled();
    await agent.resume({ [id]: "allow" });
    expect(beforeRun).toHaveBeenCalledTimes(1);
  });
});

describe("rules", () => {
  test("decide before anyone is asked, and store what the user always allows", async () => {
    const rules = {
      decide: vi.fn(() => ({ type: "ask" }) as const),
      allow: vi.fn(() => undefined),
    };
    const { tool } = writer();
    await agentWith(oneCall, [tool], { rules, approve: () => ({ always: "save(src/**)" }) }).chat("go");
    expect(rules.decide).toHaveBeenCalledTimes(1);
    expect(rules.allow).toHaveBeenCalledWith("save(src/**)", expect.objectContaining({ name: "save" }));
  });

  test("deny what they ask about if the agent has no approve", async () => {
    const rules = { decide: () => ({ type: "ask" }) as const, allow: () => undefined };
    const { tool, run } = writer();
    const agent = agentWith(oneCall, [tool], { rules });
    await agent.chat("go");
    expect(run).not.toHaveBeenCalled();
    expect(toolTexts(agent)[0]).toMatch(/^Tool call denied: the rules ask about save/);
  });

  test("send no secret of the tool to the model when they deny", async () => {
    const { ToolRegistry } = await import("../tools/registry.js");
    const registry = new ToolRegistry({ secrets: () => ["s3cr3t-value"] });
    registry.register(
      writer({ describeCall: () => ({ targets: [{ type: "url", url: "https://e.org?key=s3cr3t-value" }] }) })
        .tool,
    );
    const rules = {
      decide: ({ description }: ApprovalRequest) => ({
        type: "deny" as const,
        reason: `not ${JSON.stringify(description.targets)}`,
      }),
      allow: () => undefined,
    };
    const agent = agentWith(oneCall, [], { registry, rules });
    await agent.chat("go");
    expect(toolTexts(agent)[0]).toMatch(/^Tool call denied: not .*key=/);
    expect(toolTexts(agent)[0]).not.toContain("s3cr3t-value");
  });

  test("deny if they fail", async () => {
    const rules = {
      decide: () => {
        throw new Error("broken");
      },
      allow: () => undefined,
    };
    const { tool, run } = writer();
    await agentWith(oneCall, [tool], { rules, approve: () => "allow" }).chat("go");
    expect(run).not.toHaveBeenCalled();
  });
});

describe("the order of calls", () => {
  test("follows the capabilities of the tool that runs, also after a redirect", async () => {
    const order: string[] = [];
    const slow = (name: string) => async () => {
      order.push(`${name} starts`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      return "ok";
    };
    const write = fakeTool("write", slow("write"), { capabilities: ["write"] });
    const alias: ExecutableTool = {
      ...fakeTool("alias", slow("alias"), { capabilities: ["read"] }),
      redirect: (args) => ({ name: "write", args }),
    };
    const answer = {
      calls: [
        { name: "alias", args: {} },
        { name: "alias", args: {} },
      ],
    };
    await agentWith([answer, "Done."], [write, alias]).chat("go");
    expect(order).toEqual(["write starts", "write ends", "write starts", "write ends"]);
  });
});

describe("what a tool reports", () => {
  const reporting = (report: object): ExecutableTool => ({
    ...fakeTool("save", () => "ok"),
    execute: async (_args, running) => {
      running?.report?.(report);
      return "ok";
    },
  });

  test("is redacted and bounded", async () => {
    const registry = { secrets: () => ["s3cr3t-value"] };
    const tool = reporting({
      summary: `s3cr3t-value\n${"y".repeat(5000)}`,
      view: { type: "fields", fields: [["key", "s3cr3t-value"]] },
      value: { key: "s3cr3t-value" },
    });
    const { ToolRegistry } = await import("../tools/registry.js");
    const tools = new ToolRegistry(registry);
    tools.register(tool);
    const result = await tools.run("save", {});
    expect(JSON.stringify(result)).not.toContain("s3cr3t-value");
    expect(result.summary?.length).toBeLessThan(500);
    expect(result.summary).not.toContain("\n");
    expect(result.view).toMatchObject({ type: "fields" });
  });

  test("is cut and counted if a view is long", async () => {
    const items = Array.from({ length: 5000 }, (_, index) => ({ text: `item ${index}` }));
    const agent = agentWith(oneCall, [reporting({ view: { type: "list", items } })]);
    const { events } = await collect(agent, "go");
    const end = events.find(({ type }) => type === "tool_end");
    const view = end?.type === "tool_end" ? end.view : undefined;
    expect(JSON.stringify(view).length).toBeLessThan(20_000);
    expect(view?.type === "list" && view.items.length + (view.more ?? 0)).toBe(5000);
  });

  test.each<[string, object]>([
    ["is not one", { type: "hologram" }],
    ["has a title row of 1 MB", { type: "table", columns: ["x".repeat(1024 * 1024)], rows: [] }],
    ["has a path of 1 MB", { type: "code", text: "a", path: "x".repeat(1024 * 1024) }],
    ["has 1 MB that no display knows", { type: "markdown", text: "a", junk: "x".repeat(1024 * 1024) }],
  ])("is left out if a view %s, and the text stays", async (_name, view) => {
    const agent = agentWith(oneCall, [reporting({ view })]);
    const { events } = await collect(agent, "go");
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_end", outcome: "ok", text: "ok" }));
    expect(events.find((event) => event.type === "tool_end" && event.view)).toBeUndefined();
  });

  test("is only progress, whatever else the tool passes with it", async () => {
    const { ToolRegistry } = await import("../tools/registry.js");
    const registry = new ToolRegistry({ secrets: () => ["s3cr3t-value"] });
    registry.register({
      ...fakeTool("save", () => "ok"),
      execute: async (_args, running) => {
        running?.progress?.({ done: 1, total: Number.NaN, message: "s3cr3t-value\n\u001b[2J" });
        running?.progress?.({ type: "tool_end", id: "other", name: "rm", outcome: "ok" } as never);
        running?.progress?.(null as never);
        running?.onOutput(Buffer.from("live") as never);
        return "ok";
      },
    });
    const { events } = await collect(agentWith(oneCall, [], { registry }), "go");
    const own = { type: "tool_progress", id: "call_1_0", name: "save" };
    expect(events.filter(({ type }) => type === "tool_progress")).toEqual([
      { ...own, done: 1, message: "[secret]\\n\\x1b[2J" },
      own,
      own,
    ]);
    expect(events.filter(({ type }) => type === "tool_end")).toHaveLength(1);
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_output", chunk: "live" }));
  });

  test("is dropped by a hook that replaces the text", async () => {
    const agent = agentWith(oneCall, [reporting({ view: { type: "markdown", text: "secret" }, value: 1 })], {
      hooks: [{ name: "censor", afterCall: () => ({ text: "removed" }) }],
    });
    const { events } = await collect(agent, "go");
    const end = events.find(({ type }) => type === "tool_end");
    expect(end).toMatchObject({ text: "removed" });
    expect(end).not.toHaveProperty("view");
    expect(end).not.toHaveProperty("value");
  });

  test("is stored with the session and never sent to a model", async () => {
    const path = `${temporaryDirectory()}/session.jsonl`;
    const conversation = new Conversation();
    const recorder = recordSession(conversation, path);
    const view = { type: "markdown", text: "drawn" } as const;
    await agentWith(oneCall, [reporting({ summary: "1 file", view })], { conversation }).chat("go");
    await recorder.close();
    const session = await loadSession(path);
    const loaded = new Conversation({ session });
    const message = loaded.sessionContext.find(({ role }) => role === "tool");
    expect(message?.role === "tool" && loaded.detailsOf(message)).toMatchObject({
      outcome: "ok",
      summary: "1 file",
      view,
    });
    expect(JSON.stringify(loaded.sessionContext)).not.toContain("drawn");
  });
});

describe("nested calls", () => {
  const outer = (
    body: (run: NonNullable<import("../tools/tool.js").ToolCall["callTool"]>) => Promise<string>,
  ) =>
    ({
      ...fakeTool("script", () => ""),
      execute: async (_args, running) => {
        if (!running?.callTool) throw new Error("no callTool");
        return await body(running.callTool);
      },
    }) satisfies ExecutableTool;

  test("go through validation, hooks and approval, and are reported with their parent", async () => {
    const { tool, run } = writer();
    const approve = vi.fn(({ name }: ApprovalRequest) =>
      name === "save" ? { deny: "not that" } : ("allow" as const),
    );
    const script = outer(async (callTool) => {
      const invalid = await callTool("save", {});
      const refused = await callTool("save", { path: "b" });
      return `${invalid.outcome} ${refused.outcome} ${refused.text}`;
    });
    const agent = agentWith([call("script"), "Done."], [script, tool], { approve });
    const { events } = await collect(agent, "go");
    expect(run).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual(["error denied Tool call denied: not that"]);
    const ids = events.flatMap((event) => (event.type === "tool_end" ? [[event.id, event.parent]] : []));
    expect(ids).toEqual([
      ["call_1_0/t0", "call_1_0"],
      ["call_1_0/t1", "call_1_0"],
      ["call_1_0", undefined],
    ]);
    expect(approve.mock.calls.at(-1)?.[0]).toMatchObject({ name: "save", parent: "call_1_0" });
  });

  test("are refused for the tool itself and beyond their number", async () => {
    const texts: string[] = [];
    const script = outer(async (callTool) => {
      texts.push((await callTool("script", {})).text);
      for (let count = 0; count < 3; count++) texts.push((await callTool("save", { path: "a" })).text);
      return "done";
    });
    const { tool } = writer();
    await agentWith([call("script"), "Done."], [script, tool], { maxNestedCalls: 2 }).chat("go");
    expect(texts).toEqual([
      'Error executing script: "script" cannot call itself.',
      "written",
      "written",
      "Error executing save: tools may make at most 2 calls for one message. Raise maxNestedCalls if more are needed.",
    ]);
  });

  test("end at eight levels for a tool that reaches itself by a redirect", async () => {
    const texts: string[] = [];
    const script = outer(async (callTool) => {
      texts.push((await callTool("alias", {})).text);
      return "done";
    });
    const alias: ExecutableTool = {
      ...fakeTool("alias", () => ""),
      redirect: (args) => ({ name: "script", args }),
    };
    await agentWith([call("script"), "Done."], [script, alias]).chat("go");
    expect(texts).toEqual([
      "Error executing alias: calls may be nested at most 8 levels deep.",
      ...Array(8).fill("done"),
    ]);
  });

  test("write one at a time if they are of two scripts in one answer", async () => {
    let writing = 0;
    let most = 0;
    const write = fakeTool(
      "write",
      async () => {
        writing++;
        most = Math.max(most, writing);
        await new Promise((resolve) => setImmediate(resolve));
        writing--;
        return "ok";
      },
      { capabilities: ["write"] },
    );
    const script = outer(async (callTool) => {
      await Promise.all([callTool("write", {}), callTool("write", {})]);
      return "done";
    });
    const answer = {
      calls: [
        { name: "script", args: {} },
        { name: "script", args: {} },
      ],
    };
    await agentWith([answer, "Done."], [write, script]).chat("go");
    expect(most).toBe(1);
  });

  test("are aborted when the tool returns without waiting for them", async () => {
    let aborted = false;
    const slow = {
      ...fakeTool("slow", () => ""),
      execute: (_args: unknown, running?: import("../tools/tool.js").ToolCall) =>
        new Promise<string>((resolve) => {
          running?.signal.addEventListener("abort", () => {
            aborted = true;
            resolve("stopped");
          });
        }),
    } satisfies ExecutableTool;
    const script = outer(async (callTool) => {
      void callTool("slow", {});
      await new Promise((resolve) => setImmediate(resolve));
      return "done";
    });
    await agentWith([call("script"), "Done."], [script, slow]).chat("go");
    expect(aborted).toBe(true);
  });

  test("are denied if they would wait for a decision and no journal can repeat the outer call", async () => {
    const { tool, run } = writer();
    const script = outer(async (callTool) => (await callTool("save", { path: "a" })).text);
    const agent = agentWith([call("script"), "Done."], [script, tool], {
      approve: ({ name }) => (name === "save" ? "suspend" : "allow"),
    });
    await agent.chat("go");
    expect(run).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual([
      "Tool call denied: a question inside script cannot wait for a later decision.",
    ]);
  });
});
