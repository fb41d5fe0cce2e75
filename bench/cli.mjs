// What starting the command costs against starting Node itself, or what starting other agents does.
// Interleaved, medians. Build first: pnpm exec turbo run build. Then: pnpm bench cli [peers] [rounds]
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createReport } from "./support/report.mjs";
import { median } from "./support/statistics.mjs";

const WITH_PEERS = process.argv.includes("peers");
const ROUNDS = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? (WITH_PEERS ? 5 : 25));
const BIN = fileURLToPath(new URL("../packages/cli/bin.js", import.meta.url));
const TERMINAL = fileURLToPath(new URL("support/terminal.py", import.meta.url));
// The peers are installed outside the repository and kept between runs: they are large.
const PEERS_FOLDER = join(tmpdir(), "agent-bench-peers");

// The first text of each program that a user can answer. None of them is logged in here.
const PEERS = [
  { name: "gemini", pack: "@google/gemini-cli", wanted: "Do you trust the files in this folder?" },
  { name: "pi", pack: "@mariozechner/pi-coding-agent", wanted: "No models available" },
  { name: "codex", pack: "@openai/codex", wanted: "Sign in" },
  { name: "opencode", pack: "opencode-ai", wanted: "Ask anything" },
];

const root = mkdtempSync(join(tmpdir(), "agent-bench-"));
const project = join(root, "project");
const empty = join(root, "empty");
for (const folder of [project, empty]) mkdirSync(join(folder, ".git"), { recursive: true });
writeFileSync(
  join(project, "agent.config.ts"),
  `import { defineConfig } from "@agent/cli/config";
const tools: string[] = ["run_bash"];
export default defineConfig({ enable: tools });
`,
);
const env = { PATH: process.env.PATH, HOME: root, TERM: "xterm-256color", AGENT_LOCAL_PORTS: "" };

