// What an editor waits for when it runs `agent acp`: its start, a new session, and above all a cancel; and what is left
// running after each way to end. Build first: pnpm exec turbo run build. Then: pnpm bench acp [rounds] [part…], where a
// part is `waits` or an ending: cancelled, session-closed, input-closed, terminated, killed. Endings are repeated as
// often as `rounds` says, 100 times without it.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createReport } from "./support/report.mjs";

const words = process.argv.slice(2);
const given = words.find((word) => /^\d+$/.test(word));
const ROUNDS = Number(given ?? 25);
const ENDINGS = Number(given ?? 100);
const AT_ONCE = 4;
const BIN = fileURLToPath(new URL("../packages/cli/bin.js", import.meta.url));
/** How long something may live on after its end before it counts as left. */
const LEFT_AFTER_MS = 2000;

const home = mkdtempSync(join(tmpdir(), "agent-bench-"));
const cwd = join(home, "project");
mkdirSync(join(cwd, ".git"), { recursive: true });
writeFileSync(join(cwd, "agent.config.json"), '{"packs":["@agent/preset-default"],"enable":["run_bash"]}');
const env = { PATH: process.env.PATH, HOME: home, AGENT_LOCAL_PORTS: "" };

/** The agents that run. What they started ends with them. */
const agents = new Set();
process.once("exit", () => {
  for (const agent of agents) agent.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

/** An editor that allows everything. */
function startEditor() {
  const started = performance.now();
  const child = spawn(process.execPath, [BIN, "acp", "--trust", "--provider", "offline"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  agents.add(child);
  child.once("exit", () => agents.delete(child));
  const waiting = new Map();
  let count = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  child.stdin.on("error", () => undefined);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === "session/request_permission") {
      send({ id: message.id, result: { outcome: { outcome: "selected", optionId: "allow" } } });
    } else if (message.method === undefined) waiting.get(message.id)?.(message);
  });
  const ask = (method, params) =>
    new Promise((resolve) => {
      waiting.set(++count, resolve);
      send({ id: count, method, params });
    });
  return { child, ask, send, started };
}

let commands = 0;

/** A session in which a command runs, with the ids of its processes. */
async function withCommand(editor) {
  await editor.ask("initialize", { protocolVersion: 1 });
  const { result } = await editor.ask("session/new", { cwd, mcpServers: [] });
  const { sessionId } = result;
  const name = `command-${++commands}`;
  const file = join(cwd, name);
  const text = `run "sleep 300 & echo $! $$ > ${name}; wait"`;
  const answered = editor.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  while (!existsSync(file) || readFileSync(file, "utf8").trim() === "") await delay(5);
  return { sessionId, answered, pids: readFileSync(file, "utf8").trim().split(" ").map(Number) };
}

function isAlive(pid) {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z ");
  } catch {
    return false;
  }
}

/** How many of the processes live on, after the time they have to end. */
async function leftOf(pids) {
  const deadline = performance.now() + LEFT_AFTER_MS;
  while (pids.some(isAlive) && performance.now() < deadline) await delay(10);
  return pids.filter(isAlive).length;
}

const report = createReport("acp", "An agent in an editor");

async function waits() {
  const figures = { start: [], session: [], cancel: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const bare = performance.now();
    spawnSync(process.execPath, ["-e", "0"], { env });
    const node = performance.now() - bare;

    const editor = startEditor();
    await editor.ask("initialize", { protocolVersion: 1 });
    figures.start.push((performance.now() - editor.started) / node);
    const opened = performance.now();
    await editor.ask("session/new", { cwd, mcpServers: [] });
    figures.session.push((performance.now() - opened) / node);
    editor.child.stdin.end();

    const cancelled = startEditor();
    const running = await withCommand(cancelled);
    const asked = performance.now();
    cancelled.send({ method: "session/cancel", params: { sessionId: running.sessionId } });
    await running.answered;
    figures.cancel.push(performance.now() - asked);
    cancelled.child.stdin.end();
  }
  report.add({ work: "agent acp: first answer", unit: "× node -e 0", values: figures.start });
  report.add({ work: "a new session", unit: "× node -e 0", values: figures.session });
  report.add({ work: "cancel of a running command", unit: "ms", reach: "≤ 50", values: figures.cancel });
}

/** How an agent with a running command ends, or the command alone: with the processes that must be gone then. */
const ENDS = {
  cancelled: async (editor, { sessionId, answered, pids }) => {
    editor.send({ method: "session/cancel", params: { sessionId } });
    await answered;
    return pids;
  },
  "session-closed": async (editor, { sessionId, pids }) => {
    await editor.ask("session/close", { sessionId });
    return pids;
  },
  "input-closed": async (editor, { pids }) => {
    editor.child.stdin.end();
    return [...pids, editor.child.pid];
  },
  terminated: async (editor, { pids }) => {
    editor.child.kill("SIGTERM");
    return [...pids, editor.child.pid];
  },
  killed: async (editor, { pids }) => {
    editor.child.kill("SIGKILL");
    return [...pids, editor.child.pid];
  },
};

/** Ends an agent once. Resolves to how many processes are left after the time they have. */
async function endOnce(end) {
  const editor = startEditor();
  const left = await leftOf(await end(editor, await withCommand(editor)));
  editor.child.kill("SIGKILL");
  return left;
}

async function ending(name) {
  let left = 0;
  for (let done = 0; done < ENDINGS; done += AT_ONCE) {
    const count = Math.min(AT_ONCE, ENDINGS - done);
    const counts = await Promise.all(Array.from({ length: count }, () => endOnce(ENDS[name])));
    left += counts.reduce((sum, one) => sum + one, 0);
  }
  report.add({ work: `${name}, ${ENDINGS} runs`, unit: "processes left", reach: "0", values: [left] });
}

const PARTS = {
  waits,
  ...Object.fromEntries(Object.keys(ENDS).map((name) => [name, () => ending(name)])),
};
const wanted = words.filter((word) => Object.hasOwn(PARTS, word));
for (const [name, part] of Object.entries(PARTS))
  if (wanted.length === 0 || wanted.includes(name)) await part();
report.save({ isPartial: wanted.length > 0 });
