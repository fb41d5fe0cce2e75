import { describe, expect, onTestFinished, test, vi } from "vitest";
import { fakeContext, fakeTool } from "../../test/fixtures.js";
import { createToolRegistry } from "./factory.js";
import type { PackRegistry, ToolPack } from "./pack.js";
import { registerPack } from "./registerPack.js";
import { ToolRegistry } from "./registry.js";

const pack = (register: ToolPack["register"], rest: Partial<ToolPack> = {}): ToolPack => ({
  packName: "@x/pack",
  register,
  ...rest,
});

describe("registerPack", () => {
  test("registers the tools, names their pack, and returns their names", () => {
    const registry = new ToolRegistry();
    const names = registerPack(
      registry,
      pack((to) => {
        to.register(fakeTool("safe"));
        to.register(fakeTool("risky"), { enabled: false });
      }),
    );
    expect(names).toEqual(["safe", "risky"]);
    expect(registry.describeTools().map(({ name, enabled, source }) => [name, enabled, source])).toEqual([
      ["safe", true, "@x/pack"],
      ["risky", false, "@x/pack"],
    ]);
  });

  test("passes the host's context and options to the pack", () => {
    const context = fakeContext();
    let seen: unknown;
    const spy = pack((_, host) => {
      seen = host;
    });
    registerPack(new ToolRegistry(), spy, { context, options: { a: 1 } });
    expect(seen).toEqual({
      context,
      options: { a: 1 },
      secretVariables: [],
      agents: expect.any(Function),
    });
  });

  test("withholds tools of a pack that does not follow the directory of the host, now and later", () => {
    const registry = new ToolRegistry();
    const host = { context: fakeContext(), directory: "/tree" };
    let late: PackRegistry | undefined;
    registerPack(
      registry,
      pack((to) => {
        to.register(fakeTool("save", undefined, { capabilities: ["write"] }));
        to.register(fakeTool("weather", undefined, { capabilities: ["network"] }));
        to.onRefresh?.((own) => {
          late = own;
        });
      }),
      host,
    );
    registerPack(
      registry,
      pack((to) => to.register(fakeTool("here")), { followsDirectory: true }),
      host,
    );
    registry.services.refresh();
    late?.register(fakeTool("later"));
    expect(late?.release?.("save")).toBe(false);
    expect(registry.getToolNames().filter((name) => registry.isToolEnabled(name))).toEqual([
      "weather",
      "here",
    ]);
    expect(registry.describeTool("later")?.withheld).toContain("followsDirectory");
  });

  test("passes its own secrets to a pack inside a preset, and hides them in results", async () => {
    vi.stubEnv("ACME_TOKEN", "acme-token-123456");
    onTestFinished(() => void vi.unstubAllEnvs());
    const registry = new ToolRegistry();
    let shell: readonly string[] | undefined;
    const first = pack((_, host) => {
      shell = host?.secretVariables;
    });
    const inner = pack(
      (to, host) => to.register(fakeTool("leak", async () => `token ${host?.secrets?.ACME_TOKEN}`)),
      { secrets: ["ACME_TOKEN", "ACME_MISSING"] },
    );
    const preset = pack((to, host) => {
      registerPack(to, first, host);
      registerPack(to, inner, host);
    });
    registerPack(registry, preset, { context: fakeContext() });
    expect(await registry.execute("leak")).toBe("token [secret]");
    expect(shell).toEqual(["ACME_TOKEN", "ACME_MISSING"]);
  });

  test("does not pass the secrets of a preset to the packs in it", () => {
    vi.stubEnv("PRESET_TOKEN", "preset-token-123456");
    onTestFinished(() => void vi.unstubAllEnvs());
    const seen: unknown[] = [];
    const inner = pack((_, host) => void seen.push(host?.secrets));
    const preset = pack(
      (to, host) => {
        seen.push(host?.secrets);
        registerPack(to, inner, host);
      },
      { secrets: ["PRESET_TOKEN"] },
    );
    registerPack(new ToolRegistry(), preset, { context: fakeContext() });
    expect(seen).toEqual([{ PRESET_TOKEN: "preset-token-123456" }, undefined]);
  });

  test("keeps the names of secrets that its host passes, and hides the values of a pack without a host", async () => {
    vi.stubEnv("ACME_TOKEN", "acme-token-123456");
    onTestFinished(() => void vi.unstubAllEnvs());
    const registry = new ToolRegistry();
    let names: unknown;
    const spy = pack((_, host) => {
      names = host?.secretVariables;
    });
    registerPack(registry, spy, { context: fakeContext(), secretVariables: ["HOST_TOKEN"] });
    expect(names).toEqual(["HOST_TOKEN"]);
    registerPack(
      registry,
      pack((to) => to.register(fakeTool("leak", () => "acme-token-123456")), { secrets: ["ACME_TOKEN"] }),
    );
    expect(await registry.execute("leak")).toBe("[secret]");
  });

  test("leaves nothing of a pack that throws half-way", () => {
    const registry = new ToolRegistry();
    registry.register(fakeTool("before"));
    const broken = pack((to) => {
      to.register(fakeTool("one"));
      throw new Error("half-way");
    });
    expect(() => registerPack(registry, broken)).toThrow('Pack "@x/pack" failed to register: half-way');
    expect(registry.getToolNames()).toEqual(["before"]);
  });

  test("names both of two packs with one tool name, keeps the first, and leaves nothing of the second", () => {
    const registry = new ToolRegistry();
    registerPack(
      registry,
      pack((to) => to.register(fakeTool("same")), { packName: "@x/first" }),
    );
    const second = pack(
      (to) => {
        to.register(fakeTool("other"));
        to.register(fakeTool("same"));
      },
      { packName: "@x/second" },
    );
    expect(() => registerPack(registry, second)).toThrow(
      /by @x\/first; a second one by @x\/second was refused/,
    );
    expect(registry.getToolNames()).toEqual(["same"]);
  });

  test("does not let a pack enable a tool, its own or another's", () => {
    const registry = new ToolRegistry();
    registry.register(fakeTool("run_bash"), { enabled: false });
    const greedy = (name: string) =>
      pack((to) => {
        to.register(fakeTool("mine"), { enabled: false });
        to.enable(name);
      });
    for (const name of ["run_bash", "mine"]) {
      expect(() => registerPack(registry, greedy(name))).toThrow(/only the user enables one that is off/);
    }
    expect(registry.isToolEnabled("run_bash")).toBe(false);
    expect(registry.hasTool("mine")).toBe(false);
  });

  test("lets a pack disable and unregister its own tools, and no one else's", () => {
    const registry = new ToolRegistry();
    registry.register(fakeTool("theirs"));
    registerPack(
      registry,
      pack((to) => {
        to.register(fakeTool("mine"));
        to.register(fakeTool("dropped"));
        to.disable("mine");
        to.unregister("dropped");
      }),
    );
    expect(registry.isToolEnabled("mine")).toBe(false);
    expect(registry.hasTool("dropped")).toBe(false);
    for (const action of ["disable", "unregister", "withhold", "release"] as const) {
      expect(() =>
        registerPack(
          registry,
          pack((to) => void to[action]?.("theirs", "none of its business")),
        ),
      ).toThrow(`It may not ${action} "theirs", which is not its own tool.`);
    }
    expect(registry.isToolEnabled("theirs")).toBe(true);
  });

  test("does not let a pack register anything once register() has returned", () => {
    let kept: PackRegistry | undefined;
    registerPack(
      new ToolRegistry(),
      pack((to) => {
        kept = to;
      }),
    );
    expect(() => kept?.register(fakeTool("late"))).toThrow(/after register\(\) returned/);
  });

  test("reports an async register with a clear error and leaves nothing", async () => {
    const registry = new ToolRegistry();
    const later = pack(async (to) => {
      to.register(fakeTool("early"));
      await Promise.resolve();
      to.register(fakeTool("late"));
    });
    expect(() => registerPack(registry, later)).toThrow(/register\(\) returned a promise/);
    expect(registry.getToolNames()).toEqual([]);
  });

  test.each([
    [{}, /must have a named export register\(registry\), got nothing\.$/],
    [
      { default: { register: () => undefined } },
      /It has a default export; export a function named register instead/,
    ],
    [{ default: () => undefined }, /It has a default export; export a function named register instead/],
    [{ default: {} }, /got nothing\.$/],
    [{ register: "yes" }, /got string "yes"/],
    [null, /^pack must be a module .*, got null\.$/],
    [Object.assign([], { register: () => undefined }), /^pack must be a module .*, got an empty array\.$/],
    [{ packName: "", register: 1 }, /^Pack "\(unnamed\)" must have/],
    [{ register: () => undefined, secrets: "ACME_TOKEN" }, /secrets must be a list of variable names/],
    [{ register: () => undefined, secrets: [7] }, /secrets must be a list of variable names .* got array\.$/],
  ])("refuses %j, which is not a pack", (value, message) => {
    expect(() => registerPack(new ToolRegistry(), value as unknown as ToolPack)).toThrow(message);
  });

  test("reports which side to upgrade for a pack built for a newer pack API", () => {
    const newer = pack(() => undefined, { packApiVersion: 2 });
    expect(() => registerPack(new ToolRegistry(), newer)).toThrow(
      'Pack "@x/pack" was built for pack API 2; this @agent/core serves 1. Upgrade @agent/core.',
    );
  });

  test.each([0, 1.5, "1"])("refuses a pack API version of %j", (packApiVersion) => {
    const odd = pack(() => undefined, { packApiVersion: packApiVersion as number });
    expect(() => registerPack(new ToolRegistry(), odd)).toThrow(/packApiVersion must be a whole number/);
  });

  test("keeps the name of each tool's own pack in a pack made of packs", () => {
    const registry = new ToolRegistry();
    const inner = pack((to) => to.register(fakeTool("a")), { packName: "@x/inner" });
    registerPack(
      registry,
      pack((to) => void registerPack(to, inner), { packName: "@x/preset" }),
    );
    expect(registry.describeTools()[0]?.source).toBe("@x/inner");
  });
});

