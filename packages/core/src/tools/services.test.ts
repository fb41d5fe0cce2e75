import { describe, expect, test, vi } from "vitest";
import { fakeContext, fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import type { ChatProvider } from "../providers/interface.js";
import { scriptedProvider } from "../providers/replay.js";
import { createToolRegistry } from "./factory.js";
import type { BackgroundJob, PackServices, ToolPack } from "./pack.js";
import { registerPack } from "./registerPack.js";

const packOf = (services: PackServices, name = "serving"): ToolPack => ({
  packName: name,
  register: (registry) => registry.provide?.(services),
});

const registryOf = (...packs: ToolPack[]) => createToolRegistry(fakeContext(), packs);

const job = (id: string): BackgroundJob => ({ id, command: `run ${id}`, pids: [1], startedAt: 0 });

describe("what packs bring besides tools", () => {
  test("belongs to one registration: two registries share nothing", () => {
    const commands = [{ name: "deploy", description: "Deploys.", run: async () => ({ show: "ok" }) }];
    const first = registryOf(packOf({ commands }));
    const second = registryOf();
    expect(first.services.commands.map(({ name }) => name)).toEqual(["deploy"]);
    expect(second.services.commands).toEqual([]);
  });

  test("lists and stops background work of all packs as one", async () => {
    const ended: string[] = [];
    const jobs = (id: string) => ({
      list: () => [job(id)],
      end: async (given: string) => given === id && ended.push(id) > 0,
    });
    const { services } = registryOf(
      packOf({ jobs: jobs("a") }, "first"),
      packOf({ jobs: jobs("b") }, "second"),
    );
    expect(services.jobs.list().map(({ id }) => id)).toEqual(["a", "b"]);
    expect(await services.jobs.end("b")).toBe(true);
    expect(await services.jobs.end("c")).toBe(false);
    expect(await services.jobs.endProcess?.(7)).toBe(false);
    expect(ended).toEqual(["b"]);
  });

  test("lists and stops also background work of a pack that is added later", async () => {
    const registry = registryOf();
    const { jobs } = registry.services;
    expect(jobs.list()).toEqual([]);
    registry.provide({ jobs: { list: () => [job("late")], end: async (id) => id === "late" } });
    expect(jobs.list()).toEqual([job("late")]);
    expect(await jobs.end("late")).toBe(true);
  });

  test("reports a failed check of the machine together with the other checks", async () => {
    const fine = { subject: "disk", ok: true, detail: "there" };
    const { services } = registryOf(
      packOf({ diagnose: () => [fine] }, "first"),
      packOf({ diagnose: () => Promise.reject(new Error("no ruler")) }, "second"),
    );
    expect(await services.diagnose()).toEqual([
      fine,
      { subject: "a pack's own check", ok: false, detail: "no ruler" },
    ]);
  });

  test("calls dispose once for every pack, also after one has failed, and removes the tools", async () => {
    const dispose = vi.fn();
    const registry = registryOf(
      packOf({ dispose: () => Promise.reject(new Error("stuck")) }, "first"),
      packOf({ dispose }, "second"),
    );
    registry.register(fakeTool("look"));
    await expect(registry.dispose()).rejects.toThrow("stuck");
    await registry.dispose();
    expect(dispose).toHaveBeenCalledTimes(1);
    expect(registry.getToolNames()).toEqual([]);
    expect(await registry.execute("look")).toBe("Tool not found: look");
    expect(() => registry.register(fakeTool("late"))).toThrow("disposed of");
  });

  test("prepares packs once, while the model is asked, and ignores one that fails", async () => {
    const order: string[] = [];
    const model: ChatProvider = {
      respond: async () => {
        order.push("asked");
        return { content: "fine", toolCalls: [], finishReason: "stop" };
      },
    };
    const failing = vi.fn(() => Promise.reject(new Error("no thread")));
    const agent = new Agent(model, {
      tools: [
        packOf({ warmUp: failing }, "first"),
        packOf({ warmUp: () => void order.push("ready") }, "second"),
      ],
    });
    expect(order).toEqual([]);
    expect(await agent.chat("hello")).toBe("fine");
    expect(await agent.chat("again")).toBe("fine");
    expect(order).toEqual(["asked", "ready", "asked"]);
    expect(failing).toHaveBeenCalledTimes(1);
  });

  test("updates tools of packs before every request; one that fails keeps what it has", async () => {
    const offered: string[][] = [];
    const model = scriptedProvider(
      [{ calls: [{ name: "first" }] }, "fine"].map((answer) => ({ tools }) => {
        offered.push(tools.map(({ function: { name } }) => name));
        return answer;
      }),
    );
    const refreshing: ToolPack = {
      packName: "refreshing",
      register(registry) {
        let count = 0;
        registry.register(fakeTool("first"));
        registry.onRefresh?.((late) => late.register(fakeTool(`found_${++count}`)));
      },
    };
    const failing: ToolPack = {
      packName: "failing",
      register: (registry) =>
        registry.onRefresh?.(() => {
          throw new Error("no file");
        }),
    };
    const preset: ToolPack = {
      packName: "preset",
      register: (registry) => void registerPack(registry, refreshing),
    };
    const agent = new Agent(model, { tools: [failing, preset] });
    expect(await agent.chat("hello")).toBe("fine");
    expect(offered.map((names) => names.filter((name) => name !== "save_session_context"))).toEqual([
      ["first", "found_1"],
      ["first", "found_1", "found_2"],
    ]);
  });

  test("prepares no pack after the end", async () => {
    const warmUp = vi.fn();
    const registry = registryOf(packOf({ warmUp }));
    await registry.dispose();
    registry.services.warmUp();
    expect(warmUp).not.toHaveBeenCalled();
  });

  test("stops immediately what a pack provides after the end", async () => {
    const registry = registryOf();
    await registry.dispose();
    const dispose = vi.fn();
    registry.provide({ dispose });
    await vi.waitFor(() => expect(dispose).toHaveBeenCalledTimes(1));
  });

  test("stops what a pack that throws half-way provided, and keeps nothing of it", () => {
    const dispose = vi.fn();
    const broken: ToolPack = {
      register(registry) {
        registry.provide?.({ dispose, commands: [] });
        throw new Error("half-way");
      },
    };
    expect(() => registryOf(broken)).toThrow("half-way");
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  test("refuses a pack that throws half-way for that reason, also if its dispose throws", () => {
    const dispose = vi.fn();
    const broken: ToolPack = {
      register(registry) {
        const fail = () => {
          throw new Error("not disposable");
        };
        registry.provide?.({ dispose: fail });
        registry.provide?.({ dispose });
        throw new Error("half-way");
      },
    };
    expect(() => registryOf(broken)).toThrow("half-way");
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  test.each([
    [{ dispose: "x" }, "services.dispose must be a function"],
    [{ warmUp: true }, "services.warmUp must be a function"],
    [{ diagnose: 1 }, "services.diagnose must be a function"],
    [
      { hooks: { name: "h", beforCall: () => undefined } },
      "services.hooks must be an object with beforeCall(), beforeRun(), afterCall()",
    ],
    ["text", "services must be an object"],
  ])("refuses invalid services, %j, by name", (services, problem) => {
    expect(() => registryOf(packOf(services as never))).toThrow(problem);
  });
});
