import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool } from "@agent/core";
import { type ScriptedAnswer, scriptedProvider } from "@agent/core/replay";
import { createFileEngine, type RunDefinition, type RunEngine, startRun, startWorker } from "@agent/durable";
import { expect, onTestFinished, test, vi } from "vitest";
import { createChatClient } from "../src/client/client.js";
import { createChatHandlers } from "../src/server/handlers.js";
import { toNodeListener } from "../src/server/node.js";
import { type ChatRuns, runChat } from "../src/server/runChat.js";
import type { ChatState } from "../src/state/chatState.js";
import { Page } from "./page.js";

const ignore = () => undefined;
const LIMITS = { idleMs: 1e6, onIdleChange: ignore, onExpired: ignore, onError: ignore };
const CALL = { calls: [{ name: "refund", args: { order: "7" } }] };

/** A definition whose model answers by how far the conversation is, whichever steps were replayed. */
function support(answers: readonly ScriptedAnswer[], paid: string[]): RunDefinition<{ message: string }> {
  const refund = defineTool({
    name: "refund",
    description: "Pays back.",
    input: { type: "object", properties: { order: { type: "string" } } },
    execute: ({ order }) => {
      paid.push(String(order));
      return "Paid.";
    },
  });
  return {
    name: "support",
    version: "1",
    create: ({ input, steps, approve }) => {
      const provider = {
        model: "scripted",
        respond: async (request: Parameters<ReturnType<typeof scriptedProvider>["respond"]>[0]) => {
          const turn = request.messages.filter(({ role }) => role === "assistant").length;
          return await scriptedProvider(answers.slice(turn)).respond(request);
        },
      };
      return {
        agent: new Agent(provider, { tools: [refund], steps, approve }),
        message: input.message,
      };
    },
  };
}