test("takes a function with a register() as a pack", () => {
  const registry = new ToolRegistry();
  const callable = Object.assign(() => undefined, {
    register: (to: PackRegistry) => to.register(fakeTool("a")),
  });
  expect(registerPack(registry, callable as never)).toEqual(["a"]);
});

test("withholds a tool of an unknown effect where a pack does not follow the directory of the host", () => {
  const registry = new ToolRegistry();
  const given = [
    fakeTool("unknown"),
    fakeTool("both", undefined, { capabilities: ["network", "read"] }),
    fakeTool("web", undefined, { capabilities: ["network"] }),
  ];
  const elsewhere = pack((to) => {
    for (const tool of given) to.register(tool);
    to.withhold?.("web", "it is down");
    to.release?.("web");
  });
  registerPack(registry, elsewhere, { context: fakeContext(), directory: "/tree" });
  expect(registry.getToolNames().filter((name) => registry.isToolEnabled(name))).toEqual(["web"]);
});

test("lets a pack withhold, release and list its tools, and look at those of others", async () => {
  const registry = new ToolRegistry();
  registry.register(fakeTool("theirs"), { enabled: false });
  const seen: unknown[] = [];
  registerPack(
    registry,
    pack((to) => {
      to.register(fakeTool("mine"));
      seen.push(to.withhold?.("mine", "it is down"), to.isToolEnabled("mine"));
      seen.push(to.release?.("mine"), to.isToolEnabled("mine"));
      seen.push(to.hasTool("theirs"), to.isToolEnabled("theirs"), to.getToolNames());
      seen.push(to.describeTool?.("theirs")?.name, to.disable("mine"));
    }),
  );
  expect(seen).toEqual([true, false, true, true, true, false, ["theirs", "mine"], "theirs", true]);
});

