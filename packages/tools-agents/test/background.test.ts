import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Agent,
  type ApprovalRequest,
  type ChatProvider,
  type ChildAgentAnswer,
  defineTool,
  type WakeNotice,
} from "@agent/core";
import { expect, onTestFinished, test } from "vitest";
import { BackgroundAgents, type Ending } from "../src/background.js";
import * as agents from "../src/index.js";

const save = defineTool({
  name: "save",
  description: "Saves.",
  input: { type: "object", properties: {} },
  capabilities: ["write"],
  execute: () => "saved",
});

/** A promise and the function that resolves it. */
function signal<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/**
 * A model that does what the last message of the user says: `start` starts a worker in the background, `work` saves and
 * answers when it is released, `send ID` continues one, anything else is answered.
 */
function setUp(
  options: {
    readonly wake?: boolean;
    readonly approve?: (one: ApprovalRequest) => unknown;
    readonly maxTurns?: number;
    /** Where conversations are stored. */
    readonly directory?: string;
  } = {},
) {
  const released = signal();
  const notices: WakeNotice[] = [];
  const woken = signal<WakeNotice>();
  const provider: ChatProvider = {
    model: "m",
    async respond({ messages }) {
      const at = messages.findLastIndex(({ role }) => role === "user");
      const text = String(messages[at]?.content);
      const isFirst = messages.slice(at + 1).length === 0;
      const call = (name: string, args: object) => ({
        content: null,
        toolCalls: [
          { id: "c1", type: "function" as const, function: { name, arguments: JSON.stringify(args) } },
        ],
        finishReason: "tool_calls" as const,
      });
      if (isFirst && text === "start")
        return call("agent_run", { agent: "worker", task: "work", background: true });
      if (isFirst && text.startsWith("send "))
        return call("agent_send", { id: text.slice(5), message: "more" });
      if (isFirst && text === "work") return call("save", {});
      if (text === "work") await released.promise;
      const usage = { inputTokens: 10, outputTokens: 5 };
      return { content: `answer to ${text}`, toolCalls: [], finishReason: "stop", usage };
    },
  };
  const agent = new Agent(provider, {
    packs: [agents, save],
    ...(options.directory !== undefined && { directories: { project: options.directory } }),
    ...(options.maxTurns !== undefined && { maxTurns: options.maxTurns }),
    ...(options.approve && {
      approve: async (request) => ((await options.approve?.(request)) ?? "allow") as "allow",
    }),
    ...(options.wake !== false && {
      host: {
        wake: (notice: WakeNotice) => {
          notices.push(notice);
          woken.resolve(notice);
        },
      },
    }),
  });
  onTestFinished(async () => {
    released.resolve();
    await agent.dispose();
  });
  const lastResult = (): string => {
    const message = agent.context.sessionContext.findLast(({ role }) => role === "tool");
    return String(message?.content);
  };
  const idOf = (): string => /agent (worker-\w+)/.exec(lastResult())?.[1] ?? "";
  return { agent, released, notices, woken, lastResult, idOf, jobs: agent.registry.services.jobs };
}