function openEngine(): RunEngine {
  const directory = mkdtempSync(join(tmpdir(), "agent-web-runs-"));
  const engine = createFileEngine(directory);
  onTestFinished(async () => {
    await engine.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return engine;
}

/** A web server in front of the runs; `stop` stops it like a deployment; the runs continue. */
async function serveRuns(engine: RunEngine, definition: RunDefinition<{ message: string }>) {
  const handlers = createChatHandlers({
    identify: (request) => new URL(request.url).searchParams.get("session") ?? undefined,
    open: (id) =>
      runChat({
        runs: engine,
        id,
        start: (message) => startRun(engine, definition, { message }, { id }),
      }),
  });
  const server = createServer(toNodeListener(handlers));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("no port");
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await handlers.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${address.port}/?session=customer-1`, stop };
}

const said = ({ messages }: ChatState): string[] =>
  messages.map((message) =>
    message.role === "user"
      ? `user: ${String(message.content)}`
      : message.blocks
          .map((block) =>
            block.type === "text" ? block.text : block.type === "call" ? `[${block.state}]` : "",
          )
          .join(" "),
  );

test("shows a durable run, keeps its question over a restart of the server, and continues with further messages", async () => {
  const engine = openEngine();
  const paid: string[] = [];
  const definition = support([CALL, "Your money is on its way.", "You are welcome."], paid);
  const first = await serveRuns(engine, definition);
  const page = await Page.open(first.url);
  // No worker runs yet: the message is queued.
  expect((await page.post({ type: "send", content: "Refund order 7." })).status).toBe(202);
  const worker = await startWorker(engine, { definitions: [definition] });
  onTestFinished(() => worker.close());
  await page.until(({ approvals }) => approvals.length === 1);
  expect(said(page.state)).toEqual(["user: Refund order 7.", "[waiting]"]);
  // The id may be a cookie that scripts of the page must not read.
  expect(JSON.stringify(page.events)).not.toContain("customer-1");
  page.close();
  await first.stop();

  const second = await serveRuns(engine, definition);
  const client = createChatClient({ url: second.url });
  const until = async (condition: (state: ChatState) => boolean): Promise<ChatState> =>
    await new Promise((resolve) => {
      const look = (): void => {
        const state = client.getState();
        if (condition(state)) resolve(state);
      };
      onTestFinished(client.subscribe(look));
      look();
    });
  const [question] = (await until(({ approvals }) => approvals.length === 1)).approvals;
  expect(question).toMatchObject({ name: "refund", args: { order: "7" } });
  expect(said(client.getState())).toEqual(["user: Refund order 7.", "[waiting]"]);
  await client.decide(question?.id ?? "", "allow");
  const answered = ["user: Refund order 7.", "[ok] Your money is on its way."];
  expect(said(await until(({ status, messages }) => status === "idle" && messages.length === 2))).toEqual(
    answered,
  );
  expect(paid).toEqual(["7"]);

  await client.send("Thank you.");
  const all = [...answered, "user: Thank you.", "You are welcome."];
  expect(said(await until(({ status, messages }) => status === "idle" && messages.length === 4))).toEqual(
    all,
  );

  // A page that comes later gets all of it from the log.
  const third = await serveRuns(engine, definition);
  const later = await Page.open(third.url);
  onTestFinished(() => later.close());
  await later.until(({ status, messages }) => status === "idle" && messages.length === 4);
  expect(said(later.state)).toEqual(all);
});

test("stops a run, and refuses what a durable run cannot do", async () => {
  const engine = openEngine();
  const definition = support(["Never said."], []);
  const { url } = await serveRuns(engine, definition);
  const page = await Page.open(url);
  onTestFinished(() => page.close());
  await page.post({ type: "send", content: "Hello." });
  expect((await page.post({ type: "regenerate" })).status).toBe(409);
  expect((await page.post({ type: "send", content: [{ type: "text", text: "x" }] })).status).toBe(400);
  expect((await page.post({ type: "decide", id: "none", decision: "allow" })).status).toBe(409);
  expect((await page.post({ type: "stop" })).status).toBe(202);
  await page.until(({ status }) => status === "idle");
  expect((await engine.get("customer-1"))?.state).toBe("cancelled");
});

test("keeps both of two first messages that come at the same time", async () => {
  const engine = openEngine();
  const definition = support(["Never said."], []);
  const start = (message: string) => startRun(engine, definition, { message }, { id: "a" });
  const chat = await runChat({ runs: engine, id: "a", start }).begin(LIMITS);
  onTestFinished(() => chat.close());
  await Promise.all(["One.", "Two."].map((content) => chat.act({ type: "send", content })));
  expect(await engine.get("a")).toMatchObject({ input: { message: "One." }, messages: ["Two."] });
  expect(said(chat.state)).toEqual(["user: One.", "user: Two."]);
});

type Entry = ReturnType<ChatRuns["events"]> extends AsyncIterable<infer One> ? One : never;

/** A run that other servers and a worker change; each answer is complete as soon as its message is there. */
function answeredRun() {
  const run = { state: "done", input: "First.", messages: [] as string[], approvals: [] };
  const log: Entry[] = [];
  let exists = false;
  const answer = (text: string): void => {
    const usage = { inputTokens: 1, outputTokens: 1 };
    const events = [
      { type: "text" as const, text },
      { type: "done" as const, text, turns: 1, finishReason: "stop", usage },
    ];
    for (const event of events) log.push({ cursor: `${log.length}`, event } as Entry);
  };
  const start = async (): Promise<void> => {
    exists = true;
    answer("Answer 0.");
  };
  const runs: ChatRuns = {
    get: async () => (exists ? { ...run } : undefined),
    async *events(_id, { after }) {
      yield* log.slice(after === undefined ? 0 : Number(after) + 1);
    },
    send: async (_id, message) => {
      run.messages.push(message);
      answer(`Answer ${run.messages.length}.`);
      return true;
    },
    decide: async () => false,
    cancel: async () => false,
    retry: async () => false,
  };
  return { runs, start };
}

test("shows what another server started and sent, however short the answers are", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { runs, start } = answeredRun();
  const open = async () => {
    const chat = await runChat({ runs, id: "a", start }).begin(LIMITS);
    onTestFinished(() => chat.close());
    return chat;
  };
  const [watching, sending] = [await open(), await open()];
  watching.follow({ event: () => undefined, end: () => undefined });
  await start();
  await vi.advanceTimersByTimeAsync(2000);
  const all = ["user: First.", "Answer 0."];
  expect(said(watching.state)).toEqual(all);
  await runs.send("a", "Second.");
  await vi.advanceTimersByTimeAsync(2000);
  all.push("user: Second.", "Answer 1.");
  expect(said(watching.state)).toEqual(all);
  // No page was open on this server, so that it knows of nothing yet.
  await sending.act({ type: "send", content: "Third." });
  await vi.advanceTimersByTimeAsync(2000);
  all.push("user: Third.", "Answer 2.");
  expect([said(sending.state), said(watching.state)]).toEqual([all, all]);
});
