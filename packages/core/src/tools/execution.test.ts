import { warningsDuring } from "@agent/test-support";
import { describe, expect, test, vi } from "vitest";
import { deferred, fakeTool, registryWith } from "../../test/fixtures.js";
import type { CallOptions, ToolResult } from "./execution.js";
import { ToolRegistry } from "./registry.js";
import type { ChildAgentAnswer, ToolCall } from "./tool.js";

describe("execute", () => {
  test("Scenario: Tool executes with arguments; Scenario: Tool executes successfully: the tool's own string comes back", async () => {
    const registry = registryWith(fakeTool("echo", async ({ text }) => String(text)));
    expect(await registry.execute("echo", { text: "hi" })).toBe("hi");
  });

  test("Scenario: Execute nonexistent tool", async () => {
    expect(await registryWith().execute("nope", {})).toBe("Tool not found: nope");
  });

  test.each(["constructor", "toString", "__proto__", "hasOwnProperty", ""])(
    "treats %j as an unknown tool like any other",
    async (name) => {
      expect(await registryWith().execute(name, {})).toBe(`Tool not found: ${name}`);
    },
  );

  test("Scenario: Execute disabled tool", async () => {
    const registry = registryWith(fakeTool("run_bash"));
    registry.disable("run_bash");
    expect(await registry.execute("run_bash", {})).toBe("Tool not available: run_bash");
  });

  test("Scenario: Tool throws exception: synchronously or by rejecting, it becomes text", async () => {
    const registry = registryWith(
      fakeTool("throws", () => {
        throw new Error("sync");
      }),
      fakeTool("rejects", async () => {
        throw new Error("async");
      }),
    );
    expect(await registry.execute("throws", {})).toBe("Error executing throws: sync");
    expect(await registry.execute("rejects", {})).toBe("Error executing rejects: async");
  });

  const hostile = new Error();
  Object.defineProperty(hostile, "message", {
    get() {
      throw new Error("gotcha");
    },
  });
  const proxy = new Proxy(
    {},
    {
      get() {
        throw new Error("trap");
      },
      has() {
        throw new Error("trap");
      },
    },
  );
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  test.each([
    ["a string", "text"],
    ["undefined", undefined],
    ["null", null],
    ["an object", { code: 7 }],
    ["a cycle", cyclic],
    ["a hostile getter", hostile],
    ["a proxy", proxy],
    ["a symbol", Symbol("s")],
    ["an empty error", new Error("")],
  ])("returns a readable error and never rejects for a tool that throws %s", async (_, thrown) => {
    const registry = registryWith(
      fakeTool("t", () => {
        throw thrown;
      }),
    );
    const text = await registry.execute("t", {});
    expect(text).toMatch(/^Error executing t: .+/);
    expect(text).not.toContain("undefined");
  });

  test.each([[7], [undefined], [null], [{}], [cyclic], [["x"]]])(
    "reports an error for a tool that returns %j instead of a string",
    async (value) => {
      const result = await registryWith(fakeTool("t", () => value)).run("t", {});
      expect(result.outcome).toBe("error");
      expect(result.text).toMatch(/^Error executing t: it returned .* instead of a string\.$/);
    },
  );

  test("returns one result for a thenable that settles twice", async () => {
    const twice = {
      // biome-ignore lint/suspicious/noThenProperty: a misbehaving thenable is what this tests
      then(resolve: (text: string) => void, reject: (error: Error) => void) {
        resolve("once");
        reject(new Error("twice"));
      },
    };
    expect(await registryWith(fakeTool("t", () => twice)).execute("t", {})).toBe("once");
  });

  test("ends a tool that never settles at its deadline and aborts its signal", async () => {
    const told = deferred<unknown>();
    const tool = fakeTool(
      "t",
      (_, call) => {
        call?.signal.addEventListener("abort", () => told.resolve(call.signal.reason));
        return new Promise(() => undefined);
      },
      { deadlineMs: 20 },
    );
    const registry = new ToolRegistry({ abortGraceMs: 10 });
    registry.register(tool);
    expect(await registry.run("t", {})).toMatchObject({
      outcome: "error",
      text: "Error executing t: no result after 20 ms; it did not stop within 10 ms and may still be running.",
    });
    await told.promise;
  });

  test("applies the registry's own deadline to tools that set none", async () => {
    const registry = new ToolRegistry({ deadlineMs: 10, abortGraceMs: 0 });
    registry.register(fakeTool("t", () => new Promise(() => undefined)));
    expect(await registry.execute("t", {})).toContain("no result after 10 ms");
  });

  test("keeps the result that a tool returns after an abort, with the outcome aborted", async () => {
    const controller = new AbortController();
    const tool = fakeTool("t", (_, call) => {
      const stopped = new Promise<string>((resolve) => {
        call?.signal.addEventListener("abort", () => resolve("half of the work"));
      });
      controller.abort();
      return stopped;
    });
    expect(await registryWith(tool).run("t", {}, { signal: controller.signal })).toMatchObject({
      outcome: "aborted",
      text: "half of the work",
    });
  });

  test("gives up after the grace period a tool that does not stop", async () => {
    const controller = new AbortController();
    const started = deferred();
    const registry = new ToolRegistry({ abortGraceMs: 10 });
    registry.register(
      fakeTool("t", () => {
        started.resolve();
        return new Promise(() => undefined);
      }),
    );
    const running = registry.run("t", {}, { signal: controller.signal });
    await started.promise;
    controller.abort();
    expect(await running).toMatchObject({
      outcome: "aborted",
      text: "Error executing t: aborted; it did not stop within 10 ms and may still be running.",
    });
  });

  test("does not run the tool for a call whose signal is aborted already", async () => {
    const execute = vi.fn(() => "ran");
    const result = await registryWith(fakeTool("t", execute)).run("t", {}, { signal: AbortSignal.abort() });
    expect(result.outcome).toBe("aborted");
    expect(execute).not.toHaveBeenCalled();
  });

  test("cuts a result of 100 MB with a notice that gives its size", async () => {
    const registry = registryWith(fakeTool("t", () => "é".repeat(50_000_000)));
    const text = await registry.execute("t", {});
    expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024 + 200);
    expect(text).toMatch(/\[… truncated: \d+ of 100000000 bytes left out here\./);
    expect(text).not.toContain("\ufffd");
  });

  test("caps an error text, and removes control characters and the key", async () => {
    const registry = new ToolRegistry({ secrets: () => ["sk-very-secret-1"] });
    registry.register(
      fakeTool("t", () => {
        throw new Error(`\u001b]52;c;x\u0007 sk-very-secret-1 ${"x".repeat(1_000_000)}`);
      }),
    );
    const text = await registry.execute("t", {});
    expect(text.length).toBeLessThan(10_000);
    expect(text).toContain("\\x1b]52;c;x\\x07 [secret] xxx");
    expect(text).not.toContain("\u001b");
  });

  test.each(["XAI_API_KEY", "HF_TOKEN", "TOGETHER_API_KEY"])(
    "hides the value of %s in results without being asked to",
    async (name) => {
      vi.stubEnv(name, "a-very-secret-key-1");
      const registry = registryWith(fakeTool("t", async () => "key: a-very-secret-key-1"));
      expect(await registry.execute("t", {})).toBe("key: [secret]");
      vi.unstubAllEnvs();
    },
  );

  test("hides a key even if it straddles the cap of a long error", async () => {
    const registry = new ToolRegistry({ secrets: () => ["sk-very-secret-1"] });
    for (let padding = 6100; padding < 6160; padding++) {
      registry.register(
        fakeTool(`t${padding}`, () => {
          throw new Error(`${"x".repeat(padding)}sk-very-secret-1${"y".repeat(20_000)}`);
        }),
      );
      expect(await registry.execute(`t${padding}`, {})).not.toMatch(/sk-very|secret-1/);
    }
  });

  test("decides the outcome by the report of a tool, not by the text", async () => {
    const registry = registryWith(
      fakeTool("t", (_, call) => {
        call?.report?.({ ok: false, summary: "exit code 2" });
        return '{"exit_code":2}';
      }),
    );
    expect(await registry.run("t", {})).toMatchObject({
      outcome: "error",
      summary: "exit code 2",
      text: '{"exit_code":2}',
    });
  });

  test("sends live output to the caller, and nothing after the end", async () => {
    const chunks: string[] = [];
    let late: (() => void) | undefined;
    const registry = registryWith(
      fakeTool("t", (_, call) => {
        call?.onOutput("one");
        late = () => call?.onOutput("late");
        return "done";
      }),
    );
    await registry.run("t", {}, { onOutput: (chunk) => chunks.push(chunk) });
    late?.();
    expect(chunks).toEqual(["one"]);
  });

  test("returns the duration with every outcome of run", async () => {
    const registry = registryWith(fakeTool("t"));
    expect((await registry.run("t", {})).durationMs).toBeGreaterThanOrEqual(0);
    expect((await registry.run("nope", {})).outcome).toBe("not_found");
    registry.disable("t");
    expect((await registry.run("t", {})).outcome).toBe("not_available");
  });

  test("runs fifty calls at the same time without a warning, and each gets its own result", async () => {
    const registry = registryWith(fakeTool("t", async ({ n }) => `n=${n}`));
    const { signal } = new AbortController();
    const warnings = await warningsDuring(async () => {
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, n) => registry.execute("t", { n }, { signal })),
      );
      expect(results).toEqual(Array.from({ length: 50 }, (_, n) => `n=${n}`));
    });
    expect(warnings).toEqual([]);
  });
});

