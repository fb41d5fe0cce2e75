// Draws docs/images/chat.svg from a real session: the built command in tmux, in a small project, with a model server
// on this machine that gives three prepared answers.
//   node scripts/chatPicture.mjs
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TITLE = "A chat: the agent searches, edits a file and runs the tests";
const TASK = "read the port from the environment, and run the tests";
const PORT = 8000;
const GIVE_UP_MS = 60_000;
const fromRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const PROJECT = {
  "package.json": '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n',
  "src/server.js":
    'import { createServer } from "node:http";\nimport { routes } from "./routes.js";\n\nconst port = 3000;\n\nexport const server = createServer(routes);\nserver.listen(port);\n',
  "src/routes.js": 'export const routes = (_, response) => response.end("hello");\n',
  "test/port.test.js":
    'import assert from "node:assert/strict";\nimport { once } from "node:events";\nimport { test } from "node:test";\n\ntest("listens on PORT", async () => {\n  process.env.PORT = "4321";\n  const { server } = await import("../src/server.js");\n  if (!server.listening) await once(server, "listening");\n  assert.equal(server.address().port, 4321);\n  server.close();\n});\n',
};

const ANSWERS = [
  {
    text: "I will look for where the port is set.",
    calls: [
      ["search_text", { query: "port", paths: ["src"] }],
      ["read_file", { path: "src/server.js" }],
      ["read_file", { path: "test/port.test.js" }],
    ],
    usage: [3200, 90, 0],
  },
  {
    text: "It is hard-coded in `src/server.js`. I will read it from the environment and run the tests.",
    calls: [
      [
        "edit_file",
        {
          path: "src/server.js",
          old_text: "const port = 3000;",
          new_text: "const port = Number(process.env.PORT ?? 3000);",
        },
      ],
      ["run_bash", { command: "npm test --silent" }],
    ],
    usage: [4200, 120, 2400],
  },
  {
    text: "The server now listens on `PORT`, or on 3000 without one. The tests pass.",
    calls: [],
    usage: [4600, 60, 3200],
  },
];

const home = mkdtempSync(join(tmpdir(), "agent-picture-"));
const project = join(home, "shop");
for (const [path, text] of Object.entries(PROJECT)) {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
}
const answers = ANSWERS[Symbol.iterator]();
const server = createServer((request, response) => {
  request.resume().on("end", () => answer(answers.next().value, response));
}).listen(PORT, "127.0.0.1");
await once(server, "listening");

const tmux = (...words) => execFileSync("tmux", ["-S", join(home, "socket"), ...words], { encoding: "utf8" });
try {
  const env = [
    ...[`HOME=${home}`, `OPENAI_BASE_URL=http://127.0.0.1:${PORT}/v1`, "OPENAI_API_KEY=none"],
    ...["AGENT_MODEL=qwen3-coder", "AGENT_LOCAL_PORTS="],
  ];
  const bin = fromRoot("packages/cli/bin.js");
  const command = [process.execPath, bin, "--enable", "run_bash", "--mode", "auto", "--no-sandbox"];
  const window = ["new-session", "-d", "-x", "96", "-y", "41", "-c", project];
  tmux("-f", "/dev/null", ...window, "env", ...env, ...command);
  await shown("/help lists the commands.");
  tmux("send-keys", "-l", TASK);
  tmux("send-keys", "Enter");
  await shown("The tests pass.");
  await shown("3 requests");
  const screen = tmux("capture-pane", "-ep");
  const drawn = execFileSync(process.execPath, [fromRoot("scripts/terminalSvg.mjs"), TITLE], {
    input: screen,
  });
  writeFileSync(fromRoot("docs/images/chat.svg"), drawn);
} finally {
  try {
    tmux("kill-server");
  } catch {
    // No server was started, or it has ended: the reason is the error that is thrown already.
  }
  server.closeAllConnections();
  server.close();
  rmSync(home, { recursive: true, force: true });
}

async function shown(text) {
  const deadline = Date.now() + GIVE_UP_MS;
  while (!tmux("capture-pane", "-p").includes(text)) {
    if (Date.now() > deadline) throw new Error(`Never shown: ${text}\n${tmux("capture-pane", "-p")}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** An answer as a server streams it. */
function answer({ text, calls, usage: [prompt_tokens, completion_tokens, cached_tokens] }, response) {
  const tool_calls = calls.map(([name, args], index) => ({
    index,
    id: `call_${name}_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const chunks = [
    { choices: [{ index: 0, delta: { content: text, ...(calls.length > 0 && { tool_calls }) } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }] },
    {
      choices: [],
      usage: { prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens } },
    },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  response.end("data: [DONE]\n\n");
}
