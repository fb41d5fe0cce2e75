// What MCP servers cost: starting the command with ten of them, a first call, a warm call, memory, and whether anything
// is left of them. Build first: pnpm exec turbo run build. Then: pnpm bench mcp [rounds] [part…], where a part is one of
// start, import, cold, warm, abort, memory, endings; endings are repeated as often as `rounds` says, 100 times without it.
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createReport } from "./support/report.mjs";

const words = process.argv.slice(2);
const given = words.find((word) => /^\d+$/.test(word));
const ROUNDS = Number(given ?? 25);
const ENDINGS = Number(given ?? 100);
const AT_ONCE = 4;
const NODE = process.execPath;
const BIN = path("../packages/cli/bin.js");
const MANAGE = path("../packages/tools-mcp/dist/manage/index.js");
const SERVER = path("../packages/tools-mcp/test/fixtures/server.mjs");
const HOST = path("../packages/tools-mcp/test/fixtures/host.mjs");
// Built as most servers are, on the official SDK, which takes them a part of their start to load.
const SDK_SERVER = path("support/mcpSdkServer.mjs");
const WORK = path("support/mcpWork.mjs");
const TERMINALS = path("support/terminal.py");

function path(relative) {
  return fileURLToPath(new URL(relative, import.meta.url));
}

const root = mkdtempSync(join(tmpdir(), "agent-bench-mcp-"));
const environment = { PATH: process.env.PATH, HOME: root, TERM: "xterm-256color", AGENT_LOCAL_PORTS: "" };
const report = createReport("mcp", "MCP servers");
/** What this program started and has to end if it is killed itself. What they started ends with them. */
const started = new Set();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    for (const child of started) child.kill("SIGKILL");
    rmSync(root, { recursive: true, force: true });
    process.exit(130);
  });
}
const { createConnectionHost, inspectServer, lockPath, writeLock } = await import(MANAGE);

/** A server of the fixtures; `mark` is in the environment of everything it starts. */
function fixture(behaviour = {}, mark = randomUUID()) {
  return {
    command: NODE,
    args: [SERVER, JSON.stringify({ ...behaviour, mark })],
    env: { BENCH_MARK: mark },
    enable: true,
  };
}

/** A project with these servers agreed to. */
async function project(name, servers) {
  const directory = join(root, name);
  mkdirSync(join(directory, ".git"), { recursive: true });
  const host = createConnectionHost({}, directory, undefined);
  const locked = {};
  for (const [key, server] of Object.entries(servers)) {
    locked[key] = (await inspectServer(key, server, host)).locked;
  }
  await writeLock(lockPath({}, directory), { lockVersion: 1, servers: locked });
  return directory;
}

/** Runs `ours` and `theirs` in turn and returns their times; noise of the machine hits both alike. */
async function inTurn(ours, theirs, rounds = ROUNDS) {
  const times = { ours: [], theirs: [] };
  for (let round = -1; round < rounds; round++) {
    const [own, other] =
      round % 2 === 0 ? [await ours(), await theirs()] : [await theirs(), await ours()].reverse();
    if (round < 0) continue;
    times.ours.push(own);
    times.theirs.push(other);
  }
  return times;
}

const ratios = ({ ours, theirs }) => ours.map((time, at) => time / theirs[at]);
const differences = ({ ours, theirs }) => ours.map((time, at) => time - theirs[at]);

/** Runs a program to its end and resolves to what it printed. */
async function run(args, options = {}) {
  const running = promisify(execFile)(NODE, args, { ...options, env: environment });
  started.add(running.child);
  try {
    return (await running).stdout;
  } finally {
    started.delete(running.child);
  }
}

/** Milliseconds a program takes. */
async function timed(args, cwd) {
  const before = performance.now();
  await run(args, { cwd });
  return performance.now() - before;
}

/** What a part of support/mcpWork.mjs measured in its own process. */
async function measured(work, directory, servers, flags = []) {
  const args = [...flags, WORK, work, directory, JSON.stringify(servers)];
  const stdout = await run(args);
  return JSON.parse(stdout);
}

async function startOfTheCommand() {
  const servers = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`server${n}`, fixture()]));
  const withServers = await project("with", servers);
  const without = await project("without", {});
  const preset = "@agent/preset-default";
  const packs = [preset, ["@agent/tools-mcp", { servers }]];
  writeFileSync(join(withServers, "agent.config.json"), JSON.stringify({ packs }));
  writeFileSync(join(without, "agent.config.json"), JSON.stringify({ packs: [preset] }));
  for (const cwd of [withServers, without]) {
    execFileSync(NODE, [BIN, "tools", "--trust"], { cwd, env: environment, stdio: "ignore" });
  }
  await firstPrompt(withServers, without);
  const commands = [
    ["a task, answered without a model", ["--provider", "offline", "list the files here"]],
    ["agent tools, which lists those of the servers", ["tools"]],
  ];
  for (const [name, args] of commands) {
    const times = await inTurn(
      () => timed([BIN, ...args], withServers),
      () => timed([BIN, ...args], without),
    );
    report.add({
      work: `${name}, ten servers in the config`,
      unit: "× without",
      reach: "≤ 1.02",
      values: ratios(times),
    });
  }
}