test("works while the conversation continues, is listed, and reports its end by waking the host", async () => {
  const { agent, released, notices, woken, lastResult, idOf, jobs } = setUp();
  expect(await agent.chat("start")).toBe("answer to start");
  expect(lastResult()).toMatch(/^Started the agent worker-\w+ in the background\. You will get its answer/);
  const id = idOf();
  expect(jobs.list()).toMatchObject([{ id, command: expect.stringContaining("worker: work"), pids: [] }]);
  expect(await agent.chat("hello")).toBe("answer to hello");
  await agent.chat(`send ${id}`);
  expect(lastResult()).toContain("is still working. You will get its answer when it has ended.");
  expect(notices).toEqual([]);
  released.resolve();
  const notice = await woken.promise;
  expect(notice).toMatchObject({
    source: id,
    text: expect.stringMatching(
      /^The agent worker-\w+ has ended\.\n\nanswer to work\n\n\[agent .*1 call, 15 tokens/,
    ),
  });
  expect(jobs.list()).toMatchObject([{ id, ended: "answered" }]);
  await agent.chat(`send ${id}`);
  expect(lastResult()).toContain("answer to more");
});

test("asks under its name while no message is answered, and waits for a user who has left", async () => {
  const asked = signal<ApprovalRequest>();
  const back = signal();
  const { agent, released, woken } = setUp({
    approve: async (request) => {
      if (request.name !== "save") return "allow";
      asked.resolve(request);
      await back.promise;
      return "allow";
    },
  });
  released.resolve();
  await agent.chat("start");
  expect(await asked.promise).toMatchObject({ name: "save", label: "worker" });
  // The user is away: other messages are answered, and the question is neither lost nor answered.
  expect(await agent.chat("hello")).toBe("answer to hello");
  back.resolve();
  expect((await woken.promise).text).toContain("answer to work");
});

test("is stopped by its name, without a notice, and cannot be continued", async () => {
  const { agent, notices, lastResult, idOf, jobs } = setUp();
  await agent.chat("start");
  const id = idOf();
  expect(await jobs.end(id)).toBe(true);
  expect(jobs.list()).toMatchObject([{ id, ended: "stopped" }]);
  expect(await jobs.end(id)).toBe(false);
  expect(await jobs.end("worker-unknown")).toBe(false);
  await agent.chat(`send ${id}`);
  expect(lastResult()).toContain("the user stopped the agent");
  expect(notices).toEqual([]);
});

test.for(["its user stops it", "the chat is left"] as const)(
  "keeps its work when %s, and is continued in a later process",
  async (how) => {
    const directory = mkdtempSync(join(tmpdir(), "agent-background-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const { agent, notices, idOf, jobs } = setUp({ directory });
    const saved = signal();
    agent.onBackgroundEvent(({ event }) => event.type === "tool_end" && saved.resolve());
    await agent.chat("start");
    await saved.promise;
    if (how === "the chat is left") await agent.dispose();
    else await jobs.end(idOf());
    const later = setUp({ directory });
    await later.agent.chat(`send ${idOf()}`);
    expect(later.lastResult()).toContain("answer to more");
    expect(notices).toEqual([]);
  },
);

test("reports the answer of an agent whose call was denied", async () => {
  const { agent, released, woken } = setUp({
    approve: ({ name }) => (name === "save" ? { deny: "not now" } : "allow"),
  });
  released.resolve();
  await agent.chat("start");
  expect((await woken.promise).text).toContain("answer to work");
});

test("names an agent that failed, and its conversation can be continued", async () => {
  const { agent, released, woken } = setUp({ maxTurns: 1 });
  released.resolve();
  await agent.chat("start").catch(() => undefined);
  const { text } = await woken.promise;
  expect(text).toMatch(
    /^The agent worker-\w+ failed: Stopped after 1 turns .*\[agent worker-\w+: agent_send continues it\.\]/,
  );
});

test("runs in the foreground where no host can wake, and says so", async () => {
  const { agent, released, lastResult, jobs } = setUp({ wake: false });
  released.resolve();
  await agent.chat("start");
  expect(lastResult()).toContain("answer to work");
  expect(lastResult()).toContain(
    "[Agents of this program cannot work in the background: it ran in the foreground and has ended.]",
  );
  expect(jobs.list()).toEqual([]);
});

test("reports an answer that cannot be passed on as a failure, and leaves no rejection unhandled", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const background = new BackgroundAgents();
  const endings: Ending[] = [];
  const answer = { text: "the answer" } as ChildAgentAnswer;
  background.start(
    "worker-1",
    "work",
    () => ({ done: Promise.resolve(answer), stop: () => undefined }),
    (ending) => {
      endings.push(ending);
      throw new Error("the conversation is closed");
    },
  );
  const isStopped = false;
  await expect
    .poll(() => endings)
    .toEqual([
      { answer, isStopped },
      { error: new Error("the conversation is closed"), isStopped },
    ]);
  // Node.js reports rejections before the next timer.
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
  expect(background.list()).toMatchObject([{ id: "worker-1", ended: "failed" }]);
});