test("works with a host's registry that has only the methods every registry has", () => {
  const registry = new ToolRegistry();
  const bare = {
    register: registry.register.bind(registry),
    unregister: registry.unregister.bind(registry),
    enable: registry.enable.bind(registry),
    disable: registry.disable.bind(registry),
    hasTool: registry.hasTool.bind(registry),
    isToolEnabled: registry.isToolEnabled.bind(registry),
    getToolNames: registry.getToolNames.bind(registry),
  } as PackRegistry;
  const seen: unknown[] = [];
  const careful = pack(
    (to, host) => {
      to.register(fakeTool("a"));
      to.registerLater?.("more", async () => undefined);
      to.onRefresh?.(() => undefined);
      to.provide?.({ commands: [] });
      seen.push(to.withhold?.("a", "it is down"), to.release?.("a"), to.describeTool?.("a"));
      seen.push(to.claimSecrets?.("x", ["A"]), to.hostFor?.("x"), host?.secrets, "secretVariables" in to);
    },
    { secrets: ["ACME_TOKEN"] },
  );
  expect(registerPack(bare, careful, { context: fakeContext() })).toEqual(["a"]);
  expect(seen).toEqual([true, false, undefined, {}, {}, undefined, false]);
  expect(registry.isToolEnabled("a")).toBe(false);
});

