import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  type ChatProvider,
  type ChatRequest,
  type ChatResponse,
  Conversation,
  createToolRegistry,
  type ExecutableTool,
} from "@agent/core";
import { Permissions } from "@agent/core/host";
import { functionTool, requireString } from "@agent/core/toolkit";
import type { ChatOptions } from "@agent/terminal/host";
import { createChat } from "@agent/terminal/host";
import { SwitchableProvider } from "../src/assembly/provider/switchable.js";
import { modelCommands } from "../src/chat/commands/modelCommands.js";
import { permissionCommands } from "../src/chat/commands/permissionCommands.js";
import { undoCommands } from "../src/chat/commands/undoCommands.js";
import { createGate } from "../src/permissions/gate.js";
import { ProjectGrants } from "../src/permissions/grants.js";
import { UndoLog } from "../src/undo/undoLog.js";

/**
 * The chat with a scripted model, for tests in a real terminal. A message is a script, one step per line: `call TOOL
 * {json}` (all of them in one turn), `say TEXT` (as an answer, and ends), `write TEXT` (and continues), `break` (the
 * stream fails and starts again), `pause FILE` (until it exists), `hang`, `fail TEXT`, `crash`. `\n`, `\xNN` and
 * `\uNNNN` in a text are unescaped.
 */
const provider: ChatProvider = {
  model: "scripted",
  async respond(request) {
    const last = request.messages.at(-1);
    if (last?.role === "tool") return answer(request, "That is all.");
    const script = typeof last?.content === "string" ? last.content.split("\n") : [];
    const calls = script.filter((line) => line.startsWith("call "));
    for (const line of script) {
      const [word = "", rest = ""] = [line.split(" ", 1)[0], line.slice(line.indexOf(" ") + 1)];
      if (word === "write") request.onText?.(decode(rest));
      if (word === "break") request.onRetry?.({ attempt: 1, delayMs: 0, reason: "the stream broke off" });
      if (word === "pause") while (!existsSync(rest)) await wait(20);
      if (word === "hang") await new Promise(() => undefined);
      if (word === "fail") throw new Error(decode(rest));
      if (word === "crash") {
        setTimeout(() => {
          throw new Error("the program has a bug");
        }, 0);
        await new Promise(() => undefined);
      }
      if (word === "say") return await answer(request, decode(rest));
    }
    if (calls.length === 0) return await answer(request, `You said ${JSON.stringify(last?.content)}.`);
    return {
      content: null,
      finishReason: "tool_calls",
      toolCalls: calls.map((line, index) => {
        const [, name = "", args = "{}"] = /^call (\S+) ?(.*)$/.exec(line) ?? [];
        const id = `call_${request.messages.length}_${index}`;
        return { id, type: "function", function: { name, arguments: args } };
      }),
      usage: { inputTokens: 1000, outputTokens: 20 },
    };
  },
};

async function answer(request: ChatRequest, text: string): Promise<ChatResponse> {
  for (const piece of text.match(/\s*\S+\s*/g) ?? []) {
    request.onText?.(piece);
    await wait(1);
  }
  const usage = { inputTokens: 1234, outputTokens: 56 };
  return { content: text, toolCalls: [], finishReason: "stop", usage };
}

