import { existsSync, readFileSync } from "node:fs";
import {
  Agent,
  type AgentEvent,
  type ChatRequest,
  contentText,
  type DefinedToolCall,
  defineTool,
  ToolRegistry,
} from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import * as code from "@agent/tools-code";
import { describe, expect, test, vi } from "vitest";
import { runScript, scriptAgent } from "./support.js";

const echo = defineTool({
  name: "echo",
  description: "Returns its text.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  capabilities: ["read"],
  execute: ({ text }) => text,
});

/** A promise and the function that resolves it. */
function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const sum = defineTool({
  name: "sum",
  description: "Adds numbers.",
  input: {
    type: "object",
    properties: { numbers: { type: "array", items: { type: "number" } } },
    required: ["numbers"],
  },
  output: { type: "object", properties: { total: { type: "number" } }, required: ["total"] },
  capabilities: ["read"],
  execute: ({ numbers }) => ({ total: numbers.reduce((total, one) => total + one, 0) }),
  toText: ({ total }) => `The total is ${total}.`,
});

/** A 1×1 PNG. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("a script", () => {
  test("returns a value and prints, and its calls are shown under it", async () => {
    const { text, inner, end } = await runScript(
      'print("a", 1, { b: [2] });\nconst t = await tools.echo({ text: "hi" });\nreturn { t, n: 1n };',
      { tools: [echo] },
    );
    expect(text).toBe('a 1 {"b":[2]}\n{"t":"hi","n":"1"}');
    expect(end).toMatchObject({ outcome: "ok", summary: "1 call" });
    expect(inner).toMatchObject([{ name: "echo", outcome: "ok", parent: "call_1_0" }]);
  });

  test("says that it returned nothing", async () => {
    expect((await runScript("const x = 1;")).text).toBe("The script returned nothing.");
  });

  test("may be TypeScript", async () => {
    const { text } = await runScript(
      `interface Part { readonly text: string }
const parts: Part[] = [{ text: "a" }, { text: "b" }];
const pick = <T,>(values: T[], at: number): T => values[at] as T;
const first = pick<Part>(parts, 0);
return (await tools.echo({ text: first.text })) + first!.text;`,
      { tools: [echo] },
    );
    expect(text).toBe("aa");
  });

  test("gets values from tools with an output schema, and text from others", async () => {
    const { text } = await runScript(
      'const { total } = await tools.sum({ numbers: [1, 2, 3] });\nreturn [total + 1, typeof (await tools.echo({ text: "x" }))];',
      { tools: [echo, sum] },
    );
    expect(text).toBe('[7,"string"]');
  });

  test("fails with the line of an error", async () => {
    const { text, end } = await runScript("const a = 1;\nconst b = undefined;\nreturn b.c;");
    expect(text).toContain("TypeError: ");
    expect(text).toContain("script:3");
    expect(end).toMatchObject({ outcome: "error", summary: "0 calls, failed" });
  });

  test("fails with the line of a syntax error", async () => {
    const { text } = await runScript("const a = 1;\nreturn (;");
    expect(text).toContain("SyntaxError");
    expect(text).toContain("script:2");
  });

  test("gets an error for a call that fails, with the line of the call", async () => {
    const { text } = await runScript('const a = 1;\nawait tools.echo({ wrong: "x" });', { tools: [echo] });
    expect(text).toContain("ToolError: Error executing echo");
    expect(text).toContain("script:2");
  });

  test("can catch the error of a call", async () => {
    const { text } = await runScript(
      "try { await tools.missing(); } catch (error) { return [error instanceof ToolError, error.outcome, error.tool, error.message]; }",
      { tools: [echo] },
    );
    const [isToolError, outcome, tool, message] = JSON.parse(text);
    expect([isToolError, outcome, tool]).toEqual([true, "not_found", "missing"]);
    expect(message).toContain("missing");
  });

  test.each(["null", '"text"', "[1]", "5"])("gets an error for the arguments %s", async (args) => {
    const { text } = await runScript(`await tools.echo(${args});`, { tools: [echo] });
    expect(text).toContain("its arguments must be an object");
  });

  test("passes images of its calls on", async () => {
    const shot = defineTool({
      name: "shot",
      description: "Takes a picture.",
      input: { type: "object", properties: {} },
      capabilities: ["read"],
      execute: () => ({
        text: "taken",
        parts: [{ type: "image" as const, mediaType: "image/png", data: PIXEL }],
      }),
    });
    const { end, text } = await runScript("return await tools.shot();", { tools: [shot] });
    expect(text).toContain("taken\n[image, image/png");
    expect(end?.parts).toEqual([{ type: "image", mediaType: "image/png", data: PIXEL }]);
    const many = await runScript("for (let i = 0; i < 25; i++) await tools.shot();", { tools: [shot] });
    expect(many.end?.parts).toHaveLength(20);
    expect(many.text).toContain("[5 images or files did not fit into the result.]");
  });

  test("runs calls of Promise.all at the same time, and gets results in the order of the calls", async () => {
    const release: (() => void)[] = [];
    const slow = defineTool({
      name: "slow",
      description: "Waits until all have started.",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      capabilities: ["read"],
      execute: async ({ n }) => {
        const wait = new Promise<void>((resolve) => release.push(resolve));
        // The last one ends first.
        if (release.length === 3) for (const one of release.reverse()) one();
        await wait;
        return String(n);
      },
    });
    const { text } = await runScript(
      "const order = [];\nawait Promise.all([0, 1, 2].map(async (n) => { order.push(await tools.slow({ n })); }));\nreturn order.join();",
      { tools: [slow] },
    );
    expect(text).toBe("0,1,2");
  });

  test("starts many calls while the script that makes them still computes", async () => {
    const script = 'for (let n = 0; n < 64; n++) tools.echo({ text: "hi" }).catch(() => {}); while (true);';
    const { end } = await runScript(script, { tools: [echo], options: { cpuMs: 300 } });
    expect(end?.summary).toBe("64 calls, stopped");
  });

  test("runs at most 16 calls at the same time, in their order, and starts none after it was aborted", async () => {
    const started: number[] = [];
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stop = new AbortController();
    const slow = defineTool({
      name: "slow",
      description: "Waits.",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      capabilities: ["read"],
      execute: async ({ n }, { signal }) => {
        started.push(n);
        if (n < 16) await gate;
        else if (n === 31) stop.abort();
        if (n >= 16) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return "";
      },
    });
    const running = runScript(
      "await Promise.all(Array.from({ length: 100 }, (_, n) => tools.slow({ n })));",
      { tools: [slow], signal: stop.signal },
    );
    await vi.waitFor(() => expect(started).toHaveLength(16), { timeout: 60_000 });
    release();
    await running;
    expect(started).toEqual(Array.from({ length: 32 }, (_, n) => n));
  });

  test("runs calls that write one at a time", async () => {
    let running = 0;
    let most = 0;
    const write = defineTool({
      name: "write",
      description: "Writes.",
      input: { type: "object", properties: {} },
      capabilities: ["write"],
      execute: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        return "";
      },
    });
    await runScript("await Promise.all([1, 2, 3].map(() => tools.write()));", { tools: [write] });
    expect(most).toBe(1);
  });

  test("aborts and reports calls that it does not wait for", async () => {
    const aborted = vi.fn();
    const hang = defineTool({
      name: "hang",
      description: "Waits for its end.",
      input: { type: "object", properties: {} },
      capabilities: ["read"],
      execute: (_input, { signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener("abort", () => {
            aborted();
            resolve("stopped");
          });
        }),
    });
    // Results come in the order of the calls, so the script waits for the first and not for the second.
    const { text } = await runScript(
      'const first = tools.echo({ text: "x" });\ntools.hang();\nreturn await first;',
      { tools: [hang, echo] },
    );
    expect(text).toBe("x\n[1 call was not awaited and aborted: hang. Await every call.]");
    expect(aborted).toHaveBeenCalledOnce();
  });

  test("gets nothing of an earlier script in its thread, whose call ends late", async () => {
    const [left, waiting, ended] = [deferred(), deferred(), deferred()];
    const tool = (name: string, execute: (_input: unknown, call: DefinedToolCall) => Promise<string>) =>
      defineTool({ name, description: name, input: { type: "object" }, capabilities: ["read"], execute });
    // Ends only when the later script waits for its own second call.
    const late = tool("late", async (_args, call) => {
      call.signal.addEventListener("abort", () => left.resolve());
      await waiting.promise;
      ended.resolve();
      return "late";
    });
    const second = tool("second", async () => {
      waiting.resolve();
      await ended.promise;
      // The result of the other call is passed on first.
      await new Promise((resolve) => setImmediate(resolve));
      return "second";
    });
    const after = tool("after", async (_args, call) => {
      await left.promise;
      const script = 'await tools.echo({ text: "x" }); return await tools.second();';
      return (await call.callTool?.("run_script", { script }))?.text ?? "";
    });
    const script = 'const first = tools.echo({ text: "x" });\ntools.late();\nreturn await first;';
    const agent = new Agent(
      scriptedProvider([
        {
          calls: [
            { name: "run_script", args: { script } },
            { name: "after", args: {} },
          ],
        },
        "Done.",
      ]),
      { packs: [code, late, second, after, echo] },
    );
    await agent.chat("go");
    const results = agent.context.sessionContext.flatMap(({ role, content }) =>
      role === "tool" ? [contentText(content)] : [],
    );
    await agent.dispose();
    expect(results).toEqual([expect.stringContaining("1 call was not awaited and aborted: late"), "second"]);
  });

  test("never starts calls of its last step that it does not wait for", async () => {
    const run = vi.fn(() => "ran");
    const act = defineTool({
      name: "act",
      description: "Acts.",
      input: { type: "object", properties: {} },
      capabilities: ["write"],
      execute: run,
    });
    const { text } = await runScript("tools.act(); tools.act(); return 1;", { tools: [act] });
    expect(text).toBe("1\n[2 calls were not awaited and aborted: act. Await every call.]");
    expect(run).not.toHaveBeenCalled();
  });

  test("writes output beyond the cap to a file that is removed with the agent", async () => {
    const agent = scriptAgent(['for (let i = 0; i < 5000; i++) print("line " + i);'], {
      options: { maxOutput: 2000 },
    });
    await agent.chat("go");
    const result = agent.context.sessionContext.find(({ role }) => role === "tool")?.content as string;
    expect(result.length).toBeLessThan(2500);
    const path = /The whole output is in (.+?)\.(?:\s|\]|$)/.exec(result)?.[1] ?? "";
    expect(readFileSync(path, "utf8")).toBe(
      `${Array.from({ length: 5000 }, (_, i) => `line ${i}`).join("\n")}\n`,
    );
    await agent.dispose();
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ["", []],
    [" return { n: 3 };", ['{"n":3}']],
    ['\nthrow new Error("broken");', ["Error: broken\n  at <anonymous> (script:2:11)"]],
  ])("shows what it prints while it runs, and then its end: %j", async (end, shown) => {
    const script = `print("one"); await tools.echo({ text: "x" }); print("two");${end}`;
    const { events } = await runScript(script, { tools: [echo] });
    const chunks = events.flatMap((event: AgentEvent) => (event.type === "tool_output" ? [event.chunk] : []));
    expect(chunks).toEqual(["one\n", "two\n", ...shown]);
  });

  test("starts child agents with agent(), whose answers come back", async () => {
    const { text, events } = await runScript(
      'return await Promise.all([agent("first"), agent({ task: "second", tools: ["echo"], label: "helper" })]);',
      { tools: [echo], answers: ["answer 1", "answer 2"] },
    );
    expect(JSON.parse(text).sort()).toEqual(["answer 1", "answer 2"]);
    const labels = new Set(events.flatMap((event) => (event.type === "child" ? [event.label] : [])));
    expect(labels).toEqual(new Set(["script", "helper"]));
  });

  test("gives child agents the system prompt, and runs those that may write one after the other", async () => {
    let running = 0;
    let most = 0;
    const prompts: unknown[] = [];
    const alone = async ({ messages }: ChatRequest) => {
      most = Math.max(most, ++running);
      prompts.push(messages[0]?.content);
      // Another agent would ask the model meanwhile.
      for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      running--;
      return "ok";
    };
    const together = async () => {
      running++;
      await vi.waitFor(() => expect(running).toBe(2), { timeout: 60_000 });
      return "ok";
    };
    const script = `const twice = (tools) => Promise.all([1, 2].map(() => agent({ task: "x", ...tools })));
await twice({}); await twice({ tools: ["echo"] });`;
    await runScript(script, {
      tools: [echo],
      answers: [alone, alone, together, together],
      systemPrompt: "You are in /project.",
    });
    expect(most).toBe(1);
    expect(prompts).toEqual(["You are in /project.", "You are in /project."]);
  });

  test("works without an agent, except for its calls", async () => {
    const registry = new ToolRegistry();
    code.register(registry);
    registry.register(echo);
    expect(await registry.execute("run_script", { script: "return 6 * 7;" })).toBe("42");
    expect(await registry.execute("run_script", { script: "await tools.echo({ text: '' });" })).toContain(
      "no agent runs this script",
    );
    await registry.dispose();
  });

  test("runs fifty at the same time, some of them aborted", async () => {
    const registry = new ToolRegistry();
    code.register(registry);
    const results = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const controller = new AbortController();
        const running = registry.run(
          "run_script",
          { script: index % 5 === 0 ? "for (;;) {}" : `return ${index} * 2;` },
          { signal: controller.signal },
        );
        if (index % 5 === 0) controller.abort();
        return await running;
      }),
    );
    for (const [index, { outcome, text }] of results.entries()) {
      if (index % 5 === 0) expect(outcome).toBe("aborted");
      else expect(text).toBe(String(index * 2));
    }
    await registry.dispose();
  });

  test("refuses options that are unknown or wrong", () => {
    const host = (options: unknown) => ({ context: {} as never, options: options as never });
    expect(() => code.register(new ToolRegistry(), host({ cpu: 1 }))).toThrow(/cpu/);
    expect(() => code.register(new ToolRegistry(), host({ maxCalls: 0 }))).toThrow(/maxCalls/);
  });
});
