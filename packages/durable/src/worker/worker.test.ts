import { Agent, AgentError, defineTool } from "@agent/core";
import { describe, expect, test, vi } from "vitest";
import { eventsOf, follow, openEngine, scripted, temporaryDirectory, workWith } from "../../test/helpers.js";
import { startRun } from "../engine/startRun.js";
import type { RunContext } from "./definition.js";
import { startWorker } from "./worker.js";

const call = (name: string, args: unknown = {}) => ({ calls: [{ name, args }] });
const input = { type: "object", properties: {} } as const;

function tool(name: string, execute: () => unknown, capabilities: ("read" | "write")[] = ["write"]) {
  return defineTool({
    name,
    description: name,
    input,
    capabilities,
    execute: async () => String(await execute()),
  });
}

describe("a worker", () => {
  test("executes a run and logs what the agent does", async () => {
    const engine = openEngine();
    const definition = scripted([call("write"), "All done."], [tool("write", () => "wrote")]);
    await workWith(engine, definition);
    const id = await startRun(engine, definition, { any: "input" });
    const all = await follow(engine, id);
    expect(eventsOf(all).map(({ type }) => type)).toEqual([
      "claimed",
      "tool_requested",
      "tool_start",
      "tool_end",
      "text",
      "done",
    ]);
    expect(all.at(-1)).toMatchObject({ run: { state: "done", epoch: 1 } });
    expect(await engine.get(id)).toMatchObject({
      result: { text: "All done.", finishReason: "stop", turns: 2 },
    });
  });

  test("is not needed while a call waits for a decision, and another process continues with it", async () => {
    const directory = temporaryDirectory();
    const write = vi.fn(() => "wrote");
    const read = vi.fn(() => "read");
    const both = { calls: [{ name: "read" }, { name: "write" }] };
    const definition = scripted(
      [both, "Done."],
      [tool("write", write), tool("read", read, ["read"])],
      ({ approve }) => ({
        approve: (request) => (request.name === "read" ? "allow" : approve(request)),
      }),
    );
    const first = openEngine(directory);
    const worker = await workWith(first, definition);
    const id = await startRun(first, definition, {});
    await follow(first, id, "waiting");
    await worker.close();
    await first.close();

    const later = openEngine(directory);
    const waiting = await later.get(id);
    expect(waiting).toMatchObject({
      state: "waiting",
      approvals: [{ name: "write", capabilities: ["write"] }],
    });
    expect(write).not.toHaveBeenCalled();
    expect(await later.decide(id, waiting?.approvals[0]?.key ?? "", "allow")).toBe(true);
    // The model is not asked again for what it has answered: this script has only the last answer.
    const { create } = scripted(
      ["Done."],
      [tool("write", write), tool("read", read, ["read"])],
      ({ approve }) => ({
        approve,
      }),
    );
    await workWith(later, { ...definition, create });
    const all = await follow(later, id);
    expect(all.at(-1)).toMatchObject({ run: { state: "done" } });
    expect(write).toHaveBeenCalledOnce();
    expect(read).toHaveBeenCalledOnce();
    const ends = eventsOf(all).filter(({ type }) => type === "tool_end");
    expect(ends).toHaveLength(2);
  });

  test("sends a denial to the model with its reason, and applies 'always' to the rest of the run", async () => {
    const engine = openEngine();
    const write = vi.fn(() => "wrote");
    const definition = scripted(
      [call("write"), call("remove"), call("write"), "Done."],
      [tool("write", write), tool("remove", write)],
      ({ approve }) => ({ approve }),
    );
    // A script starts anew with each claim: the journal has what it gave before.
    const answers = [call("write"), call("remove"), call("write"), "Done."];
    let claims = 0;
    const { create: _, ...rest } = definition;
    const resuming = {
      ...rest,
      create: (run: Parameters<typeof definition.create>[0]) =>
        scripted(answers.slice(claims++), [tool("write", write), tool("remove", write)], ({ approve }) => ({
          approve,
        })).create(run),
    };
    await workWith(engine, resuming);
    const id = await startRun(engine, resuming, {});
    await follow(engine, id, "waiting");
    await engine.decide(id, (await engine.get(id))?.approvals[0]?.key ?? "", "always");
    await follow(engine, id, "waiting").then(() => undefined);
    const second = await engine.get(id);
    expect(second?.approvals).toMatchObject([{ name: "remove" }]);
    await engine.decide(id, second?.approvals[0]?.key ?? "", { deny: "keep it" });
    const all = await follow(engine, id);
    expect(all.at(-1)).toMatchObject({ run: { state: "done" } });
    expect(write).toHaveBeenCalledTimes(2);
    expect(eventsOf(all)).toContainEqual(
      expect.objectContaining({ type: "tool_end", outcome: "denied", text: "Tool call denied: keep it" }),
    );
  });

  test("stops the tool of a cancelled run and ends it", async () => {
    const engine = openEngine();
    let stopped = false;
    const slow = defineTool({
      name: "slow",
      description: "Waits to be stopped.",
      input,
      execute: (_, running) =>
        new Promise<string>((resolve) => {
          running.signal.addEventListener("abort", () => {
            stopped = true;
            resolve("stopped");
          });
        }),
    });
    const definition = scripted([call("slow"), "never"], [slow]);
    await workWith(engine, definition);
    const id = await startRun(engine, definition, {});
    for await (const one of engine.events(id, { follow: true })) {
      if ("event" in one && one.event.type === "tool_start") await engine.cancel(id, "changed my mind");
    }
    expect(await engine.get(id)).toMatchObject({
      state: "cancelled",
      error: { code: "cancelled", message: "changed my mind" },
    });
    expect(stopped).toBe(true);
  });

  test("fails the run with the message of a failing provider, and asks again on a retry", async () => {
    const engine = openEngine();
    let broken = true;
    const definition = scripted([
      () => {
        if (broken) throw new AgentError("provider_failed", "no credit");
        return "Done.";
      },
    ]);
    await workWith(engine, definition);
    const id = await startRun(engine, definition, {});
    await follow(engine, id);
    expect(await engine.get(id)).toMatchObject({
      state: "failed",
      error: { code: "provider_failed", message: "no credit" },
    });
    broken = false;
    expect(await engine.retry(id)).toBe(true);
    await follow(engine, id);
    expect(await engine.get(id)).toMatchObject({ state: "done" });
  });

  test("fails the run if an answer of its provider cannot be stored, and does not ask again", async () => {
    const engine = openEngine();
    const answer = { content: "Done.", toolCalls: [], finishReason: "stop" as const };
    const response = { ...answer, raw: {} as Record<string, unknown> };
    response.raw.self = response.raw;
    let asked = 0;
    const respond = async () => {
      // Otherwise a run that asks again forever would block this process.
      if (++asked > 2) throw new AgentError("provider_failed", "asked again");
      return response;
    };
    const definition = {
      name: "cyclic",
      version: "1",
      create: ({ steps }: RunContext) => ({ agent: new Agent({ respond }, { steps }), message: "go" }),
    };
    await workWith(engine, definition);
    const id = await startRun(engine, definition, {});
    await follow(engine, id);
    expect(await engine.get(id)).toMatchObject({
      state: "failed",
      epoch: 1,
      error: { message: expect.stringContaining("cannot be stored, because it is not a JSON value") },
    });
    expect(asked).toBe(1);
  });

  test("finishes a step on close, records it and returns the run", async () => {
    const engine = openEngine();
    let finish: (text: string) => void = () => undefined;
    const write = vi.fn(
      () =>
        new Promise<string>((resolve) => {
          finish = resolve;
        }),
    );
    const definition = scripted([call("write"), "Done."], [tool("write", write)]);
    const worker = await workWith(engine, definition);
    const id = await startRun(engine, definition, {});
    for await (const one of engine.events(id, { follow: true })) {
      if ("event" in one && one.event.type === "tool_start") break;
    }
    const closing = worker.close();
    finish("wrote");
    await closing;
    expect(await engine.get(id)).toMatchObject({ state: "queued", crashes: 0 });
    await workWith(engine, scripted(["Done."], [tool("write", write)]));
    await follow(engine, id);
    expect(await engine.get(id)).toMatchObject({ state: "done", epoch: 2 });
    expect(write).toHaveBeenCalledOnce();
  });

  test("fails the run with a helpful message if a definition fails or forgets the steps", async () => {
    const engine = openEngine();
    const broken = {
      name: "broken",
      version: "1",
      create: () => {
        throw new Error("no such workspace");
      },
    };
    const forgetful = {
      ...scripted(["Done."], [], () => ({ steps: undefined as never })),
      name: "forgetful",
    };
    await startWorker(engine, { definitions: [broken, forgetful] });
    const ids = [await startRun(engine, broken, {}), await startRun(engine, forgetful, {})];
    for (const id of ids) await follow(engine, id);
    expect((await engine.get(ids[0] ?? ""))?.error?.message).toBe("broken: no such workspace");
    expect((await engine.get(ids[1] ?? ""))?.error?.message).toContain("Pass run.steps to the agent");
  });

  test("keeps shortened a conversation that was too long when the run continues", async () => {
    const engine = openEngine();
    const asked = vi.fn();
    const long = call("read");
    const definition = scripted(
      [
        long,
        long,
        long,
        () => {
          asked();
          throw new AgentError("context_overflow", "too long");
        },
        "a summary",
        call("ask"),
      ],
      [tool("read", () => "x".repeat(5000), ["read"]), tool("ask", () => "asked")],
      ({ approve }) => ({ approve: (request) => (request.name === "ask" ? approve(request) : "allow") }),
    );
    const worker = await workWith(engine, definition);
    const id = await startRun(engine, definition, {});
    await follow(engine, id, "waiting");
    await worker.close();
    const { approvals } = (await engine.get(id)) ?? {};
    await engine.decide(id, approvals?.[0]?.key ?? "", "allow");
    await workWith(engine, {
      ...definition,
      create: scripted(
        ["Done."],
        [tool("read", () => "never", ["read"]), tool("ask", () => "asked")],
        ({ approve }) => ({ approve }),
      ).create,
    });
    const all = await follow(engine, id);
    expect(all.at(-1)).toMatchObject({ run: { state: "done" } });
    expect(asked).toHaveBeenCalledOnce();
  });

  test.each([
    [{ definitions: [] }, "definitions must be an array with at least one definition, got an empty array."],
    [{ definitions: [{ name: "a b", version: "1", create: () => undefined }] }, "name must be a name of"],
    [{ definitions: [{ name: "a", version: "1" }] }, "create must be a function"],
    [{ concurency: 2 }, 'startWorker has no option "concurency". Did you mean "concurrency"?'],
    [{ leaseMs: -1 }, "leaseMs must be a number greater than 0"],
  ])("refuses %j", async (options, message) => {
    await expect(startWorker(openEngine(), options as never)).rejects.toThrow(message);
  });

  test.each([
    [{ id: "../x" }, "id must be 1 to 100 letters"],
    [{ tenant: "" }, "tenant must be a string of 1 to 200 characters"],
    [{ priority: 0.5 }, "priority must be a whole number"],
    [{ labels: "gpu" }, "labels must be an array of strings"],
  ])("refuses startRun with %j", async (options, message) => {
    await expect(startRun(openEngine(), scripted([]), {}, options as never)).rejects.toThrow(message);
  });

  test("refuses startRun with an input that another process could not read", async () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    await expect(startRun(openEngine(), scripted([]), loop)).rejects.toThrow("input is not a JSON value");
    await expect(startRun(openEngine(), scripted([]), undefined)).rejects.toThrow(
      "input must be a JSON value",
    );
  });
});