test("checks what a pack registers for later when it registers it", () => {
  const later = (register: (to: PackRegistry) => void) => () =>
    registerPack(
      new ToolRegistry(),
      pack((to) => register(to)),
    );
  expect(later((to) => to.registerLater?.(7 as never, async () => undefined))).toThrow("description must be");
  expect(later((to) => to.registerLater?.("tools", 7 as never))).toThrow("load must be a function");
  expect(later((to) => to.onRefresh?.(7 as never))).toThrow("refresh must be a function");
  expect(later((to) => to.provide?.({ prompt: 7 } as never))).toThrow("services.prompt must be a function");
});

describe("createToolRegistry", () => {
  test("Scenario: Factory is separate: core's own tool and those of the packs, in order", () => {
    const registry = createToolRegistry(fakeContext(), [pack((to) => to.register(fakeTool("a")))]);
    expect(registry.getToolNames()).toEqual(["save_session_context", "a"]);
  });

  test("passes options to their pack", () => {
    let options: unknown;
    const spy = pack((_, host) => {
      options = host?.options;
    });
    createToolRegistry(fakeContext(), [[spy, { root: "." }]]);
    expect(options).toEqual({ root: "." });
  });

  test("takes opt-ins from the caller", () => {
    const risky = pack((to) => to.register(fakeTool("risky"), { enabled: false }));
    expect(createToolRegistry(fakeContext(), [risky]).isToolEnabled("risky")).toBe(false);
    expect(createToolRegistry(fakeContext(), [risky], { enable: ["risky"] }).isToolEnabled("risky")).toBe(
      true,
    );
  });

  test("reports an unknown name in enable with the nearest match", () => {
    const risky = pack((to) => to.register(fakeTool("run_bash"), { enabled: false }));
    expect(() => createToolRegistry(fakeContext(), [risky], { enable: ["run_bsh"] })).toThrow(
      'enable[0] is "run_bsh", which no pack declares. Did you mean "run_bash"?',
    );
  });

  test("refuses packs that are not a list", () => {
    expect(() => createToolRegistry(fakeContext(), {} as never)).toThrow(
      "tools must be an array of packs and tools, got object.",
    );
  });
});
