// Parts of bench/mcp.mjs that need a separate process: mcpWork.mjs WORK DIRECTORY SERVERS. Prints JSON.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const PACKAGE = new URL("../../packages/tools-mcp/package.json", import.meta.url);
const from = createRequire(fileURLToPath(PACKAGE));
const load = (name) => import(pathToFileURL(from.resolve(name)).href);
const [work, directory, text] = process.argv.slice(2);
const servers = JSON.parse(text);
const [[, first]] = Object.entries(servers);

async function createRegistry() {
  const { Conversation, createToolRegistry } = await load("@agent/core");
  const mcp = await import(new URL("dist/index.js", PACKAGE).href);
  return createToolRegistry(new Conversation(), [[mcp, { servers }]], { host: { baseDirectory: directory } });
}

/** The first call of a server, through the pack. */
async function cold() {
  const registry = await createRegistry();
  const started = performance.now();
  const { outcome } = await registry.run("mcp__docs__echo", {});
  const milliseconds = performance.now() - started;
  await registry.dispose();
  if (outcome !== "ok") throw new Error("the call failed");
  return { milliseconds };
}

/** The same server asked the same by hand: what its own start takes. */
async function alone() {
  const started = performance.now();
  const child = spawn(first.command, first.args, { stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return (await lines.next()).value;
  };
  const clientInfo = { name: "bench", version: "1" };
  await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  await ask(2, "tools/list", {});
  await ask(3, "tools/call", { name: "echo", arguments: {} });
  const milliseconds = performance.now() - started;
  child.stdin.end();
  await once(child, "exit");
  return { milliseconds };
}

/** From the abort of a call that the server never answers to its end. */
async function abort() {
  const registry = await createRegistry();
  await registry.run("mcp__docs__echo", {});
  const milliseconds = [];
  for (let round = 0; round < 25; round++) {
    const controller = new AbortController();
    const running = registry.run("mcp__docs__hangs", {}, { signal: controller.signal });
    // The call is at the server by then.
    await delay(20);
    const started = performance.now();
    controller.abort();
    const { outcome } = await running;
    milliseconds.push(performance.now() - started);
    if (outcome !== "aborted") throw new Error(`the call ended with ${outcome}`);
  }
  await registry.dispose();
  return { milliseconds };
}

/** Warm calls through the pack and through the official client, in turn. */
async function warm() {
  const registry = await createRegistry();
  const { Client } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: first.command, args: first.args }));
  await client.listTools();
  const args = { text: "x".repeat(200) };
  const ours = () => registry.run("mcp__docs__echo", args);
  const theirs = () => client.callTool({ name: "echo", arguments: args });
  const timed = async (call) => {
    const before = process.cpuUsage();
    const started = performance.now();
    for (let n = 0; n < 200; n++) await call();
    const { user, system } = process.cpuUsage(before);
    return { time: performance.now() - started, cpu: user + system };
  };
  const ratios = [];
  const cpuRatios = [];
  for (let round = -2; round < 15; round++) {
    const [own, other] =
      round % 2 === 0
        ? [await timed(ours), await timed(theirs)]
        : [await timed(theirs), await timed(ours)].reverse();
    if (round < 0) continue;
    ratios.push(own.time / other.time);
    cpuRatios.push(own.cpu / other.cpu);
  }
  await client.close();
  await registry.dispose();
  return { ratios, cpuRatios };
}

/** How much the agent grows with each server that runs and waits. */
async function memory() {
  const registry = await createRegistry();
  const names = Object.keys(servers);
  const call = (name) => registry.run(`mcp__${name}__echo`, {});
  const size = async () => {
    for (let n = 0; n < 5; n++) {
      globalThis.gc();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return process.memoryUsage().rss / 1024 / 1024;
  };
  await call(names[0]);
  const before = await size();
  for (const name of names.slice(1)) await call(name);
  const megabytes = ((await size()) - before) / (names.length - 1);
  await registry.dispose();
  return { megabytes: [megabytes] };
}

process.stdout.write(JSON.stringify(await { cold, alone, warm, abort, memory }[work]()));
