// A worker process: node worker.mjs ADDRESS CONCURRENCY LEASE_MS. Says "ready", tells what its tools do if TELL is set, and
// answers "memory" with what it holds.
import { setImmediate } from "node:timers/promises";
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
process.on("message", async (question) => {
  if (question !== "memory") return;
  // Several collections: the memory of buffers is freed some time after the first that finds them unused.
  let bytes = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round++) {
    globalThis.gc();
    await setImmediate();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    bytes = Math.min(bytes, heapUsed + arrayBuffers);
  }
  process.send({ bytes });
});
// It ends with the bench, however that ends.
process.once("disconnect", () => process.exit());
process.send("ready");
