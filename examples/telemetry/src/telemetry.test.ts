import { expect, onTestFinished, test } from "vitest";
import { createAssistant } from "./assistant.js";
import { startCollector } from "./collector.js";
import { exportTo } from "./export.js";
import { printTrace } from "./printTrace.js";

test("sends a run with tools and a child agent to the collector as one trace, with its metrics", async () => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const exporting = exportTo(collector.url);
  const assistant = createAssistant(exporting.telemetry);
  expect(await assistant.chat("Oslo and Atlantis?")).toBe(
    "Oslo has 717710 people; no one has counted Atlantis.",
  );
  await exporting.shutdown();

  expect(printTrace(collector.spans)).toBe(
    [
      "invoke_agent assistant",
      "  chat sample-1",
      "  execute_tool research",
      "    invoke_agent researcher",
      "      chat sample-1",
      "      execute_tool population",
      "      chat sample-1",
      "  chat sample-1",
      "  execute_tool population (failed)",
      "  chat sample-1",
    ].join("\n"),
  );
  const total = (name: string) =>
    collector.metrics
      .filter((metric) => metric.name === name)
      .flatMap(({ histogram }) => histogram?.dataPoints ?? [])
      .reduce((sum, point) => sum + Number(point.sum), 0);
  // Five requests to the model, the child agent's included.
  expect(total("gen_ai.client.token.usage")).toBe(5 * (210 + 34));
  expect(total("gen_ai.client.operation.duration")).toBeGreaterThan(0);
});
