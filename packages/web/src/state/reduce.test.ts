import type { AgentEvent } from "@agent/core";
import { expect, test } from "vitest";
import type { ChatEvent } from "../events.js";
import { type CallBlock, type ChatState, EMPTY_CHAT } from "./chatState.js";
import { chatStateOf } from "./fromMessages.js";
import { reduceChat } from "./reduce.js";

const USAGE = { inputTokens: 3, outputTokens: 2 };

function reduceAll(events: readonly ChatEvent[], from: ChatState = EMPTY_CHAT): ChatState {
  return events.reduce(reduceChat, from);
}

function requested(id: string, name = "run_bash"): AgentEvent {
  return { type: "tool_requested", id, name, args: { command: "ls" } };
}

function ended(id: string, text = "done"): AgentEvent {
  return { type: "tool_end", id, name: "run_bash", outcome: "ok", text, durationMs: 5 };
}

function lastCall(state: ChatState): CallBlock | undefined {
  const message = state.messages.at(-1);
  const call =
    message?.role === "assistant" ? message.blocks.findLast(({ type }) => type === "call") : undefined;
  return call?.type === "call" ? call : undefined;
}

test("shows an answer as one message with its text and calls in the order they came", () => {
  const state = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    { type: "text", text: "I " },
    { type: "text", text: "look." },
    requested("a"),
    { type: "tool_start", id: "a", name: "run_bash", args: { command: "ls -a" } },
    { type: "tool_output", id: "a", name: "run_bash", chunk: "one\n" },
    ended("a"),
    { type: "text", text: "Done." },
    { type: "done", text: "Done.", finishReason: "stop", turns: 2, usage: USAGE },
  ]);
  expect(state).toEqual({
    status: "idle",
    approvals: [],
    questions: [],
    usage: USAGE,
    messages: [
      { role: "user", id: "m1", content: "go" },
      {
        role: "assistant",
        id: "answer-m1",
        blocks: [
          { type: "text", text: "I look." },
          {
            type: "call",
            id: "a",
            name: "run_bash",
            args: { command: "ls -a" },
            state: "ok",
            output: "one\n",
            text: "done",
            durationMs: 5,
          },
          { type: "text", text: "Done." },
        ],
      },
    ],
  });
});

test("shows a call while the model writes it, which becomes the requested call", () => {
  const writing = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    { type: "tool_draft", index: 0, name: "write_file", delta: '{"path":' },
    { type: "tool_draft", index: 0, name: "write_file", delta: '"a"' },
  ]);
  expect(lastCall(writing)).toMatchObject({ state: "writing", name: "write_file", draft: '{"path":"a"' });
  const asked = reduceAll([requested("x", "write_file")], writing);
  expect(lastCall(asked)).toMatchObject({ id: "x", state: "requested" });
  expect(asked.messages.at(-1)).toMatchObject({ blocks: [{ id: "x" }] });
});

test("shows a call as waiting only until it is decided", () => {
  const description = { title: "", kind: "execute", needs: [] } as const;
  const request = { id: "q1", callId: "a", name: "run_bash", args: {}, capabilities: [], description };
  const waiting = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    requested("a"),
    { type: "approval", request },
  ]);
  expect(waiting.approvals).toEqual([request]);
  expect(lastCall(waiting)?.state).toBe("waiting");
  const decided = reduceAll([{ type: "decided", id: "q1" }, ended("a")], waiting);
  expect(decided.approvals).toEqual([]);
  expect(lastCall(decided)?.state).toBe("ok");
});

test("removes text and drafts of an attempt that is retried, and keeps finished calls", () => {
  const state = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    requested("a"),
    ended("a"),
    { type: "text", text: "half an ans" },
    { type: "tool_draft", index: 0, name: "mkdir", delta: "{" },
    { type: "retry", attempt: 1, delayMs: 500, reason: "the connection was lost" },
  ]);
  expect(state.retry).toEqual({ attempt: 1, delayMs: 500, reason: "the connection was lost" });
  expect(state.messages.at(-1)).toMatchObject({ blocks: [{ type: "call", id: "a", state: "ok" }] });
  expect(reduceAll([{ type: "text", text: "whole" }], state).retry).toBeUndefined();
});

test("keeps what was written of a stopped answer and marks it", () => {
  const state = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    { type: "text", text: "half" },
    { type: "stopping" },
    { type: "stopped" },
  ]);
  expect(state.status).toBe("idle");
  expect(state.messages.at(-1)).toEqual({
    role: "assistant",
    id: "answer-m1",
    blocks: [{ type: "text", text: "half" }],
    stopped: true,
  });
});

test("shows why a message failed until the next one is sent", () => {
  const failed = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    { type: "failed", message: "no key" },
  ]);
  expect(failed).toMatchObject({ status: "idle", error: "no key" });
  expect(reduceAll([{ type: "sent", id: "m1", content: "again" }], failed)).not.toHaveProperty("error");
});