test("withholds the result if a list of secrets fails, and still ends the call", async () => {
  const registry = new ToolRegistry({
    secrets: () => {
      throw new Error("vault closed");
    },
  });
  registry.register(fakeTool("look", () => "the key is abc"));
  expect(await registry.run("look")).toMatchObject({
    outcome: "error",
    text: "Error executing look: its result was withheld, since it could not be checked for secrets: vault closed",
  });
});

describe("what a tool gets and may do", () => {
  /** Runs a tool and returns the call that it got. */
  async function callOf(options: CallOptions): Promise<ToolCall> {
    const got = deferred<ToolCall>();
    const registry = registryWith(
      fakeTool("t", (_, call) => {
        if (call) got.resolve(call);
        return "ok";
      }),
    );
    await registry.run("t", {}, options);
    return await got.promise;
  }

  test("is what its caller passed, and nothing else", async () => {
    const granted = [{ kind: "write", path: "/etc", reason: "x" }] as const;
    const context = { user: 1 };
    expect(await callOf({ granted, basis: "v1", contained: false, wantsView: true, context })).toMatchObject({
      granted,
      basis: "v1",
      contained: false,
      wantsView: true,
      context,
    });
    const bare = await callOf({});
    expect(bare.granted).toEqual([]);
    for (const name of ["basis", "contained", "wantsView", "startAgent", "callTool"])
      expect(bare).not.toHaveProperty(name);
  });

  test("reports to no one after its end, attaches nothing, and starts nothing", async () => {
    const told = vi.fn();
    const startAgent = vi.fn(async () => ({}) as ChildAgentAnswer);
    const callTool = vi.fn(async () => ({}) as ToolResult);
    const call = await callOf({
      onOutput: told,
      onProcess: told,
      progress: told,
      report: told,
      startAgent,
      callTool,
    });
    call.onOutput("late");
    call.onProcess?.(7);
    call.progress?.({ done: 1 });
    call.report?.({ summary: "late" });
    expect(told).not.toHaveBeenCalled();
    expect(() => call.attach?.({ type: "text", text: "late" })).toThrow("The call has ended");
    await expect(call.startAgent?.({ message: "late" })).rejects.toMatchObject({ code: "aborted" });
    await expect(call.callTool?.("t", {})).rejects.toMatchObject({ code: "aborted" });
    expect([startAgent, callTool].map((one) => one.mock.calls.length)).toEqual([0, 0]);
  });

  test("reports to its caller while it runs", async () => {
    const told: unknown[] = [];
    const registry = registryWith(
      fakeTool("t", (_, call) => {
        call?.onProcess?.(7);
        call?.progress?.({ done: 1 });
        call?.report?.({ summary: "half" });
        call?.report?.({ ok: false });
        return "ok";
      }),
    );
    const tell = (value: unknown): void => void told.push(value);
    const result = await registry.run("t", {}, { onProcess: tell, progress: tell, report: tell });
    expect(told).toEqual([7, { done: 1 }, { summary: "half" }, { ok: false }]);
    expect(result).toMatchObject({ outcome: "error", summary: "half" });
  });

  test("attaches twenty valid parts, each as it was when it was attached", async () => {
    const problems: string[] = [];
    const part = { type: "text" as const, text: "as attached" };
    const registry = registryWith(
      fakeTool("t", (_, call) => {
        for (const attached of [...Array(20).fill(part), part, null, { type: "image" }]) {
          try {
            call?.attach?.(attached as never);
          } catch (error) {
            problems.push((error as Error).message);
          }
        }
        part.text = "changed";
        return "ok";
      }),
    );
    const { parts } = await registry.run("t", {});
    expect(parts).toEqual(Array(20).fill({ type: "text", text: "as attached" }));
    expect(problems).toEqual([
      "A result holds at most 20 parts.",
      expect.stringMatching(/^The attached part /),
      expect.stringMatching(/^The attached part /),
    ]);
  });
});

