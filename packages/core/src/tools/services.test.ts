import { describe, expect, test, vi } from "vitest";
import { deferred, fakeContext, fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import type { ChatProvider } from "../providers/interface.js";
import { scriptedProvider } from "../providers/replay.js";
import { createToolRegistry } from "./factory.js";
import type { BackgroundJob, PackServices, ToolPack } from "./pack.js";
import { registerPack } from "./registerPack.js";
import { HOOKS, PackServiceList, serviceNames } from "./services.js";

const packOf = (services: PackServices, name = "serving"): ToolPack => ({
  packName: name,
  register: (registry) => registry.provide?.(services),
});

const registryOf = (...packs: ToolPack[]) => createToolRegistry(fakeContext(), packs);

const job = (id: string): BackgroundJob => ({ id, command: `run ${id}`, pids: [1], startedAt: 0 });

describe("what packs provide besides tools", () => {
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

describe("tools that are loading", () => {
  test("are listed until they are there; one that failed stays with its reason", async () => {
    const services = new PackServiceList();
    const gates = [deferred(), deferred(), deferred()];
    for (const [index, gate] of gates.entries()) services.load(`server ${index}`, () => gate.promise);
    const pending = () => services.pending().map(({ description, problem }) => [description, problem]);
    gates[0]?.reject(new Error("no network"));
    gates[1]?.resolve();
    await vi.waitFor(() => expect(pending()).toHaveLength(2));
    const loaded = vi.fn();
    const waiting = services.loaded().then(loaded);
    expect(pending()).toEqual([
      ["server 0", "no network"],
      ["server 2", undefined],
    ]);
    expect(loaded).not.toHaveBeenCalled();
    gates[2]?.resolve();
    await waiting;
    expect(pending()).toEqual([["server 0", "no network"]]);
  });

  test("are not loaded after the end", async () => {
    const services = new PackServiceList();
    await services.dispose();
    const load = vi.fn(async () => undefined);
    services.load("late", load);
    await services.loaded();
    expect(load).not.toHaveBeenCalled();
    expect(services.pending()).toEqual([]);
  });
});

describe("the background work of packs", () => {
  test("stops or detaches a command by the first pack that knows its process", async () => {
    const asked: string[] = [];
    const knowing = (name: string, pid: number) => ({
      list: () => [],
      end: async () => false,
      endProcess: async (given: number) => asked.push(`${name} ends ${given}`) > 0 && given === pid,
      detachProcess: async (given: number) => asked.push(`${name} detaches ${given}`) > 0 && given === pid,
    });
    const services = new PackServiceList();
    services.add({ jobs: { list: () => [], end: async () => false } });
    services.add({ jobs: knowing("a", 1) });
    services.add({ jobs: knowing("b", 2) });
    expect([await services.jobs.endProcess?.(1), await services.jobs.detachProcess?.(2)]).toEqual([
      true,
      true,
    ]);
    expect(await services.jobs.detachProcess?.(3)).toBe(false);
    expect(asked).toEqual(["a ends 1", "a detaches 2", "b detaches 2", "a detaches 3", "b detaches 3"]);
  });

  test("is killed for all packs, also after one has failed", () => {
    const terminate = vi.fn();
    const services = new PackServiceList();
    services.add({ commands: [] });
    services.add({
      terminate: () => {
        throw new Error("stuck");
      },
    });
    services.add({ terminate });
    services.terminate();
    expect(terminate).toHaveBeenCalledTimes(1);
  });
});

describe("the text that packs add to the prompt", () => {
  const promptOf = (title: string, text: string) => {
    const services = new PackServiceList();
    services.add({ prompt: () => ({ title, text }) }, "@x/p");
    return services.prompts();
  };

  test("has a title on one line of at most 100 characters", () => {
    expect(promptOf(" A\n title ", "text")).toEqual([
      { source: "@x/p", title: "A title", text: "text", tokens: 1 },
    ]);
    expect(promptOf("x".repeat(200), "text")[0]?.title).toHaveLength(100);
  });

  test("is left out if it is blank", () => {
    expect(promptOf("Title", " \n")).toEqual([]);
  });

  test("is whole up to 8,000 characters, and says that it was cut above", () => {
    expect(promptOf("Title", "x".repeat(8000))[0]).not.toHaveProperty("isCut");
    const [cut] = promptOf("Title", "x".repeat(8001));
    expect(cut).toMatchObject({ isCut: true, tokens: 2000 });
    expect(cut?.text).toHaveLength(8000);
    expect(cut?.text).toMatch(/^x+\n\[The rest was left out: a pack may add 2,000 tokens\.\]$/);
  });

  test.each([{ title: 1, text: "x" }, { title: "x" }, "text", null])("is left out if it is %j", (given) => {
    const services = new PackServiceList();
    services.add({ prompt: () => given as never }, "@x/p");
    const problems: string[] = [];
    expect(services.prompts((problem) => void problems.push(problem))).toEqual([]);
    expect(problems).toHaveLength(1);
  });
});

test("names both packs of a skill and of an agent, and uses the first of each", () => {
  const services = new PackServiceList();
  const agent = { name: "r", description: "d", systemPrompt: "s" };
  services.add({ skills: [{ name: "n", description: "d", file: "/1" }], agents: [agent] }, "@x/one");
  services.add(
    { skills: [{ name: "n", description: "d", file: "/2" }], agents: [{ ...agent, systemPrompt: "t" }] },
    "@x/two",
  );
  expect(services.skills.map(({ file }) => file)).toEqual(["/1"]);
  expect(services.agents.map(({ systemPrompt }) => systemPrompt)).toEqual(["s"]);
  expect(services.problems).toEqual([
    'Two packs provide a skill named "n": @x/one and @x/two. That of @x/one is used; remove one of the packs, or rename one.',
    'Two packs provide an agent named "r": @x/one and @x/two. That of @x/one is used; remove one of the packs, or rename one.',
  ]);
});

test.each<[object, string]>([
  [{ skills: [7] }, "services.skills[0] must be an object"],
  [{ skills: [{ name: "1x", description: "d", file: "/f" }] }, "services.skills[0].name must be letters"],
  [{ skills: [{ name: 7, description: "d", file: "/f" }] }, "services.skills[0].name must be letters"],
  [
    { skills: [{ name: "a".repeat(65), description: "d", file: "/f" }] },
    "services.skills[0].name must be letters",
  ],
  [{ skills: [{ name: "a", file: "/f" }] }, "services.skills[0].description must be a string"],
  [
    { agents: [{ name: "a b", description: "d", systemPrompt: "s" }] },
    "services.agents[0].name must be letters",
  ],
  [{ agents: [{ name: "a", systemPrompt: "s" }] }, "services.agents[0].description must be a string"],
  [{ terminate: 1 }, "services.terminate must be a function"],
])("refuses the services %j", (services, problem) => {
  expect(() => new PackServiceList().add(services as never)).toThrow(problem);
});

test("lists the services of a pack for a user who is to accept it", () => {
  expect(serviceNames({})).toEqual([]);
  expect(
    serviceNames({
      hooks: { name: "h", beforeCall: () => undefined },
      prompt: () => undefined,
      mentions: [{} as never],
      commands: [{ name: "deploy", description: "d", run: async () => ({ show: "ok" }) }],
      skills: [{ name: "notes", description: "d", file: "/f" }],
      agents: [{ name: "reviewer", description: "d", systemPrompt: "s" }],
    }),
  ).toEqual(["hooks", "prompt text", "mentions", "command /deploy", "skill notes", "agent reviewer"]);
  expect(serviceNames({ mentions: [] })).toEqual([]);
});

test.each(HOOKS)("takes a pack with only the hook %s, if it is a function", (hook) => {
  const services = new PackServiceList();
  const add = (value: unknown) => services.add({ hooks: { name: "h", [hook]: value } as never });
  add(() => undefined);
  expect(services.hooks).toHaveLength(1);
  expect(() => add(1)).toThrow(`services.hooks.${hook} must be a function`);
});