// A model server on this machine: it measures when the first byte of a request arrives.
const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const serverEnv = {
  OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`,
  OPENAI_API_KEY: "none",
  AGENT_MODEL: "m",
};

const node = process.execPath;
const BARE = [
  { name: "node -e 0", argv: [node, "-e", "0"], cwd: project },
  ...inTerminals([{ name: "node -e 0, in a terminal", argv: [node, "-e", "0"], cwd: empty, wanted: null }]),
];
const OURS = [
  { name: "--version", argv: [node, BIN, "--version"], cwd: project, reach: 1.4 },
  { name: "--help", argv: [node, BIN, "--help"], cwd: project },
  {
    name: "list the tools, with a TypeScript config",
    argv: [node, BIN, "tools", "--trust"],
    cwd: project,
    reach: 6,
  },
  {
    name: "a task without a model, from start to end",
    argv: [node, BIN, "--no-config", "--no-session", "list files"],
    cwd: project,
  },
  {
    name: "a task: first byte of the request",
    argv: [node, BIN, "--no-config", "--no-session", "say hello"],
    cwd: project,
    untilRequest: true,
  },
  ...inTerminals([
    { name: "first prompt", argv: [node, BIN], cwd: empty, wanted: "› ", reach: 1.5 },
    { name: "first prompt, with a TypeScript config", argv: [node, BIN], cwd: project, wanted: "› " },
    { name: "who answers is known", argv: [node, BIN], cwd: empty, wanted: "/help lists" },
  ]),
];

function inTerminals(cases) {
  if (spawnSync("python3", ["-c", "import pty"]).status === 0) return cases;
  console.log("First prompts are not measured: python3, which opens terminals here, is not installed.");
  return [];
}

/** A peer's cases, or a line that says why it has none. */
function installed({ name, pack, wanted }) {
  const folder = join(PEERS_FOLDER, name);
  const bin = join(folder, "node_modules/.bin", name);
  if (!existsSync(bin)) {
    mkdirSync(folder, { recursive: true });
    spawnSync("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", pack], { stdio: "ignore" });
  }
  const first = spawnSync(bin, ["--version"], { cwd: empty, env, encoding: "utf8" });
  if (first.status !== 0) {
    console.log(
      `${name}: not measured. ${existsSync(bin) ? first.stderr.split("\n", 1)[0] : "Not installed."}`,
    );
    return [];
  }
  console.log(`${name}: ${(first.stdout || first.stderr).trim()}`);
  return [
    { name: "--version", who: name, argv: [bin, "--version"], cwd: empty },
    { name: "--help", who: name, argv: [bin, "--help"], cwd: empty },
    ...inTerminals([{ name: "first prompt", who: name, argv: [bin], cwd: empty, wanted }]),
  ];
}

const terminals = spawn("python3", [TERMINAL], { stdio: ["pipe", "pipe", "inherit"] });
const answers = createInterface({ input: terminals.stdout })[Symbol.asyncIterator]();

/** Milliseconds until it has ended, or has shown what is waited for. */
async function run({ argv, cwd, wanted, untilRequest }) {
  if (untilRequest) return await timeToRequest(argv, cwd);
  if (wanted !== undefined) {
    terminals.stdin.write(`${JSON.stringify({ argv, env, cwd, wanted })}\n`);
    const elapsed = JSON.parse((await answers.next()).value);
    if (elapsed === null) throw new Error(`${argv.join(" ")} never showed ${wanted}`);
    return elapsed;
  }
  const started = performance.now();
  const { status, stderr } = spawnSync(argv[0], argv.slice(1), { cwd, env });
  const elapsed = performance.now() - started;
  if (status !== 0) throw new Error(`${argv.join(" ")} failed: ${stderr}`);
  return elapsed;
}

function timeToRequest([program, ...args], cwd) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(program, args, { cwd, env: { ...env, ...serverEnv }, stdio: "ignore" });
    const onSocket = (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        server.off("connection", onSocket);
        child.off("exit", onExit);
        resolve(performance.now() - started);
        child.kill("SIGKILL");
        socket.destroy();
      });
    };
    const onExit = (code) => {
      server.off("connection", onSocket);
      reject(new Error(`it ended with ${code} before it asked`));
    };
    server.on("connection", onSocket);
    child.on("exit", onExit);
  });
}

/** Runs a case once without measuring, to fill the file caches; a case that cannot run is named and left out. */
async function works(one) {
  try {
    await run(one);
    return true;
  } catch (error) {
    console.log(`${one.who ?? "@agent"} ${one.name}: not measured. ${error.message.slice(0, 200)}`);
    return false;
  }
}

try {
  const cases = [];
  for (const one of [...BARE, ...(WITH_PEERS ? PEERS.flatMap(installed) : OURS)])
    if (await works(one)) cases.push({ ...one, times: [] });
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of cases) one.times.push(await run(one).catch(() => Number.POSITIVE_INFINITY));
  }
  const report = createReport("cli", "Starting the command");
  for (const { name, who, reach, wanted, times } of cases) {
    if (name.startsWith("node")) continue;
    // What is shown in a terminal is compared with a start of Node in a terminal.
    const base = cases.find(
      (one) => one.name.startsWith("node") && (one.wanted === undefined) === (wanted === undefined),
    );
    const baseTime = median(base.times);
    report.add({
      work: name,
      ...(who !== undefined && { who }),
      unit: "× bare node",
      ...(reach !== undefined && { reach: `≤ ${reach}` }),
      values: times.map((time) => time / baseTime),
      note: `${median(times).toFixed(0)} ms`,
    });
  }
  // Ours and the others' are measured in separate runs.
  report.save({ isPartial: true });
} finally {
  terminals.kill();
  server.close();
  endDaemons();
  rmSync(root, { recursive: true, force: true });
}

/** Ends the programs that a peer installed in its home and left running, such as codex's server. Linux only. */
function endDaemons() {
  if (!existsSync("/proc")) return;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (readlinkSync(`/proc/${pid}/exe`).startsWith(`${root}/`)) process.kill(Number(pid));
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
}
