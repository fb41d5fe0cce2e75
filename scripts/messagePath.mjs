// Counts the source files that one chat message passes: a chat in a terminal (tmux) whose model reads a file and answers.
// Two figures, both between Enter and the answer on the screen:
// - files on the call stack, awaits included, at an outside effect: a write to the terminal, a request, a file access;
// - files with a function that ran at all (V8 coverage), which includes every helper.
// The packages must be built. The sources run instead of their builds, except those of tools-search.
//
// The file has three roles: it starts the chat (`countMessageFiles`), it is loaded into it first (`watchEffects`), and its
// exports `resolve` and `load` are the loader of TypeScript.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import { Session } from "node:inspector";
import { createRequire, register, syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMMAND = join(ROOT, "packages/cli/src/bin.ts");
const SOURCE = /packages\/[^/]+\/src\/[^:)]+/;
/** Where the program writes what it saw; set in that program alone. */
const REPORT = process.env.MESSAGE_PATH_REPORT;
const GIVE_UP_MS = 60_000;

/** Resolves to `{ passed, run }`, lists of files, or to the reason why nothing could be measured. */
export async function countMessageFiles() {
  if (spawnSync("tmux", ["-V"]).status !== 0) return "not measured: tmux is not installed";
  if (!fs.existsSync(join(ROOT, "packages/preset-default/dist/index.js"))) return "not measured: build first";
  const directory = fs.mkdtempSync(join(tmpdir(), "message-path-"));
  const report = join(directory, "report.json");
  const socket = join(directory, "tmux");
  const tmux = (...args) => execFileSync("tmux", ["-S", socket, ...args], { encoding: "utf8" });
  const server = await startModel();
  try {
    fs.writeFileSync(join(directory, "a.txt"), "hello\n");
    const env = {
      HOME: directory,
      OPENAI_API_KEY: "key",
      OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`,
      MESSAGE_PATH_REPORT: report,
    };
    const variables = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
    const program = `exec env ${variables.join(" ")} node --import '${import.meta.url}' '${COMMAND}' --model test`;
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "-c", directory, program);
    const pid = Number(tmux("display-message", "-p", "#{pane_pid}"));
    const shown = (text) =>
      until(() => tmux("capture-pane", "-p").includes(text), `the chat to show "${text}"`);
    await shown("/help lists the commands");
    tmux("send-keys", "-l", "read a.txt");
    await shown("› read a.txt");
    process.kill(pid, "SIGUSR2");
    await until(() => fs.existsSync(`${report}.begun`), "the chat to start counting");
    tmux("send-keys", "Enter");
    await shown("Done");
    process.kill(pid, "SIGUSR2");
    await until(() => fs.existsSync(report), "the report of the chat");
    return JSON.parse(fs.readFileSync(report, "utf8"));
  } finally {
    spawnSync("tmux", ["-S", socket, "kill-server"]);
    server.closeAllConnections();
    server.close();
    fs.rmSync(directory, { recursive: true, force: true });
  }
}

async function until(isTrue, what) {
  const deadline = Date.now() + GIVE_UP_MS;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(`Waited ${GIVE_UP_MS / 1000} s for ${what}.`);
    await sleep(50);
  }
}

/** A model that reads a file and then answers. */
async function startModel() {
  const event = (delta, finish = null) =>
    `data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const call = { index: 0, id: "1", type: "function" };
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    const hasResult = /"role":"tool"/.test(body);
    const function_ = { name: "read_file", arguments: '{"path":"a.txt"}' };
    const answer = hasResult
      ? event({ content: "Done." }) + event({}, "stop")
      : event({ tool_calls: [{ ...call, function: function_ }] }) + event({}, "tool_calls");
    response.writeHead(200, { "content-type": "text/event-stream" }).end(`${answer}data: [DONE]\n\n`);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

/** Notes stacks and functions between two signals, then writes the report. */
function watchEffects(report) {
  register(import.meta.url);
  const session = new Session();
  session.connect();
  const post = (method, parameters) => {
    let result;
    session.post(method, parameters, (error, value) => {
      if (error) throw error;
      result = value;
    });
    return result;
  };
  post("Profiler.enable");
  post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

  const passed = new Set();
  let counting = false;
  Error.stackTraceLimit = 300;
  const watch = (owner, name) => {
    const original = owner[name];
    const value = function (...args) {
      if (counting) {
        for (const line of new Error().stack.split("\n")) {
          const [file] = SOURCE.exec(line) ?? [];
          if (file) passed.add(file);
        }
      }
      return original.apply(this, args);
    };
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  };
  watch(http, "request");
  for (const name of ["open", "openSync", "statSync", "lstatSync", "writeSync"]) watch(fs, name);
  for (const name of ["open", "stat", "lstat", "readFile", "writeFile"]) watch(fs.promises, name);
  watch(Object.getPrototypeOf(process.stdout), "write");
  syncBuiltinESMExports();

  process.on("SIGUSR2", () => {
    const { result } = post("Profiler.takePreciseCoverage"); // also sets the counts back to zero
    counting = !counting;
    if (counting) return fs.writeFileSync(`${report}.begun`, "");
    const run = result.flatMap(({ url, functions }) => {
      // The function from the start of a file is the module itself, which also runs if it is only loaded.
      const hasRun = functions.some(({ ranges: [{ startOffset, count }] }) => startOffset > 0 && count > 0);
      return hasRun ? (SOURCE.exec(url) ?? []) : [];
    });
    fs.writeFileSync(`${report}.new`, JSON.stringify({ passed: [...passed].sort(), run: run.sort() }));
    fs.renameSync(`${report}.new`, report);
  });
}

/** Entries whose source is not named like them. */
const ENTRIES = {
  "@agent/core/provider": "core/src/providers/index.ts",
  "@agent/core/replay": "core/src/providers/replay.ts",
  "@agent/cli/config": "cli/src/settings/config/index.ts",
};

function sourceOf(specifier, parent) {
  if (ENTRIES[specifier]) return join(ROOT, "packages", ENTRIES[specifier]);
  // The build of tools-search includes WebAssembly and a program for threads.
  const [, name, entry = "index"] = /^@agent\/(?!tools-search)([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  const base = name
    ? join(ROOT, "packages", name, "src", entry)
    : /^\.\.?\/.*\.js$/.test(specifier) && parent?.startsWith("file:")
      ? join(dirname(fileURLToPath(parent)), specifier.slice(0, -3))
      : undefined;
  return base && [`${base}.ts`, join(base, "index.ts")].find((file) => fs.existsSync(file));
}

export async function resolve(specifier, context, next) {
  const file = sourceOf(specifier, context.parentURL);
  if (file) return { url: pathToFileURL(file).href, format: "module", shortCircuit: true };
  const found = await next(specifier, context);
  const [, name] = /\/packages\/(?!tools-search)([^/]+)\/dist\/index\.js$/.exec(found.url) ?? [];
  if (name === undefined) return found;
  const url = pathToFileURL(join(ROOT, "packages", name, "src/index.ts")).href;
  return { url, format: "module", shortCircuit: true };
}

export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const { transform } = createRequire(join(ROOT, "packages/cli/package.json"))("esbuild");
  const { code } = await transform(fs.readFileSync(fileURLToPath(url), "utf8"), {
    loader: "ts",
    target: "node20",
    // Paths in the sources are relative to the build.
    define: { "import.meta.url": JSON.stringify(url.replace(/\/src\/.*/, "/dist/index.js")) },
  });
  return { format: "module", source: code, shortCircuit: true };
}

if (REPORT !== undefined && process.env.MESSAGE_PATH_LOADED === undefined) {
  process.env.MESSAGE_PATH_LOADED = "1"; // the thread of the loader and child processes load this file too
  watchEffects(REPORT);
}
