import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { registryWith } from "../../test/fixtures.js";
import { agentTool, defineTool } from "./defineTool.js";
import { contextType, type JsonSchema } from "./tool.js";

const schemas = {
  zod: z.object({ city: z.string(), days: z.number().int().default(1) }),
  valibot: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number(), 1) })),
  arktype: type({ city: "string", days: "number = 1" }),
};

describe.each(Object.entries(schemas))("a tool whose input is a schema of %s", (_library, input) => {
  const execute = vi.fn((args: { city: string; days: number }) => `${args.city} for ${args.days}`);
  const registry = registryWith(
    defineTool({
      name: "weather",
      description: "Tells the weather.",
      input: input as never,
      execute: execute as never,
    }),
  );

  test("is offered to the model as JSON Schema", () => {
    expect(registry.getEnabledSchemas()[0]).toMatchObject({
      type: "function",
      function: {
        name: "weather",
        description: "Tells the weather.",
        parameters: { type: "object", properties: { city: { type: "string" } } },
      },
    });
  });

  test("gets validated arguments with defaults filled in", async () => {
    expect(await registry.execute("weather", { city: "Oslo" })).toBe("Oslo for 1");
  });

  test("is not run with wrong arguments, and the model is informed which", async () => {
    execute.mockClear();
    expect(await registry.execute("weather", { city: 7 })).toMatch(/^Error executing weather: .*city/s);
    expect(execute).not.toHaveBeenCalled();
  });
});

test("types arguments in execute", () => {
  defineTool({
    name: "typed",
    description: "Test.",
    input: schemas.zod,
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
      return args.city;
    },
  });
  defineTool({
    name: "json",
    description: "Test.",
    input: {
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "integer" },
        unit: { enum: ["C", "F"] },
        hours: { type: "array", items: { type: ["number", "null"] } },
        place: { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] },
        rest: {},
      },
      required: ["city", "place"],
    },
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<{
        city: string;
        place: { zone: string };
        days?: number;
        unit?: "C" | "F";
        hours?: (number | null)[];
        rest?: unknown;
      }>();
      return args.city;
    },
  });
  const unknownSchema: JsonSchema = { type: "object" };
  defineTool({
    name: "unknown",
    description: "Test.",
    input: unknownSchema,
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>();
      return "";
    },
  });
  defineTool({
    name: "untyped",
    description: "Test.",
    input: { type: "object" },
    execute: (args) => {
      expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>();
      return "";
    },
  });
});

test("allows a check to wait for something, such as a database", async () => {
  const input = z.object({ id: z.string().refine(async (id) => id === "known", "no one knows it") });
  const registry = registryWith(
    defineTool({ name: "look", description: "Test.", input, execute: ({ id }) => `found ${id}` }),
  );
  expect(await registry.execute("look", { id: "known" })).toBe("found known");
  expect(await registry.execute("look", { id: "other" })).toContain("no one knows it");
});

test("explains how to wrap a schema of valibot that was not wrapped", () => {
  const input = v.object({ city: v.string() });
  const define = () => defineTool({ name: "t", description: "Test.", input, execute: () => "" });
  expect(define).toThrow("toStandardJsonSchema of @valibot/to-json-schema");
});

test("allows images and files in a result besides its text", async () => {
  const image = { type: "image", mediaType: "image/png", data: "aGk=" } as const;
  const registry = registryWith(
    defineTool({
      name: "draw",
      description: "Test.",
      input: { type: "object" },
      execute: () => ({ text: "Here it is.", parts: [image] }),
    }),
  );
  expect(await registry.run("draw")).toMatchObject({ outcome: "ok", text: "Here it is.", parts: [image] });
});

test("passes getters of a call on unread, and defaults for what is undefined", async () => {
  let isRead = false;
  const attach = vi.fn();
  const look = defineTool({
    name: "look",
    description: "Test.",
    input: { type: "object" },
    context: contextType<number>(),
    execute: (_input, call) => {
      call.attach({ type: "image", mediaType: "image/png", data: "aGk=" });
      return JSON.stringify([isRead, call.canAttach, call.context, call.signal.aborted, isRead]);
    },
  });
  const call = Object.freeze({
    onOutput: () => undefined,
    context: 7,
    get signal() {
      isRead = true;
      return new AbortController().signal;
    },
  });
  expect(await look.execute({}, call)).toBe("[false,false,7,false,true]");
  expect(await look.execute({}, { context: 7, attach: undefined } as never)).toBe(
    "[true,false,7,false,true]",
  );
  expect(await look.execute({}, { context: 7, attach } as never)).toBe("[true,true,7,false,true]");
  expect(attach).toHaveBeenCalledTimes(1);
});

