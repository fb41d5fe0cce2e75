import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { fakeContext, fakeTool } from "../../test/fixtures.js";
import { Agent } from "../agent.js";
import { scriptedProvider } from "../providers/replay.js";
import { typedSchema } from "../toolkit/jsonSchema/jsonSchemaValue.js";
import { definePack, off, type SetupHost } from "./definePack.js";
import { defineTool } from "./defineTool.js";
import { createToolRegistry } from "./factory.js";
import type { PackOptions, ToolNames } from "./pack.js";

const input = { type: "object", properties: {} } as const;
const now = defineTool({ name: "now", description: "The time.", input, execute: () => "noon" });
const forecast = defineTool({ name: "forecast", description: "The weather.", input, execute: () => "rain" });

const clock = definePack({ name: "@x/clock", setup: () => ({ tools: [now, off(forecast)] }) });

describe("definePack", () => {
  test("registers its tools, with those that start off", () => {
    const registry = createToolRegistry(fakeContext(), [clock]);
    expect(registry.describeTools().map(({ name, enabled, source }) => [name, enabled, source])).toEqual([
      ["save_session_context", true, "@agent/core"],
      ["now", true, "@x/clock"],
      ["forecast", false, "@x/clock"],
    ]);
    expect(clock).toMatchObject({ packName: "@x/clock", packApiVersion: 1 });
  });

  test("refuses a pack whose module does not export what it declares", () => {
    const { packName, packApiVersion, register } = definePack({
      name: "@x/clock",
      secrets: ["CLOCK_TOKEN"],
      needs: { hosts: ["clock.example"] },
      setup: () => ({ tools: [now] }),
    });
    expect(() => createToolRegistry(fakeContext(), [{ packName, packApiVersion, register }])).toThrow(
      'Pack "@x/clock": it declares secrets and needs in definePack and does not export that. Write: export const { packName, packApiVersion, secrets, needs, register } = definePack(…)',
    );
  });

  test("refuses every option without a schema", () => {
    expect(() => createToolRegistry(fakeContext(), [[clock, { ctiy: "Rome" } as never]])).toThrow(
      'Pack "@x/clock" failed to register: @x/clock: it takes no options, got "ctiy".',
    );
    expect(() => createToolRegistry(fakeContext(), [[clock, "text" as never]])).toThrow(
      '@x/clock: options must be an object, got string "text".',
    );
    createToolRegistry(fakeContext(), [[clock, {}]]);
  });

  const schemas = {
    zod: z.object({ city: z.string().default("Rome"), days: z.number().optional() }),
    valibot: v.object({ city: v.optional(v.string(), "Rome"), days: v.optional(v.number()) }),
    arktype: type({ "city?": "string", "days?": "number" }),
    json: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number" } },
    },
  };

  test.each(Object.entries(schemas))("checks options with a schema of %s", (vendor, options) => {
    const seen = vi.fn();
    const pack = definePack({
      name: "@x/weather",
      options,
      setup: (host) => {
        seen(host.options);
        return { tools: [now] };
      },
    });
    const registerWith = (given?: unknown) =>
      createToolRegistry(fakeContext(), [given === undefined ? pack : [pack, given as never]]);
    registerWith();
    registerWith({ city: "Oslo" });
    const hasDefault = vendor === "zod" || vendor === "valibot";
    expect(seen.mock.calls).toEqual([[hasDefault ? { city: "Rome" } : {}], [{ city: "Oslo" }]]);
    expect(() => registerWith({ city: 1 })).toThrow(/@x\/weather: option .*city/);
    // This version of valibot does not tell the names of its options.
    if (vendor === "valibot") return;
    expect(() => registerWith({ ctiy: "Oslo" })).toThrow(
      '@x/weather: option "ctiy" is not known. Did you mean "city"?',
    );
  });

  test.each([
    z.looseObject({ city: z.string().optional() }),
    z.record(z.string(), z.unknown()),
    z.object({ city: z.string().optional() }).catchall(z.number()),
  ])("takes further options where the schema takes them", (options) => {
    const seen = vi.fn();
    const setup = (host: { options: unknown }) => {
      seen(host.options);
      return { tools: [now] };
    };
    const pack = definePack({ name: "@x/open", options: options as never, setup: setup as never });
    createToolRegistry(fakeContext(), [[pack, { zoom: 3 } as never]]);
    expect(seen).toHaveBeenCalledWith({ zoom: 3 });
  });

  test("withholds a tool with the reason that setup returns", async () => {
    const pack = definePack({
      name: "@x/search",
      setup: () => ({
        tools: [now, forecast],
        withheld: { forecast: "no engine is configured", now: undefined },
      }),
    });
    const registry = createToolRegistry(fakeContext(), [pack]);
    expect(registry.getEnabledSchemas().map((schema) => schema.function.name)).not.toContain("forecast");
    expect(await registry.execute("forecast", {})).toMatch("no engine is configured");
    expect(await registry.execute("now", {})).toBe("noon");
    // @ts-expect-error There is no such tool.
    definePack({ name: "@x/search", setup: () => ({ tools: [now], withheld: { nwo: "misspelt" } }) });
  });

  test("reports a schema of options that is not valid when options are checked by it", () => {
    const options = { type: "object", properties: { city: { type: "strnig" } } };
    const pack = definePack({ name: "@x/weather", options, setup: () => ({ tools: [now] }) });
    expect(() => createToolRegistry(fakeContext(), [[pack, { city: "Rome" } as never]])).toThrow(
      /@x\/weather: the schema of its options is not valid: .*strnig/,
    );
  });

  test("names a required option that is missing", () => {
    const pack = definePack({
      name: "@x/weather",
      options: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      setup: () => ({ tools: [now] }),
    });
    expect(() => createToolRegistry(fakeContext(), [pack])).toThrow(/@x\/weather: option .*city/);
  });

  test("refuses a schema that validates asynchronously", () => {
    const pack = definePack({
      name: "@x/weather",
      options: z.object({ city: z.string().refine(async () => true) }),
      setup: () => ({ tools: [now] }),
    });
    const asynchronous = definePack({
      name: "@x/weather",
      options: {
        "~standard": { version: 1, vendor: "test", validate: async (value: unknown) => ({ value }) },
      },
      setup: () => ({ tools: [now] }),
    });
    for (const one of [pack, asynchronous]) {
      expect(() => createToolRegistry(fakeContext(), [[one as never, { city: "Rome" }]])).toThrow(
        "@x/weather: the schema of its options is asynchronous",
      );
    }
  });

  test("provides what setup returns besides tools", async () => {
    const dispose = vi.fn();
    const pack = definePack({
      name: "@x/notes",
      secrets: ["NOTES_TOKEN"],
      setup: ({ state }) => ({
        tools: [now],
        prompt: () => ({ title: "Notes", text: String(state?.get() ?? "none") }),
        dispose,
      }),
    });
    expect(pack.secrets).toEqual(["NOTES_TOKEN"]);
    const agent = new Agent(scriptedProvider([]), { tools: [pack] });
    expect(agent.registry.services.prompts()).toMatchObject([{ source: "@x/notes", text: "none" }]);
    await agent.dispose();
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  test("accepts every part of a pack", () => {
    const parts = {
      tools: [now],
      withheld: { now: undefined },
      agents: [],
      commands: [],
      diagnose: () => [],
      dispose: () => undefined,
      hooks: { name: "x", beforeCall: () => undefined },
      jobs: { list: () => [], end: async () => false },
      mentions: [],
      prompt: () => undefined,
      skills: [],
      terminate: () => undefined,
      warmUp: () => undefined,
    };
    const registry = createToolRegistry(fakeContext(), [
      definePack({ name: "@x/whole", setup: () => parts as never }),
    ]);
    expect(registry.getToolNames()).toContain("now");
  });

  test("refuses what is not a part of a pack, and commands that no one can call", () => {
    const registered = (made: object) => () =>
      createToolRegistry(fakeContext(), [
        definePack({ name: "@x/notes", setup: () => ({ tools: [now], ...made }) }),
      ]);
    expect(registered({ hook: {} })).toThrow(
      '@x/notes: setup() returned "hook", which is not a part of a pack. Did you mean "hooks"?',
    );
    const run = async () => ({ show: "" });
    expect(registered({ commands: [{ name: "two words", description: "x", run }] })).toThrow(
      /services\.commands\[0\]\.name must be .*got string "two words"/,
    );
    expect(registered({ commands: [{ name: "go", description: "x" }] })).toThrow(
      "services.commands[0].run must be a function",
    );
    registered({ commands: [{ name: "notes:go", description: "x", run }] })();
  });

  test("disposes of its services if a tool is refused", () => {
    const dispose = vi.fn();
    const pack = definePack({ name: "@x/twice", setup: () => ({ tools: [now, now], dispose }) });
    expect(() => createToolRegistry(fakeContext(), [pack])).toThrow("registered already");
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  test("lets setup use the registry for tools that come later", async () => {
    const pack = definePack({
      name: "@x/late",
      setup: (_host, registry) => {
        registry.registerLater?.("late tools", async (later) => later.register(fakeTool("late")));
        return { tools: [] };
      },
    });
    const registry = createToolRegistry(fakeContext(), [pack]);
    await registry.services.loaded();
    expect(registry.hasTool("late")).toBe(true);
  });

  test.each([
    [{ name: "@x/a" }, "setup must be a function"],
    [{ setup: () => ({ tools: [] }) }, "name must be a string"],
    [{ name: "@x/a", setup: () => ({ tools: [] }), tools: [] }, 'definePack has no option "tools"'],
    [{ name: "@x/a", setup: () => ({ tools: [] }), secrets: "A" }, "secrets must be an array"],
    [undefined, "definition must be an object"],
  ])("refuses a definition that lacks something: %j", (definition, problem) => {
    expect(() => definePack(definition as never)).toThrow(problem);
  });

  test.each([
    [() => Promise.reject(new Error("late")), "setup() returned a promise"],
    [() => undefined, "setup() must return { tools }, got nothing"],
    [() => ({}), "setup().tools must be an array of tools"],
    [() => ({ tools: [1] }), "setup().tools[0] must be an object"],
    [() => ({ tools: [], prompt: 1 }), "services.prompt must be a function"],
    [() => ({ tools: [], withheld: { now: 1 } }), "setup().withheld.now must be a string"],
    [() => ({ tools: [], withheld: { now: "off" } }), "now"],
  ])("refuses what setup must not return", (setup, problem) => {
    const pack = definePack({ name: "@x/a", setup: setup as never });
    expect(() => createToolRegistry(fakeContext(), [pack])).toThrow(problem);
  });

  test("infers options and names of tools", () => {
    const weather = definePack({
      name: "@x/weather",
      options: z.object({ city: z.string().default("Rome") }),
      setup: (host) => {
        expectTypeOf(host).toEqualTypeOf<SetupHost<{ city: string }>>();
        return { tools: [now, off(forecast)] };
      },
    });
    const fromJson = definePack({
      name: "@x/json",
      options: { type: "object", properties: { days: { type: "integer" } } },
      setup: ({ options }) => {
        expectTypeOf(options.days).toEqualTypeOf<number | undefined>();
        return { tools: [now] };
      },
    });
    const typed = definePack({
      name: "@x/typed",
      options: typedSchema<{ readonly unit?: "C" | "F" }>({
        type: "object",
        properties: { unit: { enum: ["C", "F"] } },
      }),
      setup: ({ options }) => {
        expectTypeOf(options.unit).toEqualTypeOf<"C" | "F" | undefined>();
        return { tools: [now] };
      },
    });
    expectTypeOf<PackOptions<typeof typed>>().toEqualTypeOf<{ readonly unit?: "C" | "F" }>();
    expectTypeOf<PackOptions<typeof weather>>().toEqualTypeOf<{ city?: string | undefined }>();
    expectTypeOf<ToolNames<readonly [typeof weather]>>().toEqualTypeOf<"now" | "forecast">();
    expectTypeOf(weather.packName).toEqualTypeOf<"@x/weather">();
    const provider = scriptedProvider([]);
    new Agent(provider, { tools: [[weather, { city: "Oslo" }]], enable: ["forecast"] });
    new Agent(provider, { tools: [[fromJson, { days: 3 }]] });
    // @ts-expect-error The option has another type.
    expect(() => new Agent(provider, { tools: [[weather, { city: 1 }]] })).toThrow();
    // @ts-expect-error There is no such option.
    expect(() => new Agent(provider, { tools: [[fromJson, { dyas: 3 }]] })).toThrow();
    // @ts-expect-error The pack takes no options.
    expect(() => new Agent(provider, { tools: [[clock, { days: 3 }]] })).toThrow();
    // @ts-expect-error There is no such tool.
    expect(() => new Agent(provider, { tools: [clock], enable: ["forecats"] })).toThrow();
  });

  test("lets the compiler check a list of tools that depends on a condition", () => {
    const weather = definePack({
      name: "@x/weather",
      options: { type: "object", properties: { city: { type: "string" } } },
      setup: () => ({ tools: [off(forecast)] }),
    });
    const provider = scriptedProvider([]);
    const condition = process.argv.length > 0;
    const chosen = condition ? [weather] : [clock];
    new Agent(provider, { tools: chosen, enable: ["forecast"] });
    new Agent(provider, { tools: condition ? [weather] : [], enable: ["forecast"] });
    new Agent(provider, {
      tools: condition ? [now, [weather, { city: "Oslo" }]] : [now],
      enable: ["forecast"],
    });
    // @ts-expect-error The option has another type.
    expect(() => new Agent(provider, { tools: condition ? [[weather, { city: 1 }]] : [clock] })).toThrow();
    // @ts-expect-error There is no such tool.
    expect(() => new Agent(provider, { tools: condition ? [weather] : [], enable: ["forecats"] })).toThrow();
    // @ts-expect-error It is not a pack.
    expect(() => new Agent(provider, { tools: condition ? [{ name: "clock" }] : [clock] })).toThrow();
  });
});
