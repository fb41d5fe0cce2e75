import { describe, expect, test, vi } from "vitest";
import { call } from "../../test/conversation.js";
import { deferred, fakeContext, fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import { scriptedProvider } from "../providers/replay.js";
import { createToolRegistry } from "./factory.js";
import type { LoadTools, PackRegistry, ToolPack } from "./pack.js";
import { registerPack } from "./registerPack.js";

/** A pack whose tools come later. */
const latePack = (load: LoadTools, description = "tools of the server"): ToolPack => ({
  packName: "late-pack",
  register: (registry) => registry.registerLater?.(description, load),
});

const registryOf = (packs: readonly ToolPack[], enable: readonly string[] = []) =>
  createToolRegistry(fakeContext(), packs, { enable });

describe("late tools", () => {
  test("appear between two requests to the model, and a host sees what is still coming", async () => {
    const server = deferred();
    const pack = latePack(async (registry) => {
      await server.promise;
      registry.register(fakeTool("search_docs"));
    });
    const offered: string[][] = [];
    const note = (request: { tools: readonly { function: { name: string } }[] }) =>
      offered.push(request.tools.map((tool) => tool.function.name));
    const agent = new Agent(
      scriptedProvider([
        async (request) => {
          note(request);
          server.resolve();
          await agent.registry.services.loaded();
          return call("search_docs");
        },
        (request) => {
          note(request);
          return "Done.";
        },
      ]),
      { tools: [pack], disable: ["save_session_context"] },
    );
    expect(agent.registry.services.pending()).toEqual([{ description: "tools of the server" }]);
    expect(await agent.chat("Go.")).toBe("Done.");
    expect(offered).toEqual([[], ["search_docs"]]);
    expect(agent.registry.services.pending()).toEqual([]);
    expect(agent.registry.describeTools().at(-1)).toMatchObject({ name: "search_docs", source: "late-pack" });
  });

  test("are refused if they clash with a name; the first stays, and the failure is listed", async () => {
    const first: ToolPack = {
      packName: "first",
      register: (registry) => registry.register(fakeTool("look")),
    };
    const registry = registryOf([
      first,
      latePack(async (late) => late.register(fakeTool("look", () => "other"))),
    ]);
    await registry.services.loaded();
    expect(registry.services.pending()).toEqual([
      {
        description: "tools of the server",
        problem: expect.stringContaining(
          'Tool "look" is registered already by first; a second one by late-pack',
        ),
      },
    ]);
    expect(await registry.execute("look")).toBe("look ran");
  });

  test("cannot turn themselves on: disabled ones stay off, also after they came back", async () => {
    let late: PackRegistry | undefined;
    const registry = registryOf([
      latePack(async (given) => {
        late = given;
        given.register(fakeTool("danger"), { enabled: false });
        expect(() => given.enable("danger")).toThrow("only the user enables");
      }),
    ]);
    await registry.services.loaded();
    expect(registry.services.pending()).toEqual([]);
    expect(registry.isToolEnabled("danger")).toBe(false);
    // A server that removes a tool and adds it again must not change what the user chose.
    late?.unregister("danger");
    late?.register(fakeTool("danger"), { enabled: true });
    expect(registry.isToolEnabled("danger")).toBe(false);
  });

  test("are on or off as the user set them if they were withheld and come back", async () => {
    let late: PackRegistry | undefined;
    const load: LoadTools = async (given) => {
      late = given;
      for (const name of ["on", "off"]) given.register(fakeTool(name));
    };
    const registry = registryOf([latePack(load)]);
    await registry.services.loaded();
    for (const name of ["on", "off"]) late?.withhold?.(name, "it changed");
    registry.disable("off");
    for (const name of ["on", "off"]) {
      late?.unregister(name);
      late?.register(fakeTool(name));
    }
    expect(registry.isToolEnabled("on")).toBe(true);
    expect(registry.isToolEnabled("off")).toBe(false);
  });

  test("are on immediately when they come if the user switched them on by name", async () => {
    const registry = registryOf(
      [latePack(async (late) => late.register(fakeTool("danger"), { enabled: false }))],
      ["danger"],
    );
    await registry.services.loaded();
    expect(registry.isToolEnabled("danger")).toBe(true);
  });

  test("are registered under the name of their pack inside a preset", async () => {
    const inner = latePack(async (late) => late.register(fakeTool("look")));
    const preset: ToolPack = {
      packName: "preset",
      register: (registry) => void registerPack(registry, inner),
    };
    const registry = registryOf([preset]);
    await registry.services.loaded();
    expect(registry.services.pending()).toEqual([]);
    expect(registry.describeTools().find(({ name }) => name === "look")?.source).toBe("late-pack");
  });

  test("touch no tool of another pack", async () => {
    const mine: ToolPack = { packName: "mine", register: (registry) => registry.register(fakeTool("look")) };
    const registry = registryOf([mine, latePack(async (late) => late.unregister("look"))]);
    await registry.services.loaded();
    expect(registry.services.pending()[0]?.problem).toContain('It may not unregister "look"');
    expect(registry.hasTool("look")).toBe(true);
  });

  test("never start to load, and are not refreshed, if their pack failed to register", async () => {
    const load = vi.fn(async () => undefined);
    const refresh = vi.fn();
    const broken: ToolPack = {
      register(to) {
        to.registerLater?.("tools", load);
        to.onRefresh?.(refresh);
        throw new Error("no");
      },
    };
    const registry = registryOf([]);
    expect(() => registerPack(registry, broken)).toThrow("failed to register: no");
    registry.services.refresh();
    await registry.services.loaded();
    expect(load).not.toHaveBeenCalled();
    expect(refresh).not.toHaveBeenCalled();
  });

  test("are aborted and not registered if they still load when the registry is disposed of", async () => {
    let late: PackRegistry | undefined;
    let signal: AbortSignal | undefined;
    const registry = registryOf([
      latePack(async (given, stop) => {
        late = given;
        signal = stop;
        await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve()));
      }),
    ]);
    await Promise.resolve();
    await registry.dispose();
    expect(signal?.aborted).toBe(true);
    expect(() => late?.register(fakeTool("zombie"))).toThrow("disposed of");
  });
});
