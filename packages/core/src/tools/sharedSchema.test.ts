import { expect, test } from "vitest";
import { fakeTool, registryWith } from "../../test/fixtures.js";

const SCHEMA = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };

test("shares the schema of the same tool between agents, and nothing that can change", () => {
  const [one, two] = [1, 2].map(() => registryWith(fakeTool("read", undefined, { parameters: SCHEMA })));
  expect(one?.getSharedSchemas()[0]).toBe(two?.getSharedSchemas()[0]);
  expect(one?.getEnabledSchemas()[0]).not.toBe(two?.getEnabledSchemas()[0]);
  expect(() => Object.assign(one?.getSharedSchemas()[0] ?? {}, { type: "other" })).toThrow(/read only/);
});

test("checks the arguments of each agent separately with a shared schema", async () => {
  const registries = [1, 2].map(() => registryWith(fakeTool("read", undefined, { parameters: SCHEMA })));
  const answers = registries.map((registry, index) =>
    registry.execute("read", index === 0 ? {} : { path: "a" }),
  );
  expect(await Promise.all(answers)).toEqual([expect.stringContaining('"path"'), "read ran"]);
});