describe("a tool that is stopped", () => {
  /** A tool that ends in this way once its signal aborts. */
  const stopping = (end: () => string, deadlineMs?: number) =>
    registryWith(
      fakeTool(
        "t",
        (_, call) =>
          new Promise((resolve, reject) => {
            call?.signal.addEventListener("abort", () => {
              try {
                resolve(end());
              } catch (error) {
                reject(error);
              }
            });
          }),
        deadlineMs === undefined ? {} : { deadlineMs },
      ),
    );
  const fail = (): never => {
    throw new Error("half-way");
  };

  test("fails at its deadline, and keeps what it returns then", async () => {
    const { outcome, text } = await stopping(() => "half of the work", 5).run("t", {});
    expect(outcome).toBe("error");
    expect(text).toBe("Error executing t: no result after 5 ms; it was asked to stop.\nhalf of the work");
  });

  test("reports its deadline, whatever it throws then", async () => {
    expect(await stopping(fail, 5).run("t", {})).toMatchObject({
      outcome: "error",
      text: "Error executing t: no result after 5 ms; it was asked to stop.",
    });
  });

  test("reports the abort, whatever it throws then", async () => {
    const controller = new AbortController();
    const running = stopping(fail).run("t", {}, { signal: controller.signal });
    setImmediate(() => controller.abort());
    expect(await running).toMatchObject({
      outcome: "aborted",
      text: "Error executing t: aborted before it finished.",
    });
  });

  test("keeps the first reason: a deadline after an abort changes nothing", async () => {
    vi.useFakeTimers();
    try {
      const controller = new AbortController();
      const reasons: unknown[] = [];
      const tool = fakeTool(
        "t",
        (_, call) => {
          call?.signal.addEventListener("abort", () => reasons.push(call.signal.reason));
          return new Promise(() => undefined);
        },
        { deadlineMs: 1000 },
      );
      const registry = new ToolRegistry({ abortGraceMs: 5000 });
      registry.register(tool);
      const running = registry.run("t", {}, { signal: controller.signal });
      await vi.advanceTimersByTimeAsync(10);
      controller.abort("by the user");
      await vi.advanceTimersByTimeAsync(5000);
      expect(await running).toMatchObject({ outcome: "aborted" });
      expect(reasons).toEqual(["by the user"]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is given all the time that it asks for, also more than a timer can count", async () => {
    vi.useFakeTimers();
    try {
      const end = deferred<string>();
      const registry = new ToolRegistry({ abortGraceMs: Number.MAX_SAFE_INTEGER });
      registry.register(fakeTool("t", () => end.promise, { deadlineMs: Number.MAX_SAFE_INTEGER }));
      const controller = new AbortController();
      const settled = vi.fn();
      const running = registry.run("t", {}, { signal: controller.signal });
      running.then(settled);
      await vi.advanceTimersByTimeAsync(10_000);
      controller.abort();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(settled).not.toHaveBeenCalled();
      end.resolve("in the end");
      expect(await running).toMatchObject({ outcome: "aborted", text: "in the end" });
    } finally {
      vi.useRealTimers();
    }
  });
});
