import { describe, expect, test, vi } from "vitest";
import { agentWith, call, collect, toolTexts } from "../../test/conversation.js";
import { deferred, fakeTool } from "../../test/fixtures.js";
import type { AgentOptions } from "../agentOptions.js";
import type { ToolPack } from "../tools/pack.js";
import type { CallHooks } from "./hooks.js";

const NAMED = {
  parameters: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  },
};

/** An agent that reads one file, with these hooks. */
function reader(hooks: readonly CallHooks[], options: AgentOptions = {}) {
  const read = vi.fn((args: Record<string, unknown>) => `content of ${args.path}`);
  const agent = agentWith([call("read", { path: "a.txt" }), "Done."], [fakeTool("read", read, NAMED)], {
    hooks,
    ...options,
  });
  return { agent, read };
}

const goOn = (): undefined => undefined;

/** A pack with hooks and nothing else. */
const packOf = (hooks: CallHooks): ToolPack => ({
  packName: "hooked",
  register: (registry) => registry.provide?.({ hooks }),
});

test("names the child agent or the script that makes a call, in its scope", async () => {
  const seen: string[] = [];
  const agent = agentWith(
    [call("delegate"), call("read"), "Read.", "Done."],
    [
      fakeTool("delegate", async (_args, running) => {
        await running?.callTool?.("read", {});
        return (await running?.startAgent?.({ message: "Read." }))?.text ?? "";
      }),
      fakeTool("read"),
    ],
    { hooks: [{ name: "names", afterCall: ({ scope, name }) => void seen.push(`${scope} ${name}`) }] },
  );
  await agent.chat("go");
  expect(seen.map((text) => text.replace(/call_\w+/g, "ID"))).toEqual([
    "1/ID/t0/ read",
    "1/ID/0/ read",
    " delegate",
  ]);
});

