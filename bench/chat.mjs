/**
 * What the chat costs: its display per streamed delta compared with the provider that streams it, in memory over ten thousand
 * events, completion of files, a letter typed while an answer streams, and rest. bench/cli.mjs measures the first prompt.
 *
 *   node --expose-gc bench/chat.mjs [display] [memory] [completion] [typing]      (after a build)
 */
import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
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
const FILES = 100_000;
const MEGABYTE_DELTAS = 200_000;
const SCREEN = { columns: 100, rows: 30, write: () => undefined, refreshSize: () => undefined };

const report = createReport("chat", "The chat's display");

const [first, ...rest] = process.argv.slice(2);
if (first === "serve") serve(...rest.map(Number));
else if (first === "stream") await stream(...rest);
else await main(process.argv.slice(2));

async function main(parts) {
  const isWanted = (part) => parts.length === 0 || parts.includes(part);
  const folder = mkdtempSync(join(tmpdir(), "bench-chat-"));
  try {
    const path = await compile(folder);
    const { TerminalView, PLAIN_STYLE, FileIndex } = await import(path);
    if (isWanted("display")) displayAlone(TerminalView, PLAIN_STYLE, await beside(path));
    if (isWanted("memory")) memory(TerminalView, PLAIN_STYLE);
    if (isWanted("completion")) await completion(FileIndex, folder);
    if (isWanted("typing")) await typing(folder);
    report.save({ isPartial: parts.length > 0 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The screen of the chat is not public: its modules are built on their own. */
async function compile(folder) {
  const { build } = await import("tsup");
  const terminal = fileURLToPath(new URL("../packages/terminal/", import.meta.url));
  const parts = ["screen/terminalView", "text/style", "input/fileIndex"];
  const entry = join(folder, "view.ts");
  writeFileSync(
    entry,
    parts.map((part) => `export * from ${JSON.stringify(join(terminal, `src/${part}.ts`))};\n`).join(""),
  );
  await build({
    entry: { view: entry },
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
 * The provider with the display compared with the provider without. Each is measured in its own processes, which take
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

/** Reads the stream several times and sends the cost per delta of each time to the parent process. */
async function stream(port, path) {
  const { Agent } = await import("../packages/core/dist/index.js");
  const { OpenAIProvider } = await import("../packages/provider-openai/dist/index.js");
  const { TerminalView, PLAIN_STYLE } = path === "none" ? {} : await import(path);
  const costs = [];
  for (let round = 0; round < STREAM_WARM_UP + STREAM_ROUNDS; round++) {
    const provider = new OpenAIProvider({
      baseURL: `http://127.0.0.1:${port}/v1`,
      apiKey: "none",
      model: "m",
    });
    const agent = new Agent(provider);
    const view = TerminalView && new TerminalView(SCREEN, PLAIN_STYLE);
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

function displayAlone(TerminalView, PLAIN_STYLE, base) {
  const measure = (frames) => {
    const view = new TerminalView(SCREEN, PLAIN_STYLE);
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

function memory(TerminalView, PLAIN_STYLE) {
  if (!globalThis.gc) {
    console.log("memory: not measured. Run with --expose-gc.");
    return;
  }
  const view = new TerminalView(SCREEN, PLAIN_STYLE);
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

/** One keystroke after an @ in a project of a hundred thousand files. */
async function completion(FileIndex, folder) {
  const project = join(folder, "project");
  for (let index = 0; index < FILES; index++) {
    const directory = join(project, `package-${index % 100}`, `part-${index % 37}`);
    if (index < 3700) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `someFile${index}.ts`), "");
  }
  const index = new FileIndex(project);
  await index.refresh();
  const values = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const query of ["s", "so", "som", "smf", "pkg4sf", "part-3/some9", "zzz"]) {
      const before = process.cpuUsage();
      index.find(query, 50);
      const { user, system } = process.cpuUsage(before);
      values.push((user + system) / 1000);
    }
  }
  report.add({ work: `@ in ${FILES} files, one keystroke`, unit: "ms of CPU", reach: "≤ 50", values });
}

/** The built command in a terminal: how long a letter takes to the screen while 1 MB streams, and what rest costs. */
async function typing(folder) {
  if (spawnSync("python3", ["-c", "import pty"]).status !== 0) {
    console.log("typing: not measured. python3, which opens terminals here, is not installed.");
    return;
  }
  const server = fork(fileURLToPath(import.meta.url), ["serve", String(MEGABYTE_DELTAS), "20"]);
  const port = await new Promise((resolve) => server.once("message", resolve));
  const task = {
    argv: [process.execPath, fileURLToPath(new URL("../packages/cli/bin.js", import.meta.url))],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      TERM: "xterm-256color",
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_API_KEY: "none",
      AGENT_MODEL: "m",
    },
    cwd: folder,
    ready: "/help lists the commands.",
    start: "go",
    started: "word word",
    keys: 20,
  };
  const script = fileURLToPath(new URL("support/typing.py", import.meta.url));
  const { stdout, stderr, status } = spawnSync("python3", [script], {
    input: JSON.stringify(task),
    encoding: "utf8",
  });
  server.kill();
  if (status !== 0) {
    console.log(`typing: not measured. ${stderr.trim().slice(-300)}`);
    return;
  }
  const { keys, idle } = JSON.parse(stdout);
  report.add({ work: "a letter to the screen while 1 MB streams", unit: "ms", reach: "≤ 30", values: keys });
  report.add({
    work: "CPU of a chat at rest, 3 seconds",
    unit: "ms of CPU",
    reach: "≤ 10",
    values: [idle * 1000],
  });
}

/** A server that streams as fast as it is read, in its own process so that its work is not counted. */
function serve(deltas = DELTAS, pauseMs = 0) {
  const chunk = (delta, finish_reason = null) =>
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const server = createServer(async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let index = 0; index < deltas; index++) {
      const content = index % 12 === 11 ? "word\n" : "word ";
      // The stream must last long enough to type while it runs.
      if (pauseMs > 0 && index % 1000 === 999) await setTimeout(pauseMs);
      if (!response.write(chunk({ content })))
        await new Promise((resolve) => response.once("drain", resolve));
    }
    response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
}