/** What a user waits for before they can type. The chat reads its packs after that. */
async function firstPrompt(withServers, without) {
  if (spawnSync("python3", ["-c", "import pty"]).status !== 0) return;
  const terminals = spawn("python3", [TERMINALS], { stdio: ["pipe", "pipe", "inherit"] });
  started.add(terminals);
  const answers = createInterface({ input: terminals.stdout })[Symbol.asyncIterator]();
  const shown = async (cwd) => {
    const request = { argv: [NODE, BIN], env: environment, cwd, wanted: "› " };
    terminals.stdin.write(`${JSON.stringify(request)}\n`);
    return JSON.parse((await answers.next()).value);
  };
  const times = await inTurn(
    () => shown(withServers),
    () => shown(without),
  );
  terminals.stdin.end();
  started.delete(terminals);
  report.add({
    work: "first prompt of the chat, ten servers in the config",
    unit: "× without",
    reach: "≤ 1.02",
    values: ratios(times),
  });
}

async function coldCall() {
  const small = { docs: fixture() };
  const onSdk = { docs: { command: NODE, args: [SDK_SERVER], enable: true } };
  const kinds = [
    ["a server on the official SDK", await project("sdk", onSdk), onSdk],
    ["a server of a few lines without it", await project("small", small), small],
  ];
  for (const [name, place, kind] of kinds) {
    const cold = await inTurn(
      async () => (await measured("cold", place, kind)).milliseconds,
      async () => (await measured("alone", place, kind)).milliseconds,
    );
    report.add({
      work: `first call of ${name}`,
      unit: "ms over its own start",
      reach: "≤ 30",
      values: differences(cold),
    });
  }
}

async function warmCall() {
  const servers = { docs: fixture() };
  const warm = await measured("warm", await project("warm", servers), servers);
  report.add({ work: "warm call", unit: "× the official client", reach: "≤ 1.3", values: warm.ratios });
  report.add({
    work: "warm call, CPU time of the client",
    unit: "× the official client",
    reach: "≤ 1.3",
    values: warm.cpuRatios,
  });
}

async function abortOfACall() {
  const servers = { docs: fixture({ tools: [{ name: "echo" }, { name: "hangs" }] }) };
  const { milliseconds } = await measured("abort", await project("abort", servers), servers);
  report.add({ work: "abort of a call", unit: "ms", reach: "≤ 10", values: milliseconds });
}

async function idleMemory() {
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`server${n}`, fixture()]));
  const memory = await measured("memory", await project("memory", many), many, ["--expose-gc"]);
  report.add({ work: "memory of an idle server", unit: "MB", reach: "≤ 2", values: memory.megabytes });
}

async function importOfThePack() {
  const importing = (file) => `await import(${JSON.stringify(path(file))});`;
  const pack = importing("../packages/tools-mcp/dist/index.js");
  const core = importing("../packages/core/dist/index.js");
  const run = (code) => timed(["--input-type=module", "-e", code], root);
  const alone = await inTurn(
    () => run(pack),
    () => run("0"),
  );
  report.add({
    work: "import of the pack",
    unit: "ms over bare node",
    reach: "≤ 10",
    values: differences(alone),
  });
  // A program that registers a pack has core.
  const besides = await inTurn(
    () => run(core + pack),
    () => run(core),
  );
  report.add({
    work: "import of the pack in a program with @agent/core",
    unit: "ms over @agent/core",
    values: differences(besides),
  });
}

/** The processes that have the mark in their environment or command line. */
function left(mark) {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const isZombie = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).startsWith("Z");
      return (
        !isZombie &&
        ["cmdline", "environ"].some((file) => readFileSync(`/proc/${pid}/${file}`, "latin1").includes(mark))
      );
    } catch {
      return false;
    }
  });
}

/** One ending of an agent with a server that resists: how many processes are left two seconds later. */
async function ending(how, directory, server, mark) {
  const host = spawn(NODE, [HOST, directory, JSON.stringify({ docs: server }), how], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...environment, HOST_MARK: mark },
  });
  started.add(host);
  host.once("exit", () => started.delete(host));
  await once(host.stdout, "data");
  if (how === "exit") host.kill("SIGUSR2");
  else if (how !== "once") host.kill(how);
  if (host.exitCode === null && host.signalCode === null) await once(host, "exit");
  const deadline = performance.now() + 2000;
  while (left(mark).length > 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 25));
  return left(mark).length;
}

async function endings() {
  if (process.platform !== "linux") return;
  for (const [how, name] of [
    ["once", "dispose"],
    ["exit", "process.exit"],
    ["SIGTERM", "SIGTERM"],
    ["SIGKILL", "SIGKILL"],
  ]) {
    const mark = randomUUID();
    const server = fixture({ daemon: true, ignoreEnd: true, ignoreTerm: true }, mark);
    const directory = await project(`ending-${how}`, { docs: server });
    let count = 0;
    for (let done = 0; done < ENDINGS; done += AT_ONCE) {
      // Endings that run in parallel share the mark, so leftovers are counted after the last of them.
      await Promise.all(Array.from({ length: AT_ONCE }, () => ending(how, directory, server, mark)));
      count += left(mark).length;
    }
    report.add({ work: `${name}, ${ENDINGS} runs`, unit: "processes left", reach: "0", values: [count] });
  }
}

const PARTS = {
  start: startOfTheCommand,
  import: importOfThePack,
  cold: coldCall,
  warm: warmCall,
  abort: abortOfACall,
  memory: idleMemory,
  endings,
};
const wanted = words.filter((word) => Object.hasOwn(PARTS, word));

try {
  for (const [name, part] of Object.entries(PARTS))
    if (wanted.length === 0 || wanted.includes(name)) await part();
  report.save({ isPartial: wanted.length > 0 });
} finally {
  rmSync(root, { recursive: true, force: true });
}
