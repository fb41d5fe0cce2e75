import { defineTool } from "@agent/core";
import { describe, expect, test, vi } from "vitest";
import { runScript } from "./support.js";

const act = (execute: () => string = () => "ok") =>
  defineTool({
    name: "act",
    description: "Acts.",
    input: { type: "object", properties: { n: { type: "number" } } },
    capabilities: ["write"],
    execute,
  });

describe("limits", () => {
  test.each([
    ["an endless loop", "for (;;) {}"],
    [
      "an endless loop that catches everything",
      "for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }",
    ],
    ["an endless loop of promises", "const f = () => Promise.resolve().then(f); await f();"],
    ["an expression that never ends", 'return /^(a+)+$/.test("a".repeat(60) + "b");'],
  ])("stop %s", async (_name, script) => {
    const { text, end, error } = await runScript(script, { options: { cpuMs: 300 } });
    expect(error).toBeUndefined();
    expect(text).toBe("The script was stopped: it computed for more than 300 ms.");
    expect(end).toMatchObject({ outcome: "error", summary: "0 calls, stopped" });
  });

  test.each([
    ["arrays", "const a = []; for (;;) a.push(new Array(1000).fill(1));"],
    ["one string", 'let s = "x"; for (;;) s += s;'],
    ["a repeated string", 'return "x".repeat(2 ** 29);'],
    ["a buffer", "return new Uint8Array(2 ** 31 - 1).length;"],
    [
      "a caught bomb",
      "const a = []; for (;;) { try { a.push(new Array(100000).fill(1)); } catch { a.push(1); } }",
    ],
  ])("stop a memory bomb: %s", async (_name, script) => {
    const { end, text } = await runScript(script, { options: { memoryMb: 16, cpuMs: 3000 } });
    expect(end?.outcome).toBe("error");
    expect(text).toMatch(/memory|stopped|invalid|too l|RangeError/i);
  });

  test("stop recursion without an end", async () => {
    for (const first of ["", "await tools.act({});", "await Promise.resolve();"]) {
      const { text } = await runScript(`${first} const f = (x) => [x].map(f)[0] + 1; return f(1);`, {
        tools: [act()],
      });
      expect(text).toContain("RangeError");
      const async = await runScript(`${first} const f = async () => 1 + (await f()); return await f();`, {
        tools: [act()],
      });
      expect(async.end?.outcome).toBe("error");
    }
  });

  test("stop deeply nested JSON", async () => {
    const { end } = await runScript('return JSON.parse("[".repeat(1e6));', { options: { memoryMb: 16 } });
    expect(end?.outcome).toBe("error");
  });

  test("stop a million calls, whether the script awaits or catches them", async () => {
    const run = vi.fn(() => "ok");
    for (const script of [
      "for (let n = 0; n < 1e6; n++) await tools.act({ n });",
      "for (let n = 0; n < 1e6; n++) { try { await tools.act({ n }); } catch {} }",
      "await Promise.all(Array.from({ length: 1e6 }, (_, n) => tools.act({ n })));",
      "for (let n = 0; n < 1e6; n++) tools.act({ n }).catch(() => {});",
    ]) {
      const { text } = await runScript(script, { tools: [act(run)], options: { maxCalls: 10 } });
      expect(text).toContain("The script was stopped: it made more than 10 calls.");
    }
    // The last two are stopped before any of their calls has started.
    expect(run).toHaveBeenCalledTimes(20);
  });

  test("apply to all scripts of a message together", async () => {
    const { text } = await runScript("for (let n = 0; n < 10; n++) await tools.act({ n });", {
      tools: [act()],
      maxNestedCalls: 3,
    });
    expect(text).toContain("at most 3 calls for one message");
  });

  test("stop a script that waits for something that cannot happen", async () => {
    const { text } = await runScript("await new Promise(() => {});");
    expect(text).toBe("The script waits for something that cannot happen.");
  });

  test("stop a script whose call takes too long, and abort the call", async () => {
    const [started, aborted] = [vi.fn(), vi.fn()];
    const hang = defineTool({
      name: "hang",
      description: "Waits for its end.",
      input: { type: "object", properties: {} },
      capabilities: ["read"],
      execute: (_input, { signal }) =>
        new Promise<string>((resolve) => {
          started();
          signal.addEventListener("abort", () => {
            aborted();
            resolve("");
          });
        }),
    });
    const { text } = await runScript("await tools.hang();", { tools: [hang], options: { timeoutMs: 1000 } });
    expect(text).toBe("The script was stopped: it took longer than 1000 ms.");
    // On a busy machine the time may be over before the call has started.
    expect(aborted.mock.calls.length).toBe(started.mock.calls.length);
  });

  test("bound what is printed, returned and passed to calls", async () => {
    const { text } = await runScript(
      'for (let i = 0; i < 100; i++) print("x".repeat(100000)); return "y".repeat(100000);',
      {
        options: { maxOutput: 1000 },
      },
    );
    expect(text.length).toBeLessThan(1500);
    expect(text).toMatch(/\[\d+ characters of output beyond 8388608 were dropped\.\]/);
    const large = await runScript('await tools.act({ n: "x".repeat(2e6) });', { tools: [act()] });
    expect(large.text).toContain("characters of JSON, more than 1048576");
  });

  test("keep agent() from starting agents without an end", async () => {
    const again = { calls: [{ name: "run_script", args: { script: 'return await agent("again");' } }] };
    const { text, error } = await runScript('return await agent("again");', {
      answers: [again, again, "the deepest", "the middle"],
    });
    expect(error).toBeUndefined();
    expect(text).toBe("the middle");
    const many = await runScript(
      'let n = 0; try { for (;;) { await agent("x"); n++; } } catch (error) { return [n, error.message]; }',
      { maxChildAgents: 3, answers: ["1", "2", "3"] },
    );
    expect(many.text).toContain("[3,");
    expect(many.text).toContain("At most 3 child agents");
  });

  test("let the program work on while a script searches again and again", async () => {
    const parameter = { type: "string", description: "y".repeat(2000) } as const;
    const tools = Array.from({ length: 200 }, (_, n) =>
      defineTool({
        name: `tool_${n}`,
        description: "x",
        input: { type: "object", properties: { parameter } },
        capabilities: ["read"],
        execute: () => "",
      }),
    );
    let rounds = 0;
    let isOver = false;
    const count = (): void => {
      rounds++;
      if (!isOver) setImmediate(count);
    };
    count();
    const script = 'return (await Promise.all(Array.from({ length: 500 }, () => find("zzz")))).length;';
    const { text } = await runScript(script, { tools });
    isOver = true;
    expect(text).toBe("500");
    expect(rounds).toBeGreaterThan(100);
  });

  test("keep a script from calling run_script", async () => {
    const { text } = await runScript('await tools.run_script({ script: "return 1;" });');
    expect(text).toContain('"run_script" cannot call itself');
  });

  test("stop a script that retries what is denied, and ask about the same call once", async () => {
    const approve = vi.fn(({ name }: { name: string }) =>
      name === "act" ? { deny: "not today" } : ("allow" as const),
    );
    const same = await runScript("for (;;) { try { await tools.act({ n: 1 }); } catch {} }", {
      tools: [act()],
      approve,
    });
    expect(same.text).toBe("The script was stopped: more than 20 of its calls were denied.");
    expect(approve.mock.calls.filter(([{ name }]) => name === "act")).toHaveLength(1);
    const others = await runScript("for (let n = 0; ; n++) { try { await tools.act({ n }); } catch {} }", {
      tools: [act()],
      approve,
    });
    expect(others.text).toBe("The script was stopped: more than 20 of its calls were denied.");
  });
});

