import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { fakeContext, fakeTool, temporaryDirectory } from "../../test/fixtures.js";
import { loadSession } from "../conversation/session.js";
import { createToolRegistry, saveConversation, saveSessionContextTool } from "./factory.js";
import type { ToolPack } from "./pack.js";

test("accepts a single tool among packs as it is", async () => {
  const pack = {
    packName: "pair",
    register: (registry: { register(tool: unknown): void }) => registry.register(fakeTool("two")),
  };
  const registry = createToolRegistry(fakeContext(), [fakeTool("one"), pack, fakeTool("three")]);
  expect(registry.getToolNames()).toEqual(["save_session_context", "one", "two", "three"]);
  expect(await registry.execute("three", {})).toBe("three ran");
});

test("refuses a single tool with the name of another", () => {
  expect(() => createToolRegistry(fakeContext(), [fakeTool("one"), fakeTool("one")])).toThrow("one");
});

test("applies enable and disable to single tools", () => {
  const registry = createToolRegistry(fakeContext(), [fakeTool("one")], { disable: ["one"] });
  expect(registry.isToolEnabled("one")).toBe(false);
  // What the user enables stays on, also if the tool is registered again.
  registry.enable("one");
  registry.unregister("one");
  registry.register(fakeTool("one"));
  expect(registry.isToolEnabled("one")).toBe(true);
});

describe("names in enable, disable and only", () => {
  const late: ToolPack = {
    packName: "late",
    register: (registry) =>
      registry.registerLater?.("tools", async (later) => {
        later.register(fakeTool("a"));
        later.register(fakeTool("b"));
      }),
  };

  test.each(["enable", "disable", "only"] as const)("must be of a tool: %s", (option) => {
    expect(() => createToolRegistry(fakeContext(), [fakeTool("one")], { [option]: ["one", "oen"] })).toThrow(
      `${option}[1] is "oen", which no pack declares. Did you mean "one"?`,
    );
  });

  test("may be of a tool that comes later: it is off from its start, and no other", async () => {
    const registry = createToolRegistry(fakeContext(), [late], { disable: ["b"] as never });
    await registry.services.loaded();
    expect([registry.isToolEnabled("a"), registry.isToolEnabled("b")]).toEqual([true, false]);
    // Once: what the user enables stays on.
    registry.enable("b");
    registry.unregister("b");
    registry.register(fakeTool("b"));
    expect(registry.isToolEnabled("b")).toBe(true);
  });

  test("leave out every other tool with only", () => {
    const registry = createToolRegistry(fakeContext(), [fakeTool("one"), fakeTool("two")], { only: ["one"] });
    expect(registry.getEnabledSchemas().map((schema) => schema.function.name)).toEqual(["one"]);
  });
});

test("protects the configs of the command unless the host protects others", () => {
  const names = (host?: object) => {
    let seen: readonly string[] | undefined;
    const pack: ToolPack = {
      register: (_, given) => {
        seen = given?.protectedNames;
      },
    };
    createToolRegistry(fakeContext(), [pack], host && { host });
    return seen;
  };
  expect(names()).toEqual(
    expect.arrayContaining(["agent.config.ts", "agent.config.js", "agent.config.mjs", "agent.config.json"]),
  );
  expect(names({})).toEqual(expect.arrayContaining(["agent.config.yaml", "package.json#agent"]));
  expect(names({ protectedNames: ["mine.json"] })).toEqual(["mine.json"]);
});

describe("save_session_context", () => {
  test("saves where the conversation is recorded, or to its file", async () => {
    const save = vi.fn(async () => undefined);
    const recorded = fakeContext({ save, sessionContextFilePath: "/recorded.jsonl" });
    expect(await saveConversation(recorded, "why")).toBe("Saved 0 messages to /recorded.jsonl");
    expect(save).toHaveBeenCalledWith("why");
    const path = join(temporaryDirectory(), "saved.json");
    const messages = [{ role: "user" as const, content: "Hi" }];
    const tool = saveSessionContextTool(
      fakeContext({ sessionContextFilePath: path, sessionContext: messages }),
    );
    expect(await tool.execute({ reason: "why" })).toBe(`Saved 1 message to ${path}`);
    expect(await loadSession(path)).toMatchObject({ reason: "why", systemPrompt: "Be brief.", messages });
  });

  test.each(["systemPrompt", "sessionContext", "sessionContextFilePath"])(
    "needs a context with %s",
    (key) => {
      const { [key]: _, ...rest } = { ...fakeContext() } as Record<string, unknown>;
      expect(() => saveSessionContextTool(rest as never)).toThrow("context must be a ToolContext with");
    },
  );
});
