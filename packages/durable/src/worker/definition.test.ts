import { defineTool } from "@agent/core";
import { describe, expect, test } from "vitest";
import { eventsOf, follow, openEngine, scripted, workWith } from "../../test/helpers.js";
import { startRun } from "../engine/startRun.js";

const write = defineTool({
  name: "write",
  description: "Writes.",
  input: { type: "object", properties: {} },
  execute: () => "wrote",
});

describe("a definition", () => {
  test("reports a run that continues with other code, and does not break it", async () => {
    const engine = openEngine();
    const definition = scripted(["Done."]);
    await workWith(engine, { ...definition, version: "2" });
    const id = await startRun(engine, definition, {});
    const all = await follow(engine, id);
    expect(eventsOf(all)).toContainEqual({ type: "version", from: "1", to: "2" });
    expect(all.at(-1)).toMatchObject({ run: { state: "done" } });
  });

  test("fits a run that was started without knowing the worker's build, and reports when that changes", async () => {
    const engine = openEngine();
    const asking = scripted([{ calls: [{ name: "write" }] }], [write], ({ approve }) => ({ approve }));
    const id = await startRun(engine, { ...asking, version: "1.0" }, {});
    const first = await workWith(engine, { ...asking, version: "1.0+a" });
    const before = eventsOf(await follow(engine, id, "waiting"));
    expect(before.filter(({ type }) => type === "version")).toEqual([]);
    await first.close();
    await engine.decide(id, (await engine.get(id))?.approvals[0]?.key ?? "", "allow");
    await workWith(engine, { ...scripted(["Done."], [write]), version: "1.0+b" });
    const all = eventsOf(await follow(engine, id));
    expect(all).toContainEqual({ type: "version", from: "1.0+a", to: "1.0+b" });
  });

  test("keeps the cost of a run with it, if the provider knows", async () => {
    const engine = openEngine();
    const usage = { inputTokens: 100, outputTokens: 20, cost: 0.3 };
    const definition = scripted([{ content: "Done.", toolCalls: [], finishReason: "stop", usage }]);
    await workWith(engine, definition);
    const id = await startRun(engine, definition, {});
    await follow(engine, id);
    expect(await engine.get(id)).toMatchObject({ cost: 0.3 });
  });

  test("keeps the cost of a run with it, if the definition knows", async () => {
    const engine = openEngine();
    const usage = { inputTokens: 100, outputTokens: 20 };
    const { create, ...definition } = scripted([
      { content: "Done.", toolCalls: [], finishReason: "stop", usage },
    ]);
    await workWith(engine, {
      ...definition,
      create: async (run) => ({
        ...(await create(run)),
        cost: ({ inputTokens, outputTokens }) => (inputTokens + 5 * outputTokens) / 1000,
      }),
    });
    const id = await startRun(engine, definition, {});
    await follow(engine, id);
    expect(await engine.get(id)).toMatchObject({ usage, cost: 0.2 });
  });
});