function decode(text: string): string {
  return text
    .replaceAll("\\n", "\n")
    .replace(/\\x([0-9a-f]{2})|\\u([0-9a-f]{4})/g, (_, x, u) =>
      String.fromCharCode(Number.parseInt(x ?? u, 16)),
    );
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Runs real commands, with the result and report of the real tool. */
const runBash: ExecutableTool = {
  name: "run_bash",
  // Any two words make a rule.
  permissions: {
    check: () => undefined,
    match: (patterns, targets) =>
      patterns.map((pattern) =>
        targets.map((target) =>
          target.type === "command" && target.text.startsWith(pattern.replace(/ \*$/, ""))
            ? "covers"
            : "none",
        ),
      ),
  },
  describeCall: (args) => {
    const command = requireString(args, "command");
    const pattern = `${command.split(" ", 2).join(" ")} *`;
    return { targets: [{ type: "command", text: command }], always: [{ pattern, label: pattern }] };
  },
  capabilities: ["execute"],
  getSchema: () =>
    functionTool("run_bash", "Run a shell command.", {
      command: { type: "string", description: "The command" },
    }),
  execute: (args, call) =>
    new Promise((resolve) => {
      const child = spawn("sh", ["-c", requireString(args, "command")], {
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      if (child.pid !== undefined) call?.onProcess?.(child.pid);
      const output = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const) {
        child[name].on("data", (chunk: Buffer) => {
          output[name] += chunk;
          call?.onOutput(String(chunk));
        });
      }
      call?.signal.addEventListener("abort", () => {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      });
      child.on("close", (status) => {
        // The fixture kills commands only with SIGKILL.
        const code = status ?? 137;
        const view = { type: "output" as const, text: output.stdout + output.stderr, exitCode: code };
        call?.report?.({ ok: code === 0, summary: `exit code ${code}`, view });
        resolve(JSON.stringify({ ...output, exit_code: code }));
      });
    }),
};

const editFile: ExecutableTool = {
  name: "edit_file",
  capabilities: ["write"],
  getSchema: () =>
    functionTool("edit_file", "Edit a file.", { path: { type: "string", description: "The file" } }),
  execute: async (args, call) => {
    const path = requireString(args, "path");
    const hunks = [{ oldStart: 1, newStart: 1, lines: [" same", "-old", "+new"] }];
    const file = { path, change: "edited" as const, added: 1, removed: 1, hunks };
    call?.report?.({ ok: true, view: { type: "diff", files: [file] } });
    return `Edited ${path}`;
  },
};

const readNote: ExecutableTool = {
  name: "read_note",
  capabilities: ["read"],
  getSchema: () =>
    functionTool("read_note", "Read a note, slowly.", { path: { type: "string", description: "The gate" } }),
  execute: async (args) => {
    const path = requireString(args, "path");
    while (!existsSync(path)) await wait(20);
    return `note ${path}`;
  },
};

const jobs = new Map([["job-1", "npm run dev"]]);
const startedAt = Date.now() - 65_000;
const conversation = new Conversation({ sessionContextFilePath: "agent-session-chat.jsonl" });
const registry = createToolRegistry(conversation, [
  {
    packName: "fixture",
    register(pack) {
      pack.register(runBash);
      pack.register(editFile);
      pack.register(readNote, { enabled: process.env.CHAT_NOTES === "on" });
      pack.provide?.({
        jobs: {
          list: () => [...jobs].map(([id, command]) => ({ id, command, pids: [4242, 4243], startedAt })),
          end: async (id) => jobs.delete(id),
        },
      });
    },
  },
]);
const state = mkdtempSync(join(tmpdir(), "agent-chat-state-"));
const chat = createChat({
  historyFile: process.env.CHAT_HISTORY,
  mentions: { cwd: process.cwd(), imageDirectory: join(state, "images") },
});
const confirm = new Set((process.env.CHAT_CONFIRM ?? "").split(",").filter(Boolean));
const permissions = new Permissions({
  registry,
  confirm,
  rules: { allow: [], ask: [], deny: [] },
  grants: new ProjectGrants(join(state, "permissions"), process.cwd()),
  mode: "auto",
  root: process.cwd(),
});
const switchable = new SwitchableProvider(provider);
const undoLog = new UndoLog(join(state, "undo"), process.cwd());
const undo = () => undoLog;
const options: ChatOptions = {
  banner: ["A scripted model answers."],
  model: () => switchable.model,
  turns: { begin: (message) => undoLog.beginTurn(message), end: () => undoLog.endTurn() },
  commands: {
    ...undoCommands({ undo }),
    ...permissionCommands({ permissions }),
    ...modelCommands({
      provider: switchable,
      chosen: { withModel: async (model) => ({ ...provider, model }) },
    }),
  },
  explainTool: () => "by default",
  contextTokens: () => 10_000,
};
const gate = createGate({
  permissions,
  ask: chat.ask,
  undo,
  onProblem: chat.notice,
});
const agent = new Agent(switchable, {
  conversation,
  registry,
  rules: gate.rules,
  approve: gate.approve,
  hooks: [gate.hooks],
});
process.exitCode = await chat.run(async (left) => {
  const { CHAT_GATE: file, CHAT_ENDED: ended } = process.env;
  while (file !== undefined && !existsSync(file) && !left.aborted) await wait(20);
  if (process.env.CHAT_BROKEN) throw new Error(process.env.CHAT_BROKEN);
  return { agent, permissions, options, end: async () => void (ended && writeFileSync(ended, "")) };
});
process.stdout.write(`left with ${process.exitCode}\n`);
// Background processes of a tool must not delay the test.
process.exit();
