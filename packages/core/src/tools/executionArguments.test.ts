import { describe, expect, test, vi } from "vitest";
import { fakeTool, registryWith } from "../../test/fixtures.js";

describe("arguments", () => {
  const parameters = {
    type: "object",
    properties: { path: { type: "string" }, limit: { type: "integer", minimum: 1 } },
    required: ["path"],
    additionalProperties: false,
  };
  const strict = (execute = vi.fn((args: Record<string, unknown>) => JSON.stringify(args))) => ({
    execute,
    registry: registryWith(fakeTool("t", execute, { parameters })),
  });

  test.each([
    [{}, '"path" is required (string).'],
    [{ path: 4 }, '"path" must be a string, got number 4.'],
    [{ path: null }, '"path" must be a string, got null.'],
    [{ path: "a", limit: "5" }, '"limit" must be a whole number, got string "5".'],
    [{ path: "a", limit: 0 }, '"limit" must be at least 1, got 0.'],
    [{ pth: "a", path: "b" }, '"pth" is not known. Did you mean "path"?'],
  ])("are refused with the reason if they do not fit: %j", async (args, message) => {
    const { registry, execute } = strict();
    expect(await registry.execute("t", args)).toBe(`Error executing t: ${message}`);
    expect(execute).not.toHaveBeenCalled();
  });

  test.each([[null], [[]], ["text"], [7]])("refuses %j as arguments", async (args) => {
    const { registry, execute } = strict();
    const text = await registry.execute("t", args as unknown as Record<string, unknown>);
    expect(text).toMatch(/^Error executing t: the arguments must be an object, got /);
    expect(execute).not.toHaveBeenCalled();
  });

  test("are refused with __proto__ at any depth and pollute nothing", async () => {
    const registry = registryWith(fakeTool("t", (args) => JSON.stringify({ ...args })));
    for (const json of ['{"__proto__":{"polluted":1}}', '{"env":{"__proto__":{"polluted":1}}}']) {
      expect(await registry.execute("t", JSON.parse(json))).toBe(
        'Error executing t: "__proto__" is not allowed as an argument name.',
      );
    }
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("passes a tool a copy of its arguments, and returns a copy of its schema", async () => {
    const args = { list: [1], nested: { a: 1 } };
    const registry = registryWith(
      fakeTool("t", (given) => {
        (given.list as number[]).push(2);
        (given.nested as { a: number }).a = 9;
        return "ok";
      }),
    );
    await registry.execute("t", args);
    expect(args).toEqual({ list: [1], nested: { a: 1 } });
    const handedOut = registry.getEnabledSchemas();
    (handedOut[0] as { function: { name: string } }).function.name = "changed";
    handedOut.pop();
    expect(registry.getEnabledSchemas()[0]?.function.name).toBe("t");
  });

  test("cause an error if a getter throws, and work if they are frozen", async () => {
    const { registry } = strict();
    const trap = {
      get path(): string {
        throw new Error("trap sprung");
      },
    };
    expect(await registry.execute("t", trap)).toBe("Error executing t: trap sprung");
    expect(await registry.execute("t", Object.freeze({ path: "a" }))).toBe('{"path":"a"}');
  });

  test("cause an error, not a crash, if they are nested without end", async () => {
    const endless: Record<string, unknown> = {};
    endless.self = endless;
    const registry = registryWith(fakeTool("t"));
    expect(await registry.execute("t", endless)).toBe(
      "Error executing t: the arguments are nested more than 256 levels deep.",
    );
  });

  test("cause an error if they contain a function", async () => {
    const registry = registryWith(fakeTool("t"));
    expect(await registry.execute("t", { callback: () => 1 })).toBe(
      "Error executing t: the arguments must be JSON values, got function.",
    );
  });
});