test("blocks of child agents are nested under the call that started them", () => {
  const child = (event: AgentEvent): AgentEvent => ({
    type: "child",
    id: "a",
    child: 1,
    label: "reader",
    elapsedMs: event.type === "done" ? 2500 : 1000,
    event,
  });
  const state = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    requested("a"),
    child({ type: "text", text: "reading" }),
    child(requested("b")),
    child(ended("b")),
    child({ type: "usage", usage: USAGE, total: { inputTokens: 100, outputTokens: 20 } }),
    child({ type: "done", text: "reading", finishReason: "stop", turns: 1, usage: USAGE }),
  ]);
  expect(lastCall(state)?.children).toEqual([
    { blocks: [] },
    {
      label: "reader",
      tokens: 120,
      elapsedMs: 2500,
      isDone: true,
      blocks: [{ type: "text", text: "reading" }, expect.objectContaining({ id: "b", state: "ok" })],
    },
  ]);
});

test("names the call of the script that made a call", () => {
  const state = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    requested("a"),
    { ...requested("a/t0"), parent: "a" } as AgentEvent,
  ]);
  expect(lastCall(state)).toMatchObject({ id: "a/t0", parent: "a" });
});

test("shows at the end the text of a provider that does not stream", () => {
  const state = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    { type: "done", text: "All of it.", finishReason: "stop", turns: 1, usage: USAGE },
  ]);
  expect(state.messages.at(-1)).toMatchObject({ blocks: [{ type: "text", text: "All of it." }] });
});

test("keeps live output and results within bounds", () => {
  const flood = "x".repeat(100_000);
  const state = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    requested("a"),
    { type: "tool_output", id: "a", name: "run_bash", chunk: `${flood}END` },
    ended("a", flood),
  ]);
  expect(lastCall(state)?.output).toHaveLength(32_768);
  expect(lastCall(state)?.output.endsWith("END")).toBe(true);
  expect(lastCall(state)?.text).toMatch(/\[67232 more characters\]$/);
});

test("ignores events with an unknown call id", () => {
  const state = reduceAll([{ type: "sent", id: "m1", content: "go" }]);
  expect(reduceAll([ended("unknown")], state)).toEqual(state);
});

test("keeps the size of the conversation and its limit, and not that of a summary", () => {
  const usage = (more: object): ChatEvent => ({ type: "usage", usage: USAGE, total: USAGE, ...more });
  expect(reduceAll([usage({ contextTokens: 100 })]).context).toEqual({ tokens: 5, limit: 100 });
  expect(reduceAll([usage({})]).context).toEqual({ tokens: 5 });
  expect(reduceAll([usage({ summary: true })]).context).toBeUndefined();
});

test("shows notices, the progress of a running call, and the view of its result", () => {
  const view = { type: "markdown", text: "drawn" } as const;
  const about = { title: "ls -a", kind: "execute" } as const;
  const before = reduceAll([
    { type: "sent", id: "m1", content: "go" },
    { type: "notice", text: "a schema was simplified" },
    { type: "tool_requested", id: "a", name: "run_bash", args: {}, title: "ls", kind: "execute" },
  ]);
  expect(before.messages.at(-1)).toMatchObject({
    blocks: [
      { type: "notice", text: "a schema was simplified" },
      { type: "call", title: "ls", kind: "execute" },
    ],
  });
  const running = reduceAll(
    [
      { type: "tool_start", id: "a", name: "run_bash", args: {}, about },
      { type: "tool_progress", id: "a", name: "run_bash", done: 1, total: 2, message: "half" },
    ],
    before,
  );
  expect(lastCall(running)).toMatchObject({
    title: "ls -a",
    progress: { done: 1, total: 2, message: "half" },
  });
  const after = reduceAll([{ ...ended("a"), view } as AgentEvent], running);
  expect(lastCall(after)).toMatchObject({ state: "ok", view });
  expect(lastCall(after)).not.toHaveProperty("progress");
});

test("shows the outcome and the view of a saved conversation", () => {
  const result = { role: "tool", tool_call_id: "a", content: "text" } as const;
  const call = { id: "a", type: "function", function: { name: "run_bash", arguments: "{}" } } as const;
  const view = { type: "markdown", text: "drawn" } as const;
  const state = chatStateOf({
    sessionContext: [
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: [call] },
      result,
    ],
    pending: undefined,
    infoOf: () => ({ id: "m1" }),
    detailsOf: (message) =>
      message === result
        ? { outcome: "error", durationMs: 3, about: { title: "ls", kind: "execute" }, view }
        : undefined,
  });
  expect(lastCall(state)).toMatchObject({
    state: "error",
    durationMs: 3,
    title: "ls",
    kind: "execute",
    view,
  });
});
