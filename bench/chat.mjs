/**
 * What the chat's display costs: per streamed delta beside the provider that streams it, and in memory over ten
 * thousand events. The first prompt is measured by bench/cli.mjs.
 *
 *   node --expose-gc bench/chat.mjs      (after a build)
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createReport } from "./support/report.mjs";
import { median } from "./support/statistics.mjs";

const DELTAS = 100_000;
const PAIRS = 8;
const STREAM_ROUNDS = 6;
const STREAM_WARM_UP = 2;
const ROUNDS = 11;
const WARM_UP = 10;
const FRAMES = 150;
const EVENTS = 10_000;
const SCREEN = { columns: 100, rows: 30, write: () => undefined };

const report = createReport("chat", "The chat's display");

const [part, ...partArguments] = process.argv.slice(2);
if (part === "serve") serve();
else if (part === "stream") await stream(...partArguments);
else await main();

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "bench-chat-"));
  try {
    const path = await compile(folder);
    const { TerminalView } = await import(path);
    const base = await beside(path);
    displayAlone(TerminalView, base);
    memory(TerminalView);
    report.save();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The chat is not a public entry of its package: its modules are built on their own. */
async function compile(folder) {
  const { build } = await import("tsup");
  const cli = fileURLToPath(new URL("../packages/cli/", import.meta.url));
  await build({
    entry: { view: join(cli, "src/chat/terminalView.ts") },
    outDir: folder,
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    platform: "node",
    noExternal: [/.*/],
    config: false,
    silent: true,
  });
  return pathToFileURL(join(folder, "view.mjs")).href;
}

/**
 * The provider with the display beside the provider without. Each is measured in processes of its own, which take
 * turns: in one process, what the first leaves to the garbage collector is counted for the second.
 */
async function beside(path) {
  const server = fork(fileURLToPath(import.meta.url), ["serve"]);
  const port = await new Promise((resolve) => server.once("message", resolve));
  const costs = { without: [], shown: [] };
  for (let pair = 0; pair < PAIRS; pair++) {
    costs.without.push(...(await inOwnProcess(port, "none")));
    costs.shown.push(...(await inOwnProcess(port, path)));
  }
  server.kill();
  const base = median(costs.without);
  report.add({ work: "provider and agent, per delta", unit: "µs of CPU", values: costs.without });
  report.add({
    work: "the same with the display",
    unit: "× without the display",
    values: costs.shown.map((cost) => cost / base),
  });
  return base;
}

async function inOwnProcess(port, path) {
  const child = fork(fileURLToPath(import.meta.url), ["stream", String(port), path]);
  const [costs] = await once(child, "message");
  return costs;
}

/** Reads the stream several times over and sends home what each time cost per delta. */
async function stream(port, path) {
  const { Agent } = await import("../packages/core/dist/index.js");
  const { OpenAIProvider } = await import("../packages/provider-openai/dist/index.js");
  const { TerminalView } = path === "none" ? {} : await import(path);
  const costs = [];
  for (let round = 0; round < STREAM_WARM_UP + STREAM_ROUNDS; round++) {
    const provider = new OpenAIProvider({
      baseURL: `http://127.0.0.1:${port}/v1`,
      apiKey: "none",
      model: "m",
    });
    const agent = new Agent(provider);
    const view = TerminalView && new TerminalView(SCREEN, () => false);
    const before = process.cpuUsage();
    view?.turnStarted();
    for await (const event of agent.streamChat("go")) view?.event(event);
    view?.turnEnded(undefined);
    view?.draw();
    const { user, system } = process.cpuUsage(before);
    view?.close();
    costs.push((user + system) / DELTAS);
  }
  process.send(costs.slice(STREAM_WARM_UP));
  process.disconnect();
}

function displayAlone(TerminalView, base) {
  const measure = (frames) => {
    const view = new TerminalView(SCREEN, () => false);
    const before = process.cpuUsage();
    for (let index = 0; index < DELTAS; index++) {
      view.event({ type: "text", text: index % 12 === 11 ? "word\n" : "word " });
      if (index % Math.ceil(DELTAS / frames) === 0) view.draw();
    }
    const { user, system } = process.cpuUsage(before);
    view.close();
    return (user + system) / DELTAS;
  };
  for (let round = 0; round < WARM_UP; round++) measure(FRAMES);
  report.add({
    work: `the display alone, ${FRAMES} frames, per delta`,
    unit: "% of the provider's cost",
    reach: "≤ 5",
    values: Array.from({ length: ROUNDS }, () => (100 * measure(FRAMES)) / base),
  });
  report.add({ work: "one frame, if every delta is drawn", unit: "µs of CPU", values: [measure(DELTAS)] });
}

function memory(TerminalView) {
  if (!globalThis.gc) {
    console.log("memory: not measured. Run with --expose-gc.");
    return;
  }
  const view = new TerminalView(SCREEN, () => false);
  const text = "a line of output\n".repeat(200);
  const heap = () => {
    globalThis.gc();
    return process.memoryUsage().heapUsed / 1024 / 1024;
  };
  let early = 0;
  for (let index = 0; index < EVENTS / 4; index++) {
    const call = { id: String(index), name: "run_bash" };
    view.event({ type: "tool_start", ...call, args: { command: `command ${index}` } });
    view.event({ type: "tool_output", ...call, chunk: text });
    view.event({ type: "tool_end", ...call, outcome: "ok", text: `${index}\n${text}`, durationMs: 1 });
    view.event({ type: "text", text: "Some **words** about it.\n" });
    view.draw();
    if (index === EVENTS / 40) early = heap();
  }
  const late = heap();
  view.close();
  report.add({
    work: `heap growth from ${EVENTS / 10} to ${EVENTS} events`,
    unit: "MB",
    reach: "≤ 2",
    values: [Math.max(0.01, late - early)],
  });
}

/** A server that streams as fast as it is read, in a process of its own so that its work is not counted. */
function serve() {
  const chunk = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const server = createServer(async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let index = 0; index < DELTAS; index++) {
      const content = index % 12 === 11 ? "word\n" : "word ";
      if (!response.write(chunk({ content })))
        await new Promise((resolve) => response.once("drain", resolve));
    }
    response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
}
