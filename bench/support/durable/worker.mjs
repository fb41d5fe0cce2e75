// A worker process: node worker.mjs ADDRESS CONCURRENCY LEASE_MS. Says "ready", tells what its tools do if TELL is set, and
// answers "memory" with what it holds.
import { startWorker } from "../../../packages/durable/dist/index.js";
import { definition, openEngine } from "./runs.mjs";

const [address, concurrency, leaseMs] = process.argv.slice(2);
const engine = await openEngine(address);
const isTold = process.env.TELL === "1";
await startWorker(engine, {
  definitions: [definition((what) => isTold && process.send(what))],
  concurrency: Number(concurrency),
  leaseMs: Number(leaseMs),
  maxCrashes: 100,
});
process.on("message", (question) => {
  if (question === "memory") {
    globalThis.gc();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    process.send({ bytes: heapUsed + arrayBuffers });
  }
});
// It ends with the bench, however that ends.
process.once("disconnect", () => process.exit());
process.send("ready");