test("reports an invalid result as an error of the tool", async () => {
  const execute = (() => 42) as never;
  const registry = registryWith(
    defineTool({ name: "bad", description: "Test.", input: { type: "object" }, execute }),
  );
  expect(await registry.execute("bad")).toBe(
    "Error executing bad: it returned number 42 instead of a string or { text, parts }.",
  );
});

test.each([
  ["input that is not an object", { input: z.string() }, "must be a schema of an object"],
  ["input that is not a schema", { input: 7 }, "input"],
  ["no description", { description: undefined }, "description"],
  ["a misspelt option", { excute: () => "" }, 'Did you mean "execute"?'],
])("refuses %s when the tool is defined", (_what, change, problem) => {
  const definition = {
    name: "t",
    description: "Test.",
    input: { type: "object" },
    execute: () => "",
    ...change,
  };
  expect(() => defineTool(definition as never)).toThrow(problem);
});

test("refuses a type that JSON Schema does not have, without compiling it", () => {
  const about = { name: "a", description: "d", execute: () => "" };
  const numbr = { type: "object", properties: { n: { type: "numbr" } } } as const;
  // @ts-expect-error There is no type "numbr".
  const misspelt = defineTool({ ...about, input: { type: "object", properties: { n: { type: "numbr" } } } });
  // @ts-expect-error Nor in the items of an array.
  defineTool({ ...about, input: { type: "object", properties: { n: { type: "array", items: numbr } } } });
  const known: string = "number";
  defineTool({
    ...about,
    input: { type: "object", properties: { n: { type: ["string", "null"] }, m: { type: known } } },
  });
  expect(() => registryWith(misspelt)).toThrow("numbr");
  // @ts-expect-error Nor in the answer of a child agent.
  expect(() => agentTool({ name: "a", description: "d", output: { type: "objct" } })).toThrow(
    'agentTool "a": output is not a valid JSON Schema: agentTool "a": output.type is "objct"',
  );
});

describe("a tool with a schema of its result", () => {
  const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
  const input = { type: "object" } as const;

  test("types the answer of a child agent by the schema in its request", () => {
    defineTool({
      ...{ name: "ask", description: "Test.", input },
      async execute(_input, { startAgent }) {
        const typed = await startAgent?.({ message: "Which?", output: city });
        expectTypeOf(typed?.output).toEqualTypeOf<{ city: string } | undefined>();
        const parsed = await startAgent?.({ message: "?", output: z.object({ people: z.number() }) });
        expectTypeOf(parsed?.output).toEqualTypeOf<{ people: number } | undefined>();
        return (await startAgent?.({ message: "?" }))?.text ?? "";
      },
    });
  });

  test("returns a value that fits, and its text: JSON, or what toText makes of it", async () => {
    const about = { description: "Test.", input, output: city, execute: () => ({ city: "Oslo" }) };
    const registry = registryWith(
      defineTool({ ...about, name: "json" }),
      defineTool({ ...about, name: "text", toText: (value) => `It is ${value.city}.` }),
    );
    expect(await registry.run("json")).toMatchObject({
      outcome: "ok",
      text: '{"city":"Oslo"}',
      value: { city: "Oslo" },
    });
    expect(await registry.run("text")).toMatchObject({ text: "It is Oslo.", value: { city: "Oslo" } });
    expect(registry.describeTool("json")?.outputSchema).toEqual(city);
  });

  test("fails if its result does not fit", async () => {
    const execute = (() => ({ city: 7 })) as never;
    const registry = registryWith(
      defineTool({ name: "t", description: "Test.", input, output: city, execute }),
    );
    const result = await registry.run("t");
    expect(result).toMatchObject({ outcome: "error" });
    expect(result.text).toMatch(/^Error executing t: its result does not fit its output schema: .*city/);
    expect(result).not.toHaveProperty("value");
  });
});

describe("a tool with a schema of the context", () => {
  const user = defineTool({
    name: "who",
    description: "Test.",
    input: { type: "object" },
    context: z.object({ user: z.string().transform((name) => name.toUpperCase()) }),
    execute: (_input, { context }) => context.user,
  });

  test("gets it as the schema reads it", async () => {
    expect(await registryWith(user).run("who", {}, { context: { user: "ada" } })).toMatchObject({
      outcome: "ok",
      text: "ADA",
    });
  });

  test.each([[undefined], [{ user: 7 }], ["ada"]])("fails with the context %j", async (context) => {
    const result = await registryWith(user).run("who", {}, { context });
    expect(result.outcome).toBe("error");
    expect(result.text).toContain("The context does not fit its schema");
  });
});

test("refuses arguments that a schema reads as something other than an object", async () => {
  const input = z.object({ n: z.number() }).transform(({ n }) => n);
  const tool = defineTool({
    name: "n",
    description: "Test.",
    input: Object.assign(input, { toJSONSchema: () => ({ type: "object" }) }) as never,
    execute: () => "ran",
  });
  expect(await registryWith(tool).execute("n", { n: 1 })).toBe(
    "Error executing n: the input is not an object",
  );
});

