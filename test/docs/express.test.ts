import { type ChildProcessWithoutNullStreams, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type ChatEvent, type ChatState, EMPTY_CHAT, reduceChat } from "@agent/web";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { codeBlocks } from "./markdown.js";
import { ROOT } from "./pages.js";
import { Workplace } from "./workplace.js";

const [PROGRAM = ""] = codeBlocks(join(ROOT, "packages/web/README.md"), "js");
const COMMAND = "echo made > made.txt; cat made.txt";

const model = new LLMock({ port: 0 });
model.on(
  { userMessage: "Make it", hasToolResult: false },
  { toolCalls: [{ name: "run_bash", arguments: JSON.stringify({ command: COMMAND }) }] },
);
model.on({ userMessage: "Make it", toolResultContains: "made" }, { content: "It is made." });
model.on({ userMessage: "Who are you?" }, { content: "An agent." });
beforeAll(async () => void (await model.start()));
afterAll(() => model.stop());

/** The program of the README, as a process; resolves to its address. */
async function start(workplace: Workplace): Promise<{ url: string; server: ChildProcessWithoutNullStreams }> {
  workplace.write("server.js", PROGRAM);
  const server = workplace.start(process.execPath, ["server.js"], { ...workplace.vendors, PORT: "0" });
  onTestFinished(() => void server.kill("SIGKILL"));
  const [port] = await once(server.stdout.setEncoding("utf8"), "data");
  return { url: `http://127.0.0.1:${String(port).trim()}/api/chat`, server };
}

/** What the page of a user shows once `isReady`. */
async function watch(url: string, user: string, isReady: (state: ChatState) => boolean): Promise<ChatState> {
  const leave = new AbortController();
  const response = await fetch(url, { headers: { "x-user": user }, signal: leave.signal });
  let state: ChatState = EMPTY_CHAT;
  let text = "";
  for await (const piece of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += piece;
    const records = text.split("\n\n");
    text = records.pop() ?? "";
    for (const record of records.filter((one) => one.startsWith("data: "))) {
      state = reduceChat(state, JSON.parse(record.slice("data: ".length)) as ChatEvent);
    }
    if (isReady(state)) break;
  }
  leave.abort();
  return state;
}

async function post(url: string, user: string, action: object): Promise<number> {
  const headers = { "x-user": user, "content-type": "application/json" };
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(action) })).status;
}

test("keeps users apart, asks first, and continues after a restart in the Express app of the README of @agent/web", async () => {
  const workplace = Workplace.create(model);
  const first = await start(workplace);
  expect((await fetch(first.url)).status).toBe(403);
  expect(await post(first.url, "ann", { type: "send", content: "Make it." })).toBe(202);
  const asked = await watch(first.url, "ann", ({ approvals }) => approvals.length > 0);
  expect(asked.approvals).toMatchObject([{ name: "run_bash", args: { command: COMMAND } }]);
  const other = await watch(first.url, "bob", () => true);
  expect(other.messages).toEqual([]);

  // The server is deployed anew while the call waits.
  first.server.kill("SIGTERM");
  expect(await once(first.server, "exit")).toEqual([0, null]);
  const second = await start(workplace);
  const again = await watch(second.url, "ann", ({ approvals }) => approvals.length > 0);
  const [approval] = again.approvals;
  expect(await post(second.url, "ann", { type: "decide", id: approval?.id, decision: "allow" })).toBe(202);
  const done = await watch(second.url, "ann", ({ status }) => status === "idle");
  expect(JSON.stringify(done.messages)).toContain("It is made.");
  expect(spawnSync("cat", ["made.txt"], { cwd: workplace.directory, encoding: "utf8" }).stdout).toBe(
    "made\n",
  );

  expect(await post(second.url, "bob", { type: "send", content: "Who are you?" })).toBe(202);
  const bob = await watch(
    second.url,
    "bob",
    ({ status, messages }) => status === "idle" && messages.length > 1,
  );
  expect(JSON.stringify(bob.messages)).not.toContain("made");
});
