import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createBullmqEngine } from "../src/bullmq/index.js";
import { type RunEngine, startRun } from "../src/index.js";
import { activeTrace } from "../src/otel.js";
import { follow, openEngine, temporaryDirectory } from "./helpers.js";
import { REDIS_URL, testSchema, withServers } from "./servers.js";

const WORKER = fileURLToPath(new URL("./fixtures/traced.mjs", import.meta.url));

interface Span {
  readonly when: "start" | "end";
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string;
  readonly links: readonly string[];
}

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  expect(existsSync(new URL("../dist/otel.js", import.meta.url)), "Build the package first").toBe(true);
});

/** A worker process, and the spans it has told of. */
function spawnTraced(module: string, address: string, hangs = ""): { worker: ChildProcess; spans: Span[] } {
  const engineModule = new URL(`./fixtures/${module}`, import.meta.url).href;
  const worker = fork(WORKER, [engineModule, address, hangs]);
  onTestFinished(() => void worker.kill("SIGKILL"));
  const spans: Span[] = [];
  worker.on("message", (span) => spans.push(span as Span));
  return { worker, spans };
}

const find = (spans: readonly Span[], when: Span["when"], name: string): Span | undefined =>
  spans.find((span) => span.when === when && span.name.startsWith(name));

/** One process starts the run, a second is killed in the middle of it, a third ends it. */
async function expectOneTrace(engine: RunEngine, module: string, address: string): Promise<void> {
  const tracer = new BasicTracerProvider().getTracer("test");
  const { id, request } = await tracer.startActiveSpan("request", async (span) => {
    const started = await startRun(engine, { name: "traced", version: "1" }, {}, { trace: activeTrace() });
    span.end();
    return { id: started, request: span.spanContext() };
  });
  const killed = spawnTraced(module, address, "hangs");
  await expect.poll(() => find(killed.spans, "start", "execute_tool")).toBeDefined();
  killed.worker.kill("SIGKILL");
  const last = spawnTraced(module, address);
  expect((await follow(engine, id)).at(-1)).toMatchObject({
    run: { state: "done", trace: expect.any(String) },
  });
  await expect.poll(() => find(last.spans, "end", "run traced")).toBeDefined();
  const all = [...killed.spans, ...last.spans];
  expect(new Set(all.map(({ traceId }) => traceId))).toEqual(new Set([request.traceId]));
  const [first, second] = [find(killed.spans, "start", "run traced"), find(last.spans, "end", "run traced")];
  expect([first?.parent, second?.parent]).toEqual([request.spanId, request.spanId]);
  // The killed worker never reported its span as ended, but the next one knows it.
  expect(find(killed.spans, "end", "run traced")).toBeUndefined();
  expect(second?.links).toEqual([first?.spanId]);
  expect(find(last.spans, "end", "execute_tool write")).toBeDefined();
}

test("records a run on files as one trace over the process that started it, one that was killed and one that finished it", async () => {
  const address = join(temporaryDirectory(), "runs");
  await expectOneTrace(openEngine(address), "fileEngine.mjs", address);
});

test.skipIf(!withServers)("records a run on BullMQ and Postgres as one trace over the same", async () => {
  const options = { ...(await testSchema()), redis: REDIS_URL };
  const engine = await createBullmqEngine(options);
  onTestFinished(() => engine.close());
  await expectOneTrace(engine, "bullmqEngine.mjs", JSON.stringify(options));
});