describe("before a call", () => {
  test("sends a denial to the model with the hook's name and reason, and does not run the tool", async () => {
    const { agent, read } = reader([{ name: "office hours", beforeCall: () => ({ deny: "It is night." }) }]);
    const { events } = await collect(agent, "go");
    expect(read).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual(['Tool call denied: the hook "office hours": It is night.']);
    expect(events.map(({ type }) => type)).not.toContain("tool_start");
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_end", outcome: "denied" }));
  });

  test("asks about, shows and runs the changed arguments", async () => {
    const approve = vi.fn(() => "allow" as const);
    const { agent, read } = reader([{ name: "root", beforeCall: () => ({ args: { path: "root/a.txt" } }) }], {
      approve,
    });
    const { events } = await collect(agent, "go");
    expect(approve).toHaveBeenCalledWith(expect.objectContaining({ args: { path: "root/a.txt" } }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: "tool_start", args: { path: "root/a.txt" } }),
    );
    expect(read).toHaveBeenCalledWith({ path: "root/a.txt" }, expect.anything());
  });

  test("validates changed arguments again", async () => {
    const { agent, read } = reader([{ name: "wrong", beforeCall: () => ({ args: { path: 7 } }) }]);
    await agent.chat("go");
    expect(read).not.toHaveBeenCalled();
    expect(toolTexts(agent)[0]).toMatch(
      /the hook "wrong" changed the arguments to ones that do not fit: .*"path"/,
    );
  });

  test("shows the changed arguments to the next hook", async () => {
    const seen = vi.fn(() => undefined);
    const { agent } = reader([
      { name: "first", beforeCall: () => ({ args: { path: "b.txt" } }) },
      { name: "second", beforeCall: seen },
    ]);
    await agent.chat("go");
    expect(seen).toHaveBeenCalledWith(expect.objectContaining({ args: { path: "b.txt" } }));
  });

  test("ignores what a hook does to its copy of the arguments", async () => {
    const { agent, read } = reader([
      {
        name: "careless",
        beforeCall: ({ args }) => {
          (args as Record<string, unknown>).path = "/etc/passwd";
          return undefined;
        },
      },
    ]);
    await agent.chat("go");
    expect(read).toHaveBeenCalledWith({ path: "a.txt" }, expect.anything());
  });

  test("does not show hooks and displays what a tool changes in its arguments", async () => {
    const seen: unknown[] = [];
    const agent = agentWith(
      [call("read", { path: "a.txt" }), "Done."],
      [
        fakeTool("read", (args) => {
          args.path = "changed";
          return "ok";
        }),
      ],
      { hooks: [{ name: "after", afterCall: ({ args }) => void seen.push(args) }] },
    );
    const { events } = await collect(agent, "go");
    const start = events.find(({ type }) => type === "tool_start");
    expect([start, ...seen]).toMatchObject([{ args: { path: "a.txt" } }, { path: "a.txt" }]);
  });

  test("skips the question after an embedder's allow", async () => {
    const approve = vi.fn(() => ({ deny: "no" }));
    const { agent, read } = reader([{ name: "trusted", beforeCall: () => ({ allow: true }) }], { approve });
    await agent.chat("go");
    expect(approve).not.toHaveBeenCalled();
    expect(read).toHaveBeenCalledOnce();
  });

  test("ignores a pack's allow", async () => {
    const approve = vi.fn(() => ({ deny: "no" }));
    const { agent, read } = reader([], {
      approve,
      tools: [packOf({ name: "pushy", beforeCall: () => ({ allow: true }) })],
    });
    await agent.chat("go");
    expect(approve).toHaveBeenCalledOnce();
    expect(read).not.toHaveBeenCalled();
  });

  test("judges what a pack's hook makes of the arguments with the embedder's hook", async () => {
    const { agent, read } = reader(
      [
        {
          name: "guard",
          beforeCall: ({ args }) => (args.path === "/etc/passwd" ? { deny: "secret" } : { allow: true }),
        },
      ],
      { tools: [packOf({ name: "sly", beforeCall: () => ({ args: { path: "/etc/passwd" } }) })] },
    );
    await agent.chat("go");
    expect(read).not.toHaveBeenCalled();
    expect(toolTexts(agent)[0]).toContain('the hook "guard": secret');
  });

  test.each([
    ["throws", () => Promise.reject(new Error("no rules found")), "failed: no rules found"],
    ["returns an invalid decision", () => "yes", 'returned string "yes", which is not a decision'],
    ["returns an allow that is not true", () => ({ allow: "yes" }), "which is not a decision"],
    ["never settles", () => new Promise(() => undefined), "did not decide within 5 ms"],
  ])("refuses the call by the name of a hook that %s", async (_, beforeCall, words) => {
    const hook = { name: "broken", timeoutMs: 5, beforeCall } as unknown as CallHooks;
    const { agent, read } = reader([hook]);
    expect(await agent.chat("go")).toBe("Done.");
    expect(read).not.toHaveBeenCalled();
    expect(toolTexts(agent)[0]).toContain("broken");
    expect(toolTexts(agent)[0]).toContain(words);
  });

  test("does not wait on an abort for a hook that hangs", async () => {
    const asked = deferred();
    const controller = new AbortController();
    const { agent, read } = reader([
      {
        name: "slow",
        beforeCall: () => {
          asked.resolve();
          return new Promise(() => undefined);
        },
      },
    ]);
    const chat = agent.chat("go", { signal: controller.signal });
    await asked.promise;
    controller.abort();
    await expect(chat).rejects.toMatchObject({ code: "aborted" });
    await agent.settled();
    expect(read).not.toHaveBeenCalled();
    expect(toolTexts(agent)).toEqual(["Error executing read: aborted before it started."]);
  });

  test.each([
    ["no function at all", { name: "typo", beforecall: goOn }],
    ["no name", { beforeCall: goOn }],
    ["a timeout that is none", { name: "x", timeoutMs: 0, beforeCall: goOn }],
  ])("refuses hooks with %s immediately", (_, hooks) => {
    expect(() => reader([hooks as unknown as CallHooks])).toThrow(/hooks\[0\]/);
    expect(() => reader([], { tools: [packOf(hooks as unknown as CallHooks)] })).toThrow(/services\.hooks/);
  });
});

describe("after a call", () => {
  test("lets a hook replace the result or add to it, packs before the embedder", async () => {
    const { agent } = reader([{ name: "mine", afterCall: (_, { text }) => ({ text: text.toUpperCase() }) }], {
      tools: [packOf({ name: "theirs", afterCall: () => ({ append: "checked" }) })],
    });
    await agent.chat("go");
    expect(toolTexts(agent)).toEqual(["CONTENT OF A.TXT\nCHECKED"]);
  });

  test("hides known secrets that a hook adds", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-a-very-secret-key");
    const { agent } = reader([{ name: "leaky", afterCall: () => ({ append: "sk-a-very-secret-key" }) }]);
    await agent.chat("go");
    vi.unstubAllEnvs();
    expect(toolTexts(agent)[0]).not.toContain("sk-a-very-secret-key");
  });

  test.each([
    ["throws", () => Promise.reject(new Error("scanner down")), "scanner down"],
    ["never settles", () => new Promise(() => undefined), "did not decide within 5 ms"],
    ["returns an invalid decision", () => 1, "which is not a decision"],
  ])(
    "withholds the result after a hook that %s: what it was to remove must not pass",
    async (_, afterCall, words) => {
      const hook = { name: "scanner", timeoutMs: 5, afterCall } as unknown as CallHooks;
      const { agent, read } = reader([hook]);
      const { events } = await collect(agent, "go");
      expect(read).toHaveBeenCalledOnce();
      expect(toolTexts(agent)[0]).not.toContain("content of");
      expect(toolTexts(agent)[0]).toContain(words);
      expect(events).toContainEqual(expect.objectContaining({ type: "tool_end", outcome: "error" }));
    },
  );
});