describe("the sandbox", () => {
  test.each([
    "process",
    "require",
    "globalThis.process",
    "fetch",
    "setTimeout",
    "WebAssembly",
    "Buffer",
    "WeakRef",
    "performance",
    "std",
    "os",
    "send",
  ])("has no %s", async (name) => {
    expect((await runScript(`return typeof ${name};`)).text).toBe("undefined");
  });

  test.each([
    ["constructors", 'return tools.act.constructor.constructor("return typeof process")();'],
    ["the function constructor", 'return Function("return typeof process + typeof require")();'],
    ["eval", 'return (0, eval)("typeof process + typeof require");'],
    [
      "errors of calls",
      'try { await tools.missing(); } catch (e) { return e.constructor.constructor("return typeof process")(); }',
    ],
    ["results of calls", 'return (await find("act")).constructor.constructor("return typeof process")();'],
    ["functions of the prelude", 'return print.constructor("return typeof process")();'],
    [
      "functions on the stack",
      `let found; try { Error.prepareStackTrace = (e, sites) => { found = sites; return ""; }; } catch {}
try { await tools.missing(); } catch {} new Error().stack;
return typeof found;`,
    ],
  ])("cannot be left through %s", async (_name, script) => {
    const { text } = await runScript(script, { tools: [act()] });
    expect(text.replaceAll("undefined", "")).toBe("");
  });

  test("has no import", async () => {
    expect((await runScript('import fs from "node:fs";')).text).toContain("SyntaxError");
    expect((await runScript('return await import("node:fs");')).text).toMatch(/Error/);
  });

  test("passes keys of prototypes as plain data", async () => {
    const seen: Record<string, unknown>[] = [];
    const take = defineTool({
      name: "take",
      description: "Takes anything.",
      input: { type: "object", properties: {}, additionalProperties: true },
      capabilities: ["read"],
      execute: (input) => {
        seen.push(input);
        return "ok";
      },
    });
    const { text } = await runScript(
      `await tools.take({ toJSON: () => ({ a: 1 }) });
await tools.take(JSON.parse('{"constructor": 1}'));
await tools.take(JSON.parse('{"__proto__": {"polluted": true}}'));`,
      { tools: [take] },
    );
    expect(text).toContain('"__proto__" is not allowed as an argument name');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(JSON.stringify(seen)).toBe('[{"a":1},{"constructor":1}]');
  });

  test.each(["undefined", "() => {}", "Symbol()", "{ toJSON() {} }", "null", "5n"])(
    "answers agent(%s) with an error that the script can catch",
    async (argument) => {
      const { text, error } = await runScript(
        `try { await agent(${argument}); } catch (error) { return error.message; }`,
      );
      expect(error).toBeUndefined();
      expect(text).toContain("it takes a task");
    },
  );

  test.each(["__proto__", "constructor", "hasOwnProperty", "toString"])(
    "answers a call of tools.%s like any unknown tool",
    async (name) => {
      const { text } = await runScript(`try { await tools["${name}"](); } catch (e) { return e.outcome; }`);
      expect(text).toBe("not_found");
    },
  );

  test("survives a script that replaces everything it can", async () => {
    const run = vi.fn(() => "ok");
    const { text, error } = await runScript(
      `JSON.stringify = JSON.parse = () => { throw 1; };
Promise.prototype.then = () => {};
Array.prototype.map = Object.defineProperty = String = Map = Error = undefined;
Object.prototype.value = Object.prototype.error = "x";
await tools.act();
return "still here";`,
      { tools: [act(run)], options: { cpuMs: 2000 } },
    );
    expect(error).toBeUndefined();
    expect(run.mock.calls.length).toBeLessThanOrEqual(1);
    expect(text).not.toBe("");
  });

  test("shares nothing between two scripts", async () => {
    const { agent } = await runScript("globalThis.left = 1;");
    void agent;
    expect((await runScript("return typeof globalThis.left;")).text).toBe("undefined");
  });

  test("ends with the call when it is aborted", async () => {
    const controller = new AbortController();
    const start = defineTool({
      name: "start",
      description: "Aborts the message.",
      input: { type: "object", properties: {} },
      capabilities: ["read"],
      execute: () => {
        controller.abort();
        return "ok";
      },
    });
    const { error } = await runScript("await tools.start(); for (;;) {}", {
      tools: [start],
      signal: controller.signal,
    });
    expect(error).toMatchObject({ code: "aborted" });
  });
});
