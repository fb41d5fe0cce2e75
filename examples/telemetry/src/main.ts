import { createAssistant } from "./assistant.js";
import { startCollector } from "./collector.js";
import { exportTo } from "./export.js";
import { printTrace } from "./printTrace.js";

const collector = await startCollector();
const exporting = exportTo(process.env.OTLP_ENDPOINT ?? collector.url);
const assistant = createAssistant(exporting.telemetry);
console.log(await assistant.chat("How many people live in Oslo, and how many in Atlantis?"));
await exporting.shutdown();
console.log(printTrace(collector.spans));
for (const { name, histogram } of collector.metrics) {
  const count = histogram?.dataPoints.reduce((total, point) => total + Number(point.count), 0);
  console.log(`${name}: ${count} measurements`);
}
await collector.close();
