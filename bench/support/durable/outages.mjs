// What an unreliable provider costs a fleet, and whether a tenant that floods the queue delays another one's run.
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "../../../packages/core/dist/index.js";
import { startRun, startWorker } from "../../../packages/durable/dist/index.js";
import { OpenAIProvider } from "../../../packages/provider-openai/dist/index.js";
import { quantile } from "../statistics.mjs";
import { openEngine } from "./runs.mjs";

const CONCURRENCY = 32;
const THINK_MS = 400;
const CALLS_PER_RUN = 2;
const FAULTY = 0.3;
const FLOOD = 10_000;
const SAMPLES = 20;

/** A model's server that answers after a time; of the requests, `faulty` get a 503 or a 429 with `Retry-After`. */
async function startModel(faulty) {
  let count = 0;
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    count++;
    if (Math.random() < faulty) {
      const isLimit = Math.random() < 0.5;
      response.writeHead(isLimit ? 429 : 503, isLimit ? { "retry-after": "1" } : {}).end("{}");
      return;
    }
    await sleep(THINK_MS);
    const { messages } = JSON.parse(Buffer.concat(chunks));
    const isLast = messages.some(({ role }) => role === "tool");
    const call = { id: "c1", type: "function", function: { name: "none", arguments: "{}" } };
    const message = isLast ? { content: "Done." } : { content: null, tool_calls: [call] };
    const choice = {
      message: { role: "assistant", ...message },
      finish_reason: isLast ? "stop" : "tool_calls",
    };
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ choices: [choice] }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests: () => count,
    close: () => server.close().closeAllConnections(),
  };
}

/** Starts runs at half of what the worker can do, and resolves to how long all of them took. */
async function workOff(address, runs, faulty) {
  const model = await startModel(faulty);
  const engine = await openEngine(address);
  const definition = {
    name: "asks",
    version: "1",
    create: ({ steps }) => ({
      agent: new Agent(new OpenAIProvider({ model: "m", baseURL: model.baseURL, api: "chat" }), { steps }),
      message: "go",
    }),
  };
  const worker = await startWorker(engine, { definitions: [definition], concurrency: CONCURRENCY });
  const everyMs = (2 * CALLS_PER_RUN * THINK_MS) / CONCURRENCY;
  const began = performance.now();
  for (let index = 0; index < runs; index++) {
    await startRun(engine, definition, {}, { id: `run-${index}` });
    await sleep(Math.max(0, began + (index + 1) * everyMs - performance.now()));
  }
  let counts = await engine.count();
  while (counts.queued + counts.running + counts.waiting > 0) {
    await sleep(200);
    counts = await engine.count();
  }
  const ms = performance.now() - began;
  await worker.close();
  await engine.close();
  model.close();
  return { ms, failed: runs - counts.done, requests: model.requests() };
}

export async function outages({ report, stores, sizes }) {
  const [quietStores, faultyStores] = [stores(), stores()];
  for (const [index, { who, address }] of quietStores.entries()) {
    const quiet = await workOff(address, sizes.runs, 0);
    const faulty = await workOff(faultyStores[index].address, sizes.runs, FAULTY);
    report.add({
      work: `${sizes.runs} runs at half capacity while 30 % of the requests get 503 or 429, compared with a quiet provider`,
      who,
      unit: "×",
      reach: "≤ 1.5",
      values: [faulty.ms / quiet.ms],
      note: `${faulty.failed} failed; ${Math.round(quiet.ms)} and ${Math.round(faulty.ms)} ms, ${quiet.requests} and ${faulty.requests} requests`,
    });
  }
}

/** From the start of a run to its first claim, while another tenant has very many in the queue. */
export async function fairness({ report, stores }) {
  for (const { who, address } of stores()) {
    const engine = await openEngine(address);
    const quick = {
      name: "quick",
      version: "1",
      create: ({ steps }) => ({
        agent: new Agent(
          {
            model: "quick",
            respond: async () => {
              await sleep(100);
              return { content: "Done.", toolCalls: [], finishReason: "stop" };
            },
          },
          { steps },
        ),
        message: "go",
      }),
    };
    for (let index = 0; index < FLOOD; index += 100) {
      const some = Array.from({ length: 100 }, () => startRun(engine, quick, {}, { tenant: "flood" }));
      await Promise.all(some);
    }
    const worker = await startWorker(engine, { definitions: [quick], concurrency: 4 });
    await sleep(1000);
    const waits = [];
    for (let index = 0; index < SAMPLES; index++) {
      const id = await startRun(engine, quick, {}, { tenant: "single" });
      for await (const _ of engine.events(id, { follow: true }));
      const { createdAt, startedAt } = await engine.get(id);
      waits.push(startedAt - createdAt);
    }
    report.add({
      work: `a run of one tenant from its start to a worker, while another has ${FLOOD} in the queue, p95`,
      who,
      unit: "ms",
      reach: "≤ 1000",
      values: [quantile(waits, 0.95)],
      note: `p50 ${quantile(waits, 0.5)} ms; 4 slots, 100 ms a run`,
    });
    await worker.close();
    await engine.close();
  }
}
