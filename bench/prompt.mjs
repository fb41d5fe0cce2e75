// How many tokens the first request of a task has, before the user's own words count: the system prompt and the tools.
// One tokenizer (o200k_base) for all. Build first, then: pnpm bench prompt
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createReport } from "./support/report.mjs";

const BIN = fileURLToPath(new URL("../packages/cli/bin.js", import.meta.url));
// Installed outside the repository and kept between runs: the peers are large.
const PEERS_FOLDER = join(tmpdir(), "agent-bench-prompt");
const TASK = "Say hello.";
const LONGEST_MS = 60_000;

const PEERS = [
  {
    name: "pi",
    pack: "@earendil-works/pi-coding-agent",
    program: "pi",
    files: (url) => ({
      ".pi/agent/models.json": {
        providers: {
          local: {
            baseUrl: url,
            api: "openai-completions",
            apiKey: "none",
            models: [{ id: "m", contextWindow: 128_000, maxTokens: 4096 }],
          },
        },
      },
    }),
    args: () => ["-p", "--provider", "local", "--model", "m", TASK],
  },
  {
    name: "opencode",
    pack: "opencode-ai",
    program: "opencode",
    files: (url) => ({
      ".config/opencode/opencode.json": {
        autoupdate: false,
        provider: {
          local: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: url, apiKey: "none" },
            models: { m: { name: "m" } },
          },
        },
      },
    }),
    args: () => ["run", "-m", "local/m", "--title", "t", TASK],
  },
  {
    name: "codex",
    pack: "@openai/codex",
    program: "codex",
    files: () => ({}),
    args: (url) => [
      "exec",
      "--skip-git-repo-check",
      "-c",
      'model_provider="local"',
      "-c",
      `model_providers.local={ name = "local", base_url = "${url}", wire_api = "responses" }`,
      "-m",
      "m",
      TASK,
    ],
  },
  {
    name: "qwen-code",
    pack: "@qwen-code/qwen-code",
    program: "qwen",
    files: () => ({}),
    args: () => ["--auth-type", "openai", "-p", TASK],
  },
];

mkdirSync(PEERS_FOLDER, { recursive: true });
const packs = ["js-tiktoken", ...PEERS.map(({ pack }) => pack)].filter(
  (pack) => !existsSync(join(PEERS_FOLDER, "node_modules", pack)),
);
if (packs.length > 0) {
  const flags = ["--no-audit", "--no-fund", "--legacy-peer-deps", "--prefix", PEERS_FOLDER];
  execFileSync("npm", ["install", ...flags, ...packs], { stdio: ["ignore", "ignore", "inherit"] });
}
const { getEncoding } = createRequire(join(PEERS_FOLDER, "index.js"))("js-tiktoken");
const encoding = getEncoding("o200k_base");

const requests = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  if (request.method === "POST") requests.push(JSON.parse(body));
  // An error ends every program after its first request; what it sent is all that is measured.
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message: "measured", type: "invalid_request_error" } }));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}/v1`;

const report = createReport("prompt", "The first request");
measure(
  "agent",
  undefined,
  await firstRequest([process.execPath, BIN, "--no-session", "--enable", "run_bash", TASK], {}),
);
for (const { name, pack, program, files, args } of PEERS) {
  const version = JSON.parse(
    readFileSync(join(PEERS_FOLDER, "node_modules", pack, "package.json"), "utf8"),
  ).version;
  const argv = [join(PEERS_FOLDER, "node_modules/.bin", program), ...args(url)];
  measure(`${name} ${version}`, name, await firstRequest(argv, files(url)));
}
server.close();
report.save();

/** Runs a program in an empty project and home until it has sent its first request with tools. */
async function firstRequest([command, ...args], files) {
  const home = mkdtempSync(join(tmpdir(), "agent-bench-prompt-home-"));
  const project = join(home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  for (const [path, value] of Object.entries(files)) {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), JSON.stringify(value));
  }
  requests.length = 0;
  const child = spawn(command, args, {
    cwd: project,
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
    timeout: LONGEST_MS,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      OPENAI_BASE_URL: url,
      OPENAI_API_KEY: "none",
      OPENAI_MODEL: "m",
      AGENT_MODEL: "m",
      AGENT_LOCAL_PORTS: "",
    },
  });
  let errors = "";
  child.stderr.on("data", (text) => {
    errors += text;
  });
  await new Promise((resolve) => child.on("close", resolve).on("error", resolve));
  try {
    // Programs that a peer left running belong to its process group.
    process.kill(-child.pid, "SIGKILL");
  } catch {}
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  const found = requests.find(({ tools }) => tools?.length > 0);
  return found ?? { failure: errors.trim().split("\n").at(-1) || "it sent no request with tools" };
}

function measure(label, who, request) {
  if (request.failure !== undefined) {
    report.leaveOut(label, request.failure);
    return;
  }
  const tools = request.tools.reduce((sum, tool) => sum + encoding.encode(JSON.stringify(tool)).length, 0);
  const texts = [request.instructions, ...(request.messages ?? request.input ?? []).flatMap(textsOf)];
  const prompt = texts.filter(Boolean).reduce((sum, text) => sum + encoding.encode(text).length, 0);
  report.add({
    work: "tokens of the first request",
    ...(who !== undefined && { who: label }),
    unit: "tokens",
    ...(who === undefined && { reach: "≤ 2600" }),
    values: [prompt + tools],
    note: `${request.tools.length} tools ${tools}, prompt ${prompt}`,
  });
}

function textsOf({ content }) {
  return typeof content === "string" ? [content] : (content ?? []).map(({ text }) => text);
}