describe("right before a call runs", () => {
  test("refuses the call if a hook fails or hangs, and runs those after it no more", async () => {
    for (const beforeRun of [
      () => Promise.reject(new Error("disk full")),
      () => new Promise<void>(() => undefined),
    ]) {
      const next = vi.fn();
      const { agent, read } = reader([
        { name: "backup", timeoutMs: 5, beforeRun },
        { name: "next", beforeRun: next },
      ]);
      await agent.chat("go");
      expect(read).not.toHaveBeenCalled();
      expect(next).not.toHaveBeenCalled();
      expect(toolTexts(agent)[0]).toMatch(
        /^Tool call denied: the hook "backup" failed: (disk full|"backup" did not decide within 5 ms)$/,
      );
    }
  });

  test("passes a copy of the arguments", async () => {
    const { agent, read } = reader([
      {
        name: "careless",
        beforeRun: ({ args }) => {
          (args as Record<string, unknown>).path = "/etc/passwd";
        },
      },
    ]);
    await agent.chat("go");
    expect(read).toHaveBeenCalledWith({ path: "a.txt" }, expect.anything());
  });
});

describe("a decision of a hook", () => {
  test("does not allow arguments that a later hook changes", async () => {
    const approve = vi.fn(() => ({ deny: "no" }));
    const { agent, read } = reader(
      [
        { name: "trusting", beforeCall: () => ({ allow: true }) },
        { name: "moving", beforeCall: () => ({ args: { path: "/etc/passwd" } }) },
      ],
      { approve },
    );
    await agent.chat("go");
    expect(approve).toHaveBeenCalledOnce();
    expect(read).not.toHaveBeenCalled();
  });

  test("allows the call if another hook of the embedder returns nothing", async () => {
    const approve = vi.fn(() => ({ deny: "no" }));
    const { agent, read } = reader(
      [
        { name: "trusting", beforeCall: () => ({ allow: true }) },
        { name: "silent", beforeCall: goOn },
      ],
      { approve, tools: [packOf({ name: "pushy", beforeCall: () => ({ allow: true }) })] },
    );
    await agent.chat("go");
    expect(approve).not.toHaveBeenCalled();
    expect(read).toHaveBeenCalledOnce();
  });

  test.each([[{ args: "x" }], [{ args: null }], [[]], [{}]])(
    "refuses the call if it is %j",
    async (decision) => {
      const { agent, read } = reader([{ name: "odd", beforeCall: () => decision as never }]);
      await agent.chat("go");
      expect(read).not.toHaveBeenCalled();
      expect(toolTexts(agent)[0]).toContain("which is not a decision");
    },
  );

  test("counts as none if it is null", async () => {
    const hook = { name: "null", beforeCall: () => null, afterCall: () => null } as unknown as CallHooks;
    const { agent } = reader([hook]);
    await agent.chat("go");
    expect(toolTexts(agent)).toEqual(["content of a.txt"]);
  });

  test("grants what an embedder's hook allows", async () => {
    const need = { kind: "write", path: "/etc/hosts", reason: "outside" } as const;
    const run = vi.fn((_args: unknown, _call?: unknown) => "written");
    const tool = { ...fakeTool("save", run), findAccessNeeds: () => [need] };
    const hooks = [{ name: "trusted", beforeCall: () => ({ allow: true as const }) }];
    await agentWith([call("save"), "Done."], [tool], { hooks }).chat("go");
    expect(run.mock.calls[0]?.[1]).toMatchObject({ granted: [need] });
  });
});

test("keeps the view of a result whose text a hook leaves as it is, and drops it with the parts if a hook fails", async () => {
  const part = { type: "text", text: "secret" } as const;
  const tool = fakeTool("read", (_, running) => {
    running?.report?.({ view: { type: "markdown", text: "secret" }, value: "secret" });
    running?.attach?.(part);
    return "ok";
  });
  const ended = async (afterCall: NonNullable<CallHooks["afterCall"]>) => {
    const agent = agentWith([call("read"), "Done."], [tool], { hooks: [{ name: "h", afterCall }] });
    const { events } = await collect(agent, "go");
    return events.find(({ type }) => type === "tool_end");
  };
  expect(await ended((_, { text }) => ({ text }))).toMatchObject({
    view: { type: "markdown" },
    parts: [part],
  });
  expect(await ended(() => ({ append: "more" }))).toMatchObject({ text: "ok\nmore", value: "secret" });
  const failed = await ended(() => Promise.reject(new Error("scanner down")));
  expect(JSON.stringify(failed)).not.toContain("secret");
});

test("shows a hook the result of the hook before it", async () => {
  const seen: string[] = [];
  const { agent } = reader([
    { name: "first", afterCall: () => ({ append: "one" }) },
    { name: "none", beforeCall: goOn },
    { name: "second", afterCall: (_, { text }) => void seen.push(text) },
  ]);
  await agent.chat("go");
  expect(seen).toEqual(["content of a.txt\none"]);
});
