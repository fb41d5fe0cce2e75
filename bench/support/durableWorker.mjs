// A worker process: node durableWorker.mjs ADDRESS CONCURRENCY LEASE_MS. Says "ready", and tells of each tool call.
import { startWorker } from "../../packages/durable/dist/index.js";
import { definition, openEngine } from "./durableRuns.mjs";

const [address, concurrency, leaseMs] = process.argv.slice(2);
const engine = await openEngine(address);
const tellCalls = process.env.TELL_CALLS === "1";
await startWorker(engine, {
  definitions: [definition((n) => tellCalls && process.send({ n, at: Date.now() }))],
  concurrency: Number(concurrency),
  leaseMs: Number(leaseMs),
  maxCrashes: 100,
});
process.send("ready");