test("has only the facts that its definition has", () => {
  const input = { type: "object" } as const;
  const bare = defineTool({ name: "t", description: "Test.", input, execute: () => "" });
  expect(Object.keys(bare).sort()).toEqual(["execute", "getSchema", "name"]);
  const describeCall = () => ({});
  const whole = defineTool({
    name: "t",
    description: "Test.",
    input,
    execute: () => "",
    describe: describeCall,
    preview: () => undefined,
    capabilities: ["write"],
    kind: "move",
    insteadOf: "u",
  });
  expect(whole).toMatchObject({ describeCall, capabilities: ["write"], kind: "move", insteadOf: "u" });
  expect(whole.previewCall).toBeTypeOf("function");
});

test.each<[string, object, string]>([
  ["a redirect that is not a function", { redirect: "x" }, "redirect must be a function"],
  ["a description of calls that is not a function", { describe: {} }, "describe must be a function"],
  ["a preview that is not a function", { preview: 1 }, "preview must be a function"],
  ["paths that are not names", { pathArguments: [7] }, "pathArguments"],
  ["a name that is not a string", { name: 7 }, "name must be a string"],
  ["no execute", { execute: undefined }, "execute must be a function"],
])("refuses %s", (_, change, problem) => {
  const definition = {
    name: "t",
    description: "Test.",
    input: { type: "object" },
    execute: () => "",
    ...change,
  };
  expect(() => defineTool(definition as never)).toThrow(problem);
});

test("finds no part in a result whose parts are refused", async () => {
  const registry = registryWith(
    defineTool({
      name: "draw",
      description: "Test.",
      input: { type: "object" },
      execute: () => ({ text: "Here.", parts: [{ type: "image" } as never] }),
    }),
  );
  expect(await registry.execute("draw")).toMatch(/^Error executing draw: The attached part /);
});

describe("an agent that is called like a tool", () => {
  const research = agentTool({
    name: "research",
    description: "Finds facts.",
    systemPrompt: "Answer with sources.",
    tools: ["look"],
    maxTurns: 3,
  });
  const started = (text: string, output?: unknown) => {
    const requests: unknown[] = [];
    const startAgent = async (request: unknown) => {
      requests.push(request);
      return { text, output, finishReason: "stop", turns: 1, usage: {}, messages: [] } as never;
    };
    return { requests, startAgent };
  };

  test("gets the task as its message, with what its definition says, and answers with its text", async () => {
    const { requests, startAgent } = started("It is 4.");
    const registry = registryWith(research);
    expect(await registry.run("research", { task: "2 + 2?" }, { startAgent })).toMatchObject({
      outcome: "ok",
      text: "It is 4.",
    });
    expect(requests).toEqual([
      {
        systemPrompt: "Answer with sources.",
        tools: ["look"],
        maxTurns: 3,
        message: "2 + 2?",
        label: "research",
      },
    ]);
    expect(registry.isRepeatable("research")).toBe(true);
    expect(registry.getCapabilities("research")).toEqual(["read"]);
  });

  test("answers with a value if it has a schema of its answer", async () => {
    const output = { type: "object", properties: { n: { type: "number" } } } as const;
    const { requests, startAgent } = started('{"n": 4}', { n: 4 });
    const registry = registryWith(agentTool({ name: "sum", description: "Adds.", output }));
    expect(await registry.run("sum", { task: "2 + 2?" }, { startAgent })).toMatchObject({
      text: '{"n":4}',
      value: { n: 4 },
    });
    expect(requests).toEqual([{ output, message: "2 + 2?", label: "sum" }]);
  });

  test("needs a task and an agent that calls it", async () => {
    const registry = registryWith(research);
    expect(await registry.execute("research", { task: "x" })).toBe(
      "Error executing research: it can only be called by an agent.",
    );
    for (const args of [{}, { task: "" }, { task: "x", more: 1 }])
      expect(await registry.execute("research", args)).toMatch(/^Error executing research: "(task|more)"/);
  });

  test.each([
    [{ name: "a", description: "b", promt: "x" }, "promt"],
    [{ name: "a", description: "b", maxTurns: 0 }, "maxTurns"],
    [null, "definition must be an object"],
  ])("is refused with the definition %j", (definition, problem) => {
    expect(() => agentTool(definition as never)).toThrow(problem);
  });
});

test("runs as a method of the tool and of a copy, and reports what a function without its tool lacks", async () => {
  const tool = defineTool({
    name: "t",
    description: "Test.",
    input: { type: "object" },
    execute: () => "ran",
  });
  const copy = { ...tool, name: "copy" };
  const { execute } = tool;
  expect([await tool.execute({}), await copy.execute({})]).toEqual(["ran", "ran"]);
  await expect(execute({})).rejects.toThrow("Write tool.execute(args).");
});
