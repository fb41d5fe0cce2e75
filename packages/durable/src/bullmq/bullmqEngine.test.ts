import { describe, onTestFinished, test } from "vitest";
import { REDIS_URL, testSchema, withServers } from "../../test/servers.js";
import type { RunEngine } from "../engine/engine.js";
import { engineConformance } from "../testing/index.js";
import { createBullmqEngine } from "./bullmqEngine.js";

const cases = engineConformance.map((one) => [one.name, one] as const);

describe.each([
  ["Redis", { redis: REDIS_URL }],
  ["Postgres", {}],
])("the engine on BullMQ over %s", (_, queue) => {
  test.skipIf(!withServers).each(cases)("%s", async (_name, { run }) => {
    const { postgres, schema } = await testSchema();
    const engines: RunEngine[] = [];
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.close()));
    });
    const open = async (): Promise<RunEngine> => {
      const engine = await createBullmqEngine({ postgres, schema, ...queue, maxConnections: 4 });
      engines.push(engine);
      return engine;
    };
    await run({ open });
  });
});
